"""Calls with OVER in the select list and in QUALIFY: a node over plain columns for each of them.

A call is replaced by a column before the rest of the query is bound; expressions in PARTITION BY and ORDER BY are
computed by a projection below, together with all that the query needs besides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from caesura.catalog import Column
from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.expression import column, columns_of
from caesura.plan import Output, Plan, Project, SortKey
from caesura.sql.analytic import read_analytic
from caesura.sql.arithmetic import INT
from caesura.sql.expressions import bound, enclosed, typed
from caesura.sql.functions import ordered
from caesura.sql.names import Reach, bound_column
from caesura.sql.naming import generated
from caesura.sql.refusal import refusal
from caesura.sql.rewrite import rewrite
from caesura.sql.spans import extent, span
from caesura.sql.unsupported import refuse_expressions, refuse_extras
from caesura.sql.windows import key_of
from caesura.types import Type

RANKS: Mapping[type[exp.Expr], str] = {
    exp.RowNumber: "ROW_NUMBER",
    exp.Rank: "RANK",
    exp.DenseRank: "DENSE_RANK",
}


@dataclass(frozen=True)
class Over:
    """A call, as trees over what the SELECT reads, and the column that stands for it."""

    function: exp.Expr
    partition: tuple[exp.Expr, ...]
    order: tuple[exp.Ordered, ...]
    result: Column
    at: exp.Window

    @property
    def trees(self) -> tuple[exp.Expr, ...]:
        """All that the call is computed from."""
        return (*self.function.iter_expressions(), *self.partition, *(key.this for key in self.order))

    def mapped(self, change: Callable[[exp.Expr], exp.Expr]) -> Over:
        """The same with each of the trees replaced."""
        arguments = {id(each): change(each) for each in self.function.iter_expressions()}
        function = rewrite(self.function, lambda node: arguments.get(id(node)))
        partition = tuple(map(change, self.partition))
        order = tuple(exp.Ordered(**{**key.args, "this": change(key.this)}) for key in self.order)
        return replace(self, function=function, partition=partition, order=order)


def without_over(
    select: exp.Select, reach: Reach, names: Mapping[str, exp.Expr]
) -> tuple[exp.Select, tuple[Over, ...], dict[str, exp.Expr]]:
    """The same query with a name in the place of each call, the calls, and what these names mean. In a call may
    stand `names`, and those that the select list gives."""
    calls: dict[exp.Expr, Over] = {}
    qualify = select.args.get("qualify")
    if qualify is None and not any(each.find(exp.Window) for each in select.expressions):
        return select, (), {}
    known = _with_aliases(select, reach, names)

    def named(node: exp.Expr) -> exp.Expr | None:
        if not isinstance(node, exp.Window):
            return None
        if node not in calls:
            calls[node] = _bound(node, f"over_{len(calls) + 1}", reach, known)
        name = exp.column(_placeholder(calls[node]), quoted=True)
        name.meta["span"] = extent(node)
        return name

    plain = select.copy()
    plain.set("expressions", [rewrite(_with_name(each), named) for each in select.expressions])
    if qualify is not None:
        plain.set("qualify", rewrite(qualify, named))
        if not calls:
            refuse_expressions(qualify, reach.source)
            raise refusal(
                Code.CLAUSE,
                "QUALIFY is for queries with OVER",
                span(qualify, reach.source),
                help="WHERE, or HAVING after GROUP BY",
            )
    overs = tuple(calls.values())
    return plain, overs, {_placeholder(o): bound_column(o.result.name, o.result.type, o.at) for o in overs}


def _with_aliases(select: exp.Select, reach: Reach, names: Mapping[str, exp.Expr]) -> dict[str, exp.Expr]:
    """And what the select list calls otherwise, as far as it is computed without a call."""
    known = dict(names)
    for each in select.expressions:
        if isinstance(each, exp.Alias) and each.find(exp.Window) is None:
            known.setdefault(each.alias.lower(), enclosed(bound(each.this, reach, known)))
    return known


def _placeholder(over: Over) -> str:
    """A name that no column has."""
    return f"{over.result.name}()"


def _with_name(item: exp.Expr) -> exp.Expr:
    if isinstance(item, exp.Alias) or item.is_star or item.find(exp.Window) is None:
        return item
    alias = exp.Alias(this=item.copy(), alias=exp.to_identifier(generated(item), quoted=True))
    alias.meta["span"] = extent(item)
    return alias


def _bound(call: exp.Window, name: str, reach: Reach, names: Mapping[str, exp.Expr]) -> Over:
    if call.alias:
        message = "OVER takes its window in parentheses, and no name"
        raise refusal(
            Code.WINDOW_FUNCTION, message, span(call, reach.source), help="OVER (PARTITION BY … ORDER BY …)"
        )
    refuse_extras(call, {"this", "partition_by", "order", "spec", "over"}, reach.source)
    function, type_ = call.this, INT
    if type(function) not in RANKS:
        function, type_ = read_analytic(bound(function, reach, names), reach.source)
    over = Over(
        exp.Null(),
        tuple(call.args.get("partition_by") or ()),
        tuple(call.args["order"].expressions) if call.args.get("order") else (),
        Column(name, type_),
        call,
    )
    return replace(over.mapped(lambda tree: key_of(bound(tree, reach, names))), function=function)


@dataclass
class Columns:
    """Collects the columns that calls read, while nodes are made of them. Expressions are computed under the names
    `part_1`, `order_2`, …, which no column of an input has: those have a dot."""

    source: Source
    computed: dict[exp.Expr, Output] = field(default_factory=dict)

    def partition(self, over: Over) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.column(tree, "part") for tree in over.partition))

    def order(self, over: Over) -> tuple[SortKey, ...]:
        """The first key of each column: another one behind it decides nothing."""
        keys: dict[str, SortKey] = {}
        for each in over.order:
            descending = bool(each.args.get("desc"))
            name = self.column(each.this, "order")
            keys.setdefault(name, SortKey(name, descending, bool(each.args.get("nulls_first", not descending))))
        return tuple(keys.values())

    def column(self, tree: exp.Expr, word: str) -> str:
        tree = tree.unnest()
        if tree not in self.computed:
            expr = typed(tree, self.source)
            if not ordered(expr.type):
                raise self._unordered(tree, expr.type)
            self.computed[tree] = Output(expr.column or f"{word}_{len(self.computed) + 1}", expr)
        return self.computed[tree].name

    def below(self, plan: Plan, trees: Iterable[exp.Expr]) -> Plan:
        """The plan with these columns and those of the trees; the others would be kept with every row."""
        needed = {name for tree in trees for name in columns_of(tree)}
        own = [c for c in plan.columns if c.name in needed]
        outputs = {c.name: Output(c.name, column(c.name, c.type)) for c in own}
        outputs |= {output.name: output for output in self.computed.values()}
        if outputs.keys() == {c.name for c in plan.columns}:
            return plan
        return Project(plan, tuple(outputs.values()), plan.span)

    def _unordered(self, tree: exp.Expr, type: Type) -> CaesuraError:
        message = f"OVER takes columns that can be sorted, this is {type}"
        return refusal(Code.WRONG_TYPE, message, span(tree, self.source))
