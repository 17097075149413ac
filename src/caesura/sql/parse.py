"""Text to statements. Every statement is tried, so one call reports all that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from caesura.diagnostics import CaesuraError, Diagnostic, Source, Span
from caesura.diagnostics.code import Code
from caesura.sql.dialect import Caesura, CaesuraParser
from caesura.sql.positions import PlacedParseError
from caesura.sql.refusal import refusal

# What sqlglot's parser raises, besides its own errors, on some malformed statements it did not foresee.
_PARSER_LEAKS = (AttributeError, TypeError, ValueError, IndexError, KeyError, AssertionError)

_MARK = re.compile(r"/\*|\*/|--|\n")


@dataclass(frozen=True)
class Statement:
    tree: exp.Expression
    span: Span


def parse(source: Source) -> tuple[Statement, ...]:
    statements: list[Statement] = []
    diagnostics: list[Diagnostic] = []
    tokens = _tokenize(source)
    diagnostics += _misplaced_hints(source, tokens)
    for several in _split(tokens):
        try:
            statements.append(_parse_one(source, several))
        except CaesuraError as error:
            diagnostics.extend(error.diagnostics)
    if diagnostics:
        raise CaesuraError(*diagnostics)
    return tuple(statements)


def lines_of(span: Span) -> list[str]:
    """The text of a statement, without comments and without what only places it on a page."""
    text, words, end = span.source.text[span.start : span.end], "", 0
    for token in _tokenize(Source("", text)):
        gap = text[end : token.start]
        words += "\n" if "\n" in gap else " " if gap else ""
        words += text[token.start : token.end + 1]
        end = token.end + 1
    return words.split("\n")


def _tokenize(source: Source) -> list[Token]:
    tokenizer = Caesura().tokenizer()
    try:
        return tokenizer.tokenize(source.text)
    except TokenError as error:
        read = tokenizer.tokens[-1].end + 1 if tokenizer.tokens else 0
        start = read + len(source.text[read:]) - len(source.text[read:].lstrip())
        raise refusal(
            Code.BAD_TOKEN,
            "the text cannot be read from here on",
            Span(source, start, min(start + 1, len(source.text))),
            "a quote or comment that opens here is not closed, or the character has no meaning in SQL",
        ) from error


def _split(tokens: list[Token]) -> Iterator[list[Token]]:
    statement: list[Token] = []
    for token in tokens:
        if token.token_type != TokenType.SEMICOLON:
            statement.append(token)
        elif statement:
            yield statement
            statement = []
    if statement:
        yield statement


def _misplaced_hints(source: Source, tokens: list[Token]) -> Iterator[Diagnostic]:
    """Spark refuses them, too; sqlglot takes them for comments."""
    ends = (0, *(token.end + 1 for token in tokens))
    starts = (*(token.start for token in tokens), len(source.text))
    for start, end in zip(ends, starts, strict=True):
        for comment in _comments(source.text[start:end]):
            if comment.text.startswith("/*+"):
                place = Span(source, start + comment.start, start + comment.start + len(comment.text))
                message = "a hint stands right after SELECT, and nowhere else"
                yield from refusal(Code.SYNTAX, "the statement cannot be parsed", place, message).diagnostics


@dataclass(frozen=True)
class _Comment:
    start: int
    text: str


def _comments(gap: str) -> Iterator[_Comment]:
    """Those in brackets, which may be nested, of a text between two tokens: it has comments and nothing else."""
    depth = start = 0
    in_line = False
    for mark in _MARK.finditer(gap):
        if in_line:
            in_line = mark[0] != "\n"
        elif mark[0] == "--":
            in_line = not depth
        elif mark[0] == "/*":
            start, depth = (mark.start() if not depth else start), depth + 1
        elif mark[0] == "*/" and depth:
            depth -= 1
            if not depth:
                yield _Comment(start, gap[start : mark.end()])


def _parse_one(source: Source, tokens: list[Token]) -> Statement:
    span = Span(source, tokens[0].start, tokens[-1].end + 1)
    parser = CaesuraParser(dialect=Caesura)
    try:
        (tree,) = parser.parse(tokens, source.text)
    except PlacedParseError as fault:
        place = Span(source, fault.start, fault.end)
        raise refusal(Code.SYNTAX, "the statement cannot be parsed", place, fault.message) from fault
    except RecursionError as error:
        raise refusal(Code.TOO_DEEP, "the statement is nested too deeply", span) from error
    except _PARSER_LEAKS as error:
        stopped = parser._curr or tokens[-1]
        place = Span(source, stopped.start, stopped.end + 1)
        raise refusal(Code.SYNTAX, "the statement cannot be parsed", place, "reading stopped here") from error
    if not isinstance(tree, exp.Expression):
        raise refusal(Code.SYNTAX, "the statement cannot be parsed", span)
    return Statement(tree, span)
