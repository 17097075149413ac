"""The dialect: Spark SQL plus declarations of streams, windows in brackets and EMIT CHANGES."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar, cast

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from caesura.aggregates import NAMES
from caesura.sql import syntax
from caesura.sql.positions import PositionedParser

T = TypeVar("T")
KINDS = ("STREAM", "TABLE", "SINK", "VIEW")
VIOLATIONS = ("QUARANTINE", "FAIL")
# What takes a pattern of times. sqlglot would translate it by way of strftime, which does not have all of Spark's.
PATTERNED: dict[str, Callable[..., exp.Expr]] = {
    **{
        name: PositionedParser.FUNCTIONS[name]
        for name in ("DATE_FORMAT", "FROM_UNIXTIME", "TO_DATE", "TO_TIMESTAMP", "UNIX_TIMESTAMP")
    },
    "TO_UNIX_TIMESTAMP": lambda arguments, dialect: exp.StrToUnix.from_arg_list(arguments),
}
# sqlglot's own names for the same, whose patterns are those of strftime. Spark does not have them.
NOT_SPARK = (
    *("STR_TO_DATE", "STR_TO_TIME", "STR_TO_UNIX", "TIME_TO_STR", "UNIX_TO_STR"),
    *("TS_OR_DS_TO_DATE", "TS_OR_DS_TO_TIME"),
)
VALUES = (TokenType.STRING, TokenType.NUMBER, TokenType.TRUE, TokenType.FALSE)


def _aggregate(name: str) -> Callable[[list[exp.Expr]], exp.Expr]:
    return lambda arguments: exp.AnonymousAggFunc(this=name, expressions=arguments)


def _patterned(name: str, build: Callable[..., exp.Expr]) -> Callable[..., exp.Expr]:
    """With a pattern it is a call by name, whose arguments nobody rewrites; without one as sqlglot has it."""

    def call(arguments: list[exp.Expr], dialect: Any) -> exp.Expr:
        if len(arguments) < 2:
            return build(arguments, dialect)
        return exp.Anonymous(this=name, expressions=arguments)

    return call


def _without_aggregates(parsers: Mapping[str, T]) -> dict[str, T]:
    return {name: parser for name, parser in parsers.items() if name not in NAMES}


class CaesuraParser(PositionedParser):
    STRICT_CAST = True  # Spark 4 is ANSI: CAST fails on what it cannot read, and TRY_CAST is another function
    # Aggregates are read alike, by name: sqlglot does not know all of them, and drops arguments of some.
    FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {
        **{name: build for name, build in PositionedParser.FUNCTIONS.items() if name not in NOT_SPARK},
        **{name: _aggregate(name) for name in NAMES},
        **{name: _patterned(name, build) for name, build in PATTERNED.items()},
    }
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = _without_aggregates(PositionedParser.FUNCTION_PARSERS)
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = _without_aggregates(
        PositionedParser.NO_PAREN_FUNCTION_PARSERS
    )

    # Declarations

    def _parse_create(self) -> exp.Create | exp.Command:
        if not self._match_texts(KINDS):
            return super()._parse_create()
        # sqlglot's signature names its own nodes; statements are any expression to everybody else.
        return cast(exp.Create, self._parse_declaration(self._prev.text.upper()))

    def _parse_declaration(self, kind: str) -> syntax.Declaration:
        if self._match_text_seq("IF", "NOT", "EXISTS"):
            self.raise_error("a file declares each name once, so IF NOT EXISTS has no meaning here", self._prev)
        args: dict[str, Any] = {"this": self._parse_name(f"the name of the {kind.lower()}"), "kind": kind}
        if kind in ("STREAM", "TABLE") and self._match(TokenType.L_PAREN):
            elements = [node for nodes in self._parse_csv(self._parse_element) for node in nodes]
            self._expect(TokenType.R_PAREN, "`,` or `)`")
            args["columns"] = [node for node in elements if isinstance(node, exp.ColumnDef)]
            args["constraints"] = [node for node in elements if isinstance(node, syntax.Constraint)]
        if kind != "VIEW":
            self._parse_origin(args)
        if kind in ("STREAM", "VIEW") and self._match(TokenType.ALIAS):
            args["expression"] = self._parse_ddl_select() or self.raise_error("expected SELECT")
        return self.expression(syntax.Declaration(**args))

    def _parse_element(self) -> list[exp.Expression]:
        first = self._curr
        nodes = self._parse_constraint_line() or self._parse_column_line()
        for node in nodes:
            node.meta.setdefault("span", (first.start, self._prev.end + 1))
        return nodes

    def _parse_constraint_line(self) -> list[exp.Expression]:
        node: syntax.Constraint
        if self._match_text_seq("PUNCTUATED", "BY"):
            node = syntax.PunctuatedByConstraint(expressions=self._parse_names())
        elif self._match_text_seq("CLUSTERED", "BY"):
            node = syntax.ClusteredByConstraint(expressions=self._parse_names())
        elif self._match_text_seq("UNIQUE", "(", advance=False):
            self._advance()
            node = syntax.UniqueConstraint(expressions=self._parse_names())
        elif self._match_text_seq("ORDERED", "BY"):
            self._expect(TokenType.L_PAREN, "`(`")
            name = self._parse_name("a column")
            slack = self._parse_length() if self._match_text_seq("WITHIN") else None
            idle = self._parse_length() if self._match_text_seq("IDLE", "AFTER") else None
            self._expect(TokenType.R_PAREN, "`)`: ORDERED BY takes one column, and WITHIN before IDLE AFTER")
            node = syntax.OrderedByConstraint(expressions=[name], slack=slack, idle=idle)
        elif self._match_text_seq("CLOSED", "BY"):
            names = self._parse_names()
            self._expect(TokenType.WHEN, "WHEN and a condition")
            node = syntax.ClosedByConstraint(expressions=names, condition=self._parse_predicate())
        elif self._match_text_seq("COMPLETE", "BY"):
            names = self._parse_names()
            if not self._match_text_seq("PER"):
                self.raise_error("expected PER and the columns that name the parts")
            per = self._parse_names()
            self._expect(TokenType.IN, "IN and the table that lists the parts")
            table = self._parse_name("the name of a table")
            node = syntax.CompleteByConstraint(expressions=names, per=per, table=table)
        elif self._match_text_seq("CHECK", "(", advance=False):
            self._advance()
            return [self._parse_domain()]
        elif self._match(TokenType.PRIMARY_KEY, advance=False):
            self.raise_error("expected UNIQUE (…), which is what a stream can promise")
        else:
            return []
        if self._match_text_seq("LIFESPAN"):
            node.set("lifespan", self._parse_length())
        return [node]

    def _parse_domain(self) -> syntax.DomainConstraint:
        self._expect(TokenType.L_PAREN, "`(`")
        condition = self._parse_predicate()
        self._expect(TokenType.R_PAREN, "`)`")
        return syntax.DomainConstraint(condition=condition)

    def _parse_column_line(self) -> list[exp.Expression]:
        name = self._parse_name("a column or a constraint")
        kind = self._parse_types(schema=True) or self._parse_unknown_type()
        column = exp.ColumnDef(this=name, kind=kind)
        column.meta["span"] = (name.meta["start"], self._prev.end + 1)
        nodes: list[exp.Expression] = [column]
        while True:
            first = self._curr
            if self._match_pair(TokenType.NOT, TokenType.NULL):
                present = exp.Not(this=exp.Is(this=exp.Column(this=name.copy()), expression=exp.Null()))
                nodes.append(syntax.DomainConstraint(condition=present))
            elif self._match_text_seq("UNIQUE"):
                nodes.append(syntax.UniqueConstraint(expressions=[name.copy()]))
            elif self._match_text_seq("CHECK"):
                nodes.append(self._parse_domain())
            elif self._match(TokenType.COMMENT):
                self._expect(TokenType.STRING, "a text")
                continue
            else:
                return nodes
            nodes[-1].meta["span"] = (first.start, self._prev.end + 1)

    def _parse_unknown_type(self) -> exp.DataType:
        """A word in the place of a type, for the binder to refuse by name."""
        token = self._curr
        if not self._match(TokenType.VAR):
            self.raise_error("expected the type of the column")
        return exp.DataType(this=exp.DType.UNKNOWN).update_positions(token)

    def _parse_origin(self, args: dict[str, Any]) -> None:
        while True:
            clause = self._curr
            key: str
            value: exp.Expression | list[syntax.OptionPair]
            if self._match(TokenType.USING):
                key, value = "using", self._parse_dotted()
            elif self._match_text_seq("LOCATION"):
                key, value = "location", self._parse_locations()
            elif self._match_text_seq("OPTIONS"):
                self._expect(TokenType.L_PAREN, "`(`")
                key, value = "options", self._parse_csv(self._parse_option)
                self._expect(TokenType.R_PAREN, "`,` or `)`")
            elif self._match_text_seq("ON", "VIOLATION"):
                key, value = "on_violation", self._parse_violation(clause)
            else:
                return
            if key in args:
                self.raise_error(f"{key.upper().replace('_', ' ')} is given twice", clause)
            args[key] = value

    def _parse_locations(self) -> exp.Expression:
        """One place, or several of which each punctuates for itself."""
        if not self._match(TokenType.L_PAREN):
            return self._parse_text()
        places = exp.Tuple(expressions=self._parse_csv(self._parse_text))
        self._expect(TokenType.R_PAREN, "`,` or `)`")
        return places

    def _parse_violation(self, first: Token) -> syntax.OnViolation:
        if not self._match_texts(VIOLATIONS):
            self.raise_error(f"expected {' or '.join(VIOLATIONS)}")
        node = syntax.OnViolation(this=self._prev.text.upper())
        node.meta["span"] = (first.start, self._prev.end + 1)
        return node

    def _parse_option(self) -> syntax.OptionPair:
        first = self._curr
        key = self._parse_text() if self._match(TokenType.STRING, advance=False) else self._parse_key()
        self._match(TokenType.EQ)
        token = self._curr
        negative = self._match(TokenType.DASH)
        if not self._match_set((TokenType.NUMBER, TokenType.TRUE, TokenType.FALSE) if negative else VALUES):
            self.raise_error("expected the value of the option: a text, a number, true or false")
        text = f"-{self._prev.text}" if negative else self._prev.text
        value = exp.Literal(this=text, is_string=True).update_positions(token)
        pair = syntax.OptionPair(this=key, value=value)
        pair.meta["span"] = (first.start, self._prev.end + 1)
        return pair

    def _parse_key(self) -> exp.Literal:
        if self._match(TokenType.DISTINCT):  # a keyword, and an option of Caesura
            return exp.Literal.string(self._prev.text).update_positions(self._prev)
        return self._parse_dotted()

    def _parse_dotted(self) -> exp.Literal:
        """A name with dots, such as a class name, as one text."""
        first = self._curr
        parts = [self._parse_name("a name").name]
        while self._match(TokenType.DOT):
            parts.append(self._parse_name("a name").name)
        literal = exp.Literal.string(".".join(parts))
        literal.meta["span"] = (first.start, self._prev.end + 1)
        return literal

    def _parse_text(self) -> exp.Literal:
        self._expect(TokenType.STRING, "a text in quotes")
        return exp.Literal.string(self._prev.text).update_positions(self._prev)

    # Small pieces

    def _expect(self, token_type: TokenType, what: str) -> None:
        if not self._match(token_type):
            self.raise_error(f"expected {what}")

    def _parse_name(self, what: str) -> exp.Identifier:
        token = self._curr
        if not (self._match(TokenType.IDENTIFIER) or self._match_set(self.ID_VAR_TOKENS)):
            self.raise_error(f"expected {what}")
        quoted = token.token_type == TokenType.IDENTIFIER
        return exp.Identifier(this=token.text, quoted=quoted).update_positions(token)

    def _parse_names(self) -> list[exp.Identifier]:
        self._expect(TokenType.L_PAREN, "`(`")
        names = self._parse_csv(lambda: self._parse_name("a column"))
        self._expect(TokenType.R_PAREN, "`,` or `)`")
        return names

    def _parse_predicate(self) -> exp.Expr:
        return self._parse_disjunction() or self.raise_error("expected a condition")

    def _parse_length(self) -> exp.Expr:
        return self._parse_interval() or self.raise_error("expected an interval, such as INTERVAL 5 SECONDS")

    # Queries

    def _parse_hint(self) -> exp.Hint | None:
        """sqlglot reads a hint as a text of its own, so that places in it are not places in this text."""
        token = self._curr
        try:
            hint = super()._parse_hint()
        except TokenError:
            self.raise_error("this hint cannot be read", token)
        if hint is not None:
            hint.meta["span"] = (token.start, token.end + 1)
        return hint

    def _parse_table_parts(
        self,
        schema: bool = False,
        is_db_reference: bool = False,
        wildcard: bool = False,
        fast: bool = False,
    ) -> exp.Table | exp.Dot | None:
        table = super()._parse_table_parts(schema, is_db_reference, wildcard, fast)
        # The fast path gives up before a bracket, so a window always comes here on the slow one.
        if fast or schema or not isinstance(table, exp.Table) or not self._match(TokenType.L_BRACKET):
            return table
        if not self._match_text_seq("RANGE"):
            self.raise_error("expected RANGE and an interval, such as [RANGE INTERVAL 12 HOURS]")
        window = self._parse_length()
        self._expect(TokenType.R_BRACKET, "`]`")
        return self.expression(syntax.WindowedTable(**table.args, window=window))

    def _parse_table_alias(self, alias_tokens: Any = None) -> exp.TableAlias | None:
        if self._match_text_seq("EMIT", "CHANGES", advance=False) or self._names_window():
            return None
        return super()._parse_table_alias(alias_tokens)

    def _names_window(self) -> bool:
        """Whether `WINDOW name AS (` follows: the tokenizer knows no such keyword."""
        ahead = self._tokens[self._index : self._index + 4]
        behind = [token.token_type for token in ahead[2:]]
        return behind == [TokenType.ALIAS, TokenType.L_PAREN] and ahead[0].text.upper() == "WINDOW"

    def _parse_query_modifiers(self, this: Any) -> Any:
        query = super()._parse_query_modifiers(this)
        if isinstance(query, exp.Query) and self._names_window():
            first = self._curr
            self._advance()
            windows = self._parse_csv(self._parse_named_window)
            windows[0].meta["span"] = (first.start, self._prev.end + 1)
            query.set("windows", windows)
            query = super()._parse_query_modifiers(query)
        first = self._curr
        if isinstance(query, exp.Query) and self._match_text_seq("EMIT", "CHANGES"):
            emit = syntax.EmitChanges()
            emit.meta["span"] = (first.start, self._prev.end + 1)
            query.set("emit", emit)
        return query


class Caesura(Spark):
    """Found by sqlglot under the name `caesura`."""

    class Tokenizer(Spark.Tokenizer):
        # Without the keyword, window(…) is a function in GROUP BY too. Named windows are refused anyway.
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            word: token for word, token in Spark.Tokenizer.KEYWORDS.items() if word != "WINDOW"
        }
        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']  # Spark 4 reads 'it''s' as one text

    Parser = CaesuraParser
