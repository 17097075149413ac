"""A parser whose nodes and errors know their place in the text.

Each node that a parser method returns remembers the characters it was read from, under `meta["span"]`:
recursive descent makes that exact, because a method that returns a node has consumed that node's tokens and
no others. Only methods that take no left operand are wrapped; `caesura.sql.spans` fills in the nodes between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

P = ParamSpec("P")
N = TypeVar("N")
E = TypeVar("E", bound=exp.Expr)


class PlacedParseError(ParseError):
    """A parse error that knows its characters: `start` included, `end` excluded."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end


def _spanned(
    method: Callable[Concatenate[SparkParser, P], N],
) -> Callable[Concatenate[SparkParser, P], N]:
    def parse(self: SparkParser, /, *args: P.args, **kwargs: P.kwargs) -> N:
        first, index = self._curr, self._index
        node = method(self, *args, **kwargs)
        if isinstance(node, exp.Expression) and self._index > index:
            node.meta["span"] = (first.start, self._prev.end + 1)
        return node

    return parse


class PositionedParser(SparkParser):
    _parse_statement = _spanned(SparkParser._parse_statement)
    _parse_expression = _spanned(SparkParser._parse_expression)
    _parse_disjunction = _spanned(SparkParser._parse_disjunction)
    _parse_conjunction = _spanned(SparkParser._parse_conjunction)
    _parse_equality = _spanned(SparkParser._parse_equality)
    _parse_bitwise = _spanned(SparkParser._parse_bitwise)
    _parse_term = _spanned(SparkParser._parse_term)
    _parse_unary = _spanned(SparkParser._parse_unary)
    _parse_column = _spanned(SparkParser._parse_column)
    _parse_primary = _spanned(SparkParser._parse_primary)
    _parse_function = _spanned(SparkParser._parse_function)
    _parse_types = _spanned(SparkParser._parse_types)
    _parse_table = _spanned(SparkParser._parse_table)
    _parse_interval = _spanned(SparkParser._parse_interval)
    _parse_join = _spanned(SparkParser._parse_join)
    _parse_select = _spanned(SparkParser._parse_select)
    _parse_where = _spanned(SparkParser._parse_where)
    _parse_group = _spanned(SparkParser._parse_group)
    _parse_having = _spanned(SparkParser._parse_having)
    _parse_order = _spanned(SparkParser._parse_order)
    _parse_limit = _spanned(SparkParser._parse_limit)

    def raise_error(self, message: str, token: Token | None = None) -> NoReturn:
        token = token or self._curr
        if token:
            raise PlacedParseError(_reworded(message), token.start, token.end + 1)
        end = self._prev.end + 1 if self._prev else 0
        raise PlacedParseError(_reworded(message), end, end)

    def validate_expression(self, expression: E, args: list[Any] | None = None) -> E:
        if expression.error_messages(args):
            many = args is not None and len(args) > len(expression.arg_types)
            self.raise_error("too many arguments" if many else "something is missing here")
        return expression

    def expression(self, instance: E, token: Token | None = None, comments: list[str] | None = None) -> E:
        if isinstance(instance, exp.Distinct) and not instance.expressions:
            instance.update_positions(self._prev)  # the DISTINCT of SELECT DISTINCT has no child with a place
        return super().expression(instance, token, comments)

    def _parse_csv(self, parse_method: Callable[[], N | None], sep: TokenType = TokenType.COMMA) -> list[N]:
        items = super()._parse_csv(parse_method, sep)
        if self._prev.token_type == sep:
            self.raise_error("something is missing after the comma")  # sqlglot lets a trailing comma pass
        return items

    def _warn_unsupported(self) -> None:
        """sqlglot logs that it gave up on a statement; the binder refuses the statement instead."""


def _reworded(message: str) -> str:
    """sqlglot's own messages in the words of the others: lower case, no tokens of the parser."""
    if message == "Invalid expression / Unexpected token":
        return "this was not expected here"
    expected = message.removeprefix("Expecting ").removeprefix("Expected ")
    if expected != message:
        what = expected.split(" but got ")[0]
        return f"expected {what}" if what[0].isalpha() else f"expected `{what}`"
    return message if message[:2].isupper() else message[:1].lower() + message[1:]
