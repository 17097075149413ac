"""FROM: names, subqueries and joins to inputs, with the conditions that ON and USING put on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeAlias

from sqlglot import exp

from caesura.catalog import Relation
from caesura.diagnostics import CaesuraError, Source, Span
from caesura.diagnostics.code import Code
from caesura.expression import Expr, column
from caesura.plan import JoinKind, Output, Plan, Project, Scan
from caesura.sql.expressions import condition, conjuncts, scalar
from caesura.sql.intervals import interval
from caesura.sql.joins import assemble, join_of
from caesura.sql.names import Input, Named, Reach, check_aliases, check_count
from caesura.sql.refusal import listing, nearest, refusal
from caesura.sql.sliding import limits, padded, timed
from caesura.sql.spans import span
from caesura.sql.syntax import WindowedTable
from caesura.sql.unsupported import refuse_extras
from caesura.sql.values import bind_values


@dataclass(frozen=True)
class Derived:
    """A name for a query: a view, a derived stream or a common table expression."""

    name: str
    plan: Plan


@dataclass(frozen=True)
class Broken:
    """A name whose declaration was refused already: what reads it is refused without another word."""

    name: str


Meaning: TypeAlias = Relation | Derived | Broken


@dataclass(frozen=True)
class Scope:
    """What names in FROM mean, by their lower-case spelling; `later` are those declared further down.

    `around` is what the query around a subquery reaches.
    """

    source: Source
    meanings: Mapping[str, Meaning]
    later: Mapping[str, Span] = field(default_factory=dict)
    around: Reach | None = None

    def having(self, meaning: Meaning) -> Scope:
        return replace(self, meanings={**self.meanings, meaning.name.lower(): meaning})


_KINDS: dict[tuple[str, ...], JoinKind] = {
    (): "inner",
    ("LEFT",): "left",
    ("RIGHT",): "right",
    ("FULL",): "full",
    ("SEMI",): "semi",
    ("LEFT", "SEMI"): "semi",
    ("ANTI",): "anti",
    ("LEFT", "ANTI"): "anti",
}
Queries: TypeAlias = Callable[[exp.Expr, Scope], Plan]  # binds a subquery


@dataclass(frozen=True)
class Joined:
    """Plans still to be joined, all that was said about their rows, and the names that see them."""

    reach: Reach
    plans: tuple[Plan, ...]
    conditions: tuple[Expr, ...] = ()

    def assembled(self, at: Span | None) -> Plan:
        return assemble(self.plans, self.conditions, at)


def bind_from(
    item: exp.Expr, joins: list[exp.Join], scope: Scope, queries: Queries, before: tuple[Input, ...] = ()
) -> Joined:
    """`before` are other inputs of the same plan: those that FROM has before, or those of the query around."""
    left = _bind_item(item, scope, queries, before)
    for join in joins:
        left = _bind_join(left, join, scope, queries, before)
    return left


def _bind_join(left: Joined, join: exp.Join, scope: Scope, queries: Queries, before: tuple[Input, ...]) -> Joined:
    kind = _kind(join, scope.source)
    right = _bind_item(join.this, scope, queries, (*before, *left.reach.inputs))
    inputs = (*left.reach.inputs, *right.reach.inputs)
    check_aliases(inputs)
    reach = Reach(scope.source, inputs, (*left.reach.visible, *right.reach.visible), scope.around)
    on = join.args.get("on")
    conditions: tuple[Expr, ...] = ()
    if join.args.get("using"):
        conditions, reach = _using(join, left.reach, right.reach, reach, kind)
    elif on is not None:
        parts = conjuncts(scalar(on, reach, "ON"))
        conditions = tuple(condition(part, scope.source, "the condition of ON") for part in parts)
    windows = limits(left.reach.inputs, right.reach.inputs, scope.source)
    conditions = (*conditions, *windows)
    if kind == "inner":
        both = (*left.plans, *right.plans)
        return Joined(reach, both, (*left.conditions, *right.conditions, *conditions))
    at = span(join, scope.source)
    sides = (left.assembled(_hull(left.plans) or at), right.assembled(_hull(right.plans) or at))
    joined = join_of(kind, sides, conditions, at)
    if joined.halved:
        return Joined(left.reach, (joined,))
    seen = (
        padded(side.reach.inputs) if i in joined.padded else side.reach.inputs
        for i, side in enumerate((left, right))
    )
    return Joined(replace(reach, inputs=tuple(one for inputs in seen for one in inputs)), (joined,))


def _hull(plans: tuple[Plan, ...]) -> Span | None:
    spans = [plan.span for plan in plans if plan.span is not None]
    return spans[0].to(spans[-1]) if spans else None


def _kind(join: exp.Join, source: Source) -> JoinKind:
    words = [word for word in (join.method, join.side, join.kind) if word]
    kind = _KINDS.get(tuple(word for word in words if word not in ("INNER", "CROSS", "OUTER")))
    if kind is None:
        raise refusal(
            Code.JOIN_KIND,
            f"{' '.join(words)} JOIN is not supported",
            span(join, source),
            help="name the columns: JOIN … USING (…)" if join.method == "NATURAL" else None,
        )
    refuse_extras(join, {"this", "on", "using", "kind", "side", "method"}, source)
    return kind


def _using(
    join: exp.Join, left: Reach, right: Reach, reach: Reach, kind: JoinKind
) -> tuple[tuple[Expr, ...], Reach]:
    """Each name is one column from then on, first among the visible: that of the side whose rows all come out."""
    source = reach.source
    if kind == "full":
        raise refusal(
            Code.JOIN_KIND,
            "FULL JOIN … USING is not supported",
            span(join, source),
            because="the shared column would come from either side",
            help="write ON, and coalesce(…) where the column is selected",
        )
    conditions: list[Expr] = []
    shared: list[Named] = []
    merged: set[str] = set()
    for name in join.args["using"]:
        ours, theirs = (scalar(exp.Column(this=name.copy()), one, "USING") for one in (left, right))
        equal = exp.EQ(this=ours, expression=theirs)
        conditions.append(condition(equal, source, "USING"))
        merged |= {ours.name, theirs.name}
        side, kept = (right, theirs) if kind == "right" else (left, ours)
        shared.append(next(one for one in side.visible if one.column.name == kept.name))
    rest = tuple(one for one in reach.visible if one.column.name not in merged)
    return tuple(conditions), replace(reach, visible=(*shared, *rest))


def _bind_item(item: exp.Expr, scope: Scope, queries: Queries, before: tuple[Input, ...]) -> Joined:
    nested: list[exp.Join] = item.args.get("joins") or []
    if nested:
        alone = item.copy()
        alone.set("joins", None)
        return bind_from(alone, nested, scope, queries, before)
    match item:
        case exp.Table():
            return _single(_named(item, scope), scope, before)
        case exp.Values():
            alias = item.alias or f"values_{len(before) + 1}"
            return _single(bind_values(item, alias, scope.source), scope, before)
        case exp.Subquery(this=exp.Query() | exp.Values() as query):
            refuse_extras(item, {"this", "alias"}, scope.source)
            alias = item.alias or f"subquery_{len(before) + 1}"
            return _single(_derived(queries(query, scope), item, alias, scope), scope, before)
        case exp.Subquery(this=exp.Table() | exp.Subquery() as inner) if not item.alias:
            refuse_extras(item, {"this"}, scope.source)
            return _bind_item(inner, scope, queries, before)
        case _:
            raise refusal(
                Code.TABLE_FUNCTION, "this version does not execute this FROM item", span(item, scope.source)
            )


def _single(one: Input, scope: Scope, before: tuple[Input, ...]) -> Joined:
    one = _apart(one, before)
    return Joined(Reach(scope.source, (one,), one.columns, scope.around), (one.plan,))


def _apart(one: Input, others: tuple[Input, ...]) -> Input:
    """The input with columns that the plan does not call like those of others.

    They would be where a subquery repeats an alias of the query around it, and where aliases have dots.
    """
    taken = {named.column.name.lower() for other in others for named in other.columns}
    if not any(named.column.name.lower() in taken for named in one.columns):
        return one
    labels = (f"{one.alias}_{n}" for n in count(2))
    free = (label for label in labels if not any(f"{label}.{c.name}".lower() in taken for c in one.columns))
    names = [named.name for named in one.columns]
    if not isinstance(one.plan, Scan):
        return _labelled(one, next(free), names)
    scan = replace(one.plan, alias=next(free))
    return replace(one, plan=scan, columns=tuple(map(Named, names, scan.columns)))


def _labelled(one: Input, label: str, names: list[str]) -> Input:
    """The columns under other names, which the plan writes after the label."""
    outputs = tuple(
        Output(f"{label}.{name}", column(c.column.name, c.column.type))
        for name, c in zip(names, one.columns, strict=True)
    )
    project = Project(one.plan, outputs, one.plan.span)
    return replace(one, plan=project, columns=tuple(map(Named, names, project.columns)))


def _named(item: exp.Table, scope: Scope) -> Input:
    refuse_extras(item, {"this", "alias", "window", "db", "catalog"}, scope.source)
    if not isinstance(item.this, exp.Identifier):
        raise refusal(
            Code.TABLE_FUNCTION, "this version does not execute table functions", span(item, scope.source)
        )
    meaning = scope.meanings.get(item.name.lower()) if not item.db else None
    match meaning:
        case None:
            raise _unknown(item, scope)
        case Broken():
            raise CaesuraError
        case Derived():
            return _derived(meaning.plan, item, item.alias or meaning.name, scope)
        case _:
            alias = item.alias or meaning.name
            window = interval(item.args["window"], scope.source) if isinstance(item, WindowedTable) else None
            scan = Scan(meaning, alias, window, span(item, scope.source))
            named = (Named(c.name, p) for c, p in zip(meaning.columns, scan.columns, strict=True))
            return _renamed(timed(Input(alias, scan, tuple(named)), item, scope.source), item, scope.source)


def _derived(plan: Plan, item: exp.Expr, alias: str, scope: Scope) -> Input:
    """The query's columns under the alias."""
    at = span(item, scope.source)
    outputs = tuple(Output(f"{alias}.{c.name}", column(c.name, c.type)) for c in plan.columns)
    project = Project(plan, outputs, at)
    named = (Named(c.name, p) for c, p in zip(plan.columns, project.columns, strict=True))
    return _renamed(timed(Input(alias, project, tuple(named)), item, scope.source), item, scope.source)


def _renamed(one: Input, item: exp.Expr, source: Source) -> Input:
    """`AS alias (a, b)` gives the columns new names."""
    names = item.alias_column_names
    if not names:
        return one
    check_count(one.alias, names, [c.name for c in one.columns], span(item.args["alias"], source))
    return _labelled(one, one.alias, names)


def _unknown(item: exp.Table, scope: Scope) -> CaesuraError:
    if item.db:
        return refusal(
            Code.UNKNOWN_RELATION,
            "a stream, table or view has a name of one part",
            span(item, scope.source),
            because="a pipeline declares what it reads; it does not look into Spark's catalogs",
        )
    later = scope.later.get(item.name.lower())
    close = nearest(item.name, (meaning.name for meaning in scope.meanings.values()))
    if later is not None:
        return refusal(
            Code.UNKNOWN_RELATION,
            f"`{item.name}` is declared further down",
            span(item.this, scope.source),
            help=f"move the declaration of line {later.line} up",
        )
    known = listing(meaning.name for meaning in scope.meanings.values())
    return refusal(
        Code.UNKNOWN_RELATION,
        f"unknown stream, table or view `{item.name}`",
        span(item.this, scope.source),
        because=f"declared are {known}" if known else "nothing is declared",
        help=f"did you mean `{close}`?" if close else None,
    )
