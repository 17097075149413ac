"""What the names in an expression mean: the inputs in reach, and the resolution of columns against them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from caesura.catalog import Column, Interval
from caesura.diagnostics import CaesuraError, Label, Source, Span
from caesura.diagnostics.code import Code
from caesura.plan import Plan
from caesura.sql.refusal import listing, nearest, refusal
from caesura.sql.rewrite import rewrite
from caesura.sql.spans import extent, span
from caesura.types import Type


@dataclass(frozen=True)
class Named:
    """A column in reach: `name` is the user's, `column` the plan's."""

    name: str
    column: Column


@dataclass(frozen=True)
class Clock:
    """A column, by its index, that holds the time of an input's rows, and the window over it if there is one.

    `padded`: an outer join puts NULL there where the input has no row.
    """

    index: int
    window: Interval | None
    padded: bool = False


@dataclass(frozen=True)
class Input:
    """One FROM item."""

    alias: str
    plan: Plan
    columns: tuple[Named, ...]
    clocks: tuple[Clock, ...] = ()


@dataclass(frozen=True)
class Reach:
    """The inputs an expression may name. `visible` is what `*` and unqualified names see, `outer` what only names
    see: columns of the query around a subquery.

    `around` is what that query reaches: where it is out of reach, naming it is worth a word of its own.
    """

    source: Source
    inputs: tuple[Input, ...]
    visible: tuple[Named, ...]
    around: Reach | None = None
    outer: tuple[Named, ...] = ()

    def input(self, alias: str) -> Input | None:
        return next((one for one in self.inputs if one.alias.lower() == alias.lower()), None)

    def column(self, name: str) -> Named | None:
        return next((one for one in self.named if one.name.lower() == name.lower()), None)

    @property
    def named(self) -> tuple[Named, ...]:
        """What unqualified names see."""
        return self.visible + self.outer

    def qualified(self, named: Named) -> str:
        """A column as the user may write it, with its input's alias; the plan's name if that alias is hidden."""
        written = (f"{one.alias}.{named.name}" for one in self.inputs if named in one.columns)
        return next(written, named.column.name)

    @property
    def columns(self) -> frozenset[str]:
        """The plan's names of all columns."""
        return frozenset(named.column.name for one in self.inputs for named in one.columns)

    def within(self, outer: Reach) -> Reach:
        """The same inside a query that reaches `outer`: what is in reach here hides what has its name there."""
        inputs = (one for one in outer.inputs if not self._hides(one.alias))
        names = tuple(one for one in outer.visible if self.column(one.name) is None)
        return Reach(self.source, (*self.inputs, *inputs), self.visible, outer.around, names)

    def _hides(self, alias: str) -> bool:
        struct = self.column(alias)
        return self.input(alias) is not None or (struct is not None and struct.column.type.kind == "STRUCT")


def bound_column(name: str, type: Type, at: exp.Expr) -> exp.Column:
    """A reference to a plan column, in the place of the syntax node `at`."""
    node = exp.column(name, quoted=True)
    node.meta["type"] = type
    where = extent(at)
    if where is not None:
        node.meta["span"] = where
    return node


def resolve(tree: exp.Expr, reach: Reach, aliases: Mapping[str, exp.Expr] | None = None) -> exp.Expr:
    """A copy in which columns are plan columns. `aliases` are tried for names that no input has."""
    return rewrite(
        tree, lambda node: _meaning(node, reach, aliases or {}) if isinstance(node, exp.Column) else None
    )


def _meaning(node: exp.Column, reach: Reach, aliases: Mapping[str, exp.Expr]) -> exp.Expr:
    if isinstance(node.this, exp.Star):
        raise refusal(Code.EXPRESSION, "`*` stands for columns, not for a value", span(node, reach.source))
    first, *rest = [part.name for part in node.parts]
    owner = reach.input(first) if rest else None
    if owner is not None:
        found = _among(rest.pop(0), owner.columns, node, reach)
    elif reach.column(first) is None and first.lower() in aliases:
        return _fields(aliases[first.lower()].copy(), rest)
    elif reach.column(first) is None and _known_around(first, bool(rest), reach):
        raise _out_of_reach(node, reach)
    elif rest and reach.column(first) is None:
        raise _unknown_qualifier(first, node, reach)
    else:
        found = _among(first, reach.named, node, reach)
    return _fields(bound_column(found.column.name, found.column.type, node), rest)


def _fields(value: exp.Expr, names: list[str]) -> exp.Expr:
    """A field of a value, of that another one, …; of a struct that is put together here, what it was given."""
    for name in names:
        given = (each for each in value.expressions if each.name.lower() == name.lower())
        part = next(given, None) if isinstance(value, exp.Struct) else None
        value = (
            part.expression
            if part is not None
            else exp.Dot(this=value, expression=exp.to_identifier(name, quoted=True))
        )
    return value


def _among(name: str, columns: tuple[Named, ...], node: exp.Column, reach: Reach) -> Named:
    found = [one for one in columns if one.name.lower() == name.lower()]
    if len(found) == 1:
        return found[0]
    at = span(node, reach.source)
    if found:
        raise refusal(
            Code.AMBIGUOUS_COLUMN,
            f"the column `{name}` is ambiguous",
            at,
            f"{listing(map(reach.qualified, found))}: all could be meant",
            help=f"say which: `{reach.qualified(found[0])}`",
        )
    close = nearest(name, (one.name for one in columns))
    raise refusal(
        Code.UNKNOWN_COLUMN,
        f"unknown column `{name}`",
        at,
        because=f"the columns here are {listing(one.name for one in columns)}",
        help=f"did you mean `{close}`?" if close else None,
    )


def _unknown_qualifier(name: str, node: exp.Column, reach: Reach) -> CaesuraError:
    known = [one.alias for one in reach.inputs]
    close = nearest(name, known)
    return refusal(
        Code.UNKNOWN_COLUMN,
        f"`{name}` names no input of this query",
        span(node, reach.source),
        because=f"FROM has {listing(known)}",
        help=f"did you mean `{close}`?" if close else None,
    )


def _known_around(first: str, qualified: bool, reach: Reach) -> bool:
    """Whether a name that starts so would mean something in a query around this one."""
    outer = reach.around
    if outer is None:
        return False
    found = outer.column(first) is not None or (qualified and outer.input(first) is not None)
    return found or _known_around(first, qualified, outer)


def _out_of_reach(node: exp.Column, reach: Reach) -> CaesuraError:
    name = ".".join(part.name for part in node.parts)
    return refusal(
        Code.SUBQUERY,
        f"`{name}` is a column of a query around this one",
        span(node, reach.source),
        because="only the WHERE of a SELECT right inside EXISTS or IN may name it, and none with GROUP BY",
        help="put the condition there, or join in FROM",
    )


def check_aliases(inputs: tuple[Input, ...]) -> None:
    seen: dict[str, Input] = {}
    for one in inputs:
        if one.alias.lower() in seen:
            raise refusal(
                Code.DUPLICATE_ALIAS,
                f"two inputs are called `{one.alias}`",
                one.plan.span,
                also=[Label(first, "the first") for first in (seen[one.alias.lower()].plan.span,) if first],
                help=f"give one of them another name: {one.alias} AS …",
            )
        seen[one.alias.lower()] = one


def check_count(alias: str, names: list[str], columns: list[str], at: Span | None) -> None:
    """As many names as columns, all different."""
    if len(names) != len(columns):
        raise refusal(
            Code.ALIAS_COUNT,
            f"`{alias}` has {len(columns)} columns, not {len(names)}",
            at,
            because=f"the columns are {listing(columns)}",
        )
    if len({name.lower() for name in names}) < len(names):
        raise refusal(Code.DUPLICATE_OUTPUT, f"two columns of `{alias}` have the same name", at)
