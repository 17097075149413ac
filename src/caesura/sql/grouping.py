"""GROUP BY, aggregates and HAVING: a projection, a group over plain columns, a filter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from caesura.catalog import Column
from caesura.diagnostics import Source, Span
from caesura.diagnostics.code import Code
from caesura.plan import Aggregate, AggregateFunction, Group, Output, Plan, Project
from caesura.sql.expressions import refuse_aggregates, typed
from caesura.sql.functions import spelling
from caesura.sql.inference import infer
from caesura.sql.names import bound_column
from caesura.sql.refusal import refusal
from caesura.sql.rewrite import rewrite
from caesura.sql.spans import span

_FUNCTIONS: dict[type[exp.Expr], AggregateFunction] = {
    exp.Sum: "SUM",
    exp.Count: "COUNT",
    exp.Min: "MIN",
    exp.Max: "MAX",
    exp.Avg: "AVG",
}
_ROWS = exp.Count(this=exp.Star())


@dataclass
class Grouping:
    """Collects what the group has to compute while the select list is rewritten over its result.

    Expressions are computed below the group under the names `key_1`, `argument_1`, …; results are called
    `max_1`, `sum_2`, …. None of these can be a column of an input: those have a dot.
    """

    source: Source
    keys: dict[exp.Expr, Column] = field(default_factory=dict)
    below: dict[str, Output] = field(default_factory=dict)
    aggregates: dict[exp.Expr, Aggregate] = field(default_factory=dict)

    def key(self, tree: exp.Expr) -> None:
        tree = tree.unnest()
        refuse_aggregates(tree, self.source, "GROUP BY")
        if tree not in self.keys:
            self.keys[tree] = self._computed(tree, f"key_{len(self.keys) + 1}")

    def over(self, tree: exp.Expr) -> exp.Expr:
        """The expression over the columns of the group."""
        return rewrite(tree, self._column)

    def plan(self, input: Plan, emit: Literal["final", "changes"], at: Span | None) -> Plan:
        below = tuple(self.below.values())
        # A projection without columns would lose the rows of COUNT(*) over everything.
        projected = Project(input, below, at) if below else input
        keys = tuple(key.name for key in self.keys.values())
        return Group(projected, keys, tuple(self.aggregates.values()), emit, at)

    def _column(self, node: exp.Expr) -> exp.Expr | None:
        """The column of the group that stands for the node, if one does."""
        key = self.keys.get(node)
        if key is not None:
            return bound_column(key.name, key.type, node)
        if isinstance(node, exp.AggFunc):
            result = self._aggregate(node)
            return bound_column(result.name, result.type, node)
        if isinstance(node, exp.Column):
            raise refusal(
                Code.NOT_GROUPED,
                f"`{node.name}` is neither grouped nor aggregated",
                span(node, self.source),
                "a group has many values of it",
                help=f"add it to GROUP BY, or take MAX(`{node.name}`) or another aggregate",
            )
        return None

    def _aggregate(self, node: exp.AggFunc) -> Column:
        function = self._function(node)
        what = _ROWS if _counts_rows(node) else node
        if what not in self.aggregates:
            argument = None if what is _ROWS else self._argument(node.this)
            result = Column(f"{function.lower()}_{len(self.aggregates) + 1}", infer(node, self.source))
            self.aggregates[what] = Aggregate(result, function, argument, span(node, self.source))
        return self.aggregates[what].result

    def _function(self, node: exp.AggFunc) -> AggregateFunction:
        at = span(node, self.source)
        function = _FUNCTIONS.get(type(node))
        if function is None:
            raise refusal(
                Code.AGGREGATE_FORM,
                f"this version does not execute the aggregate `{spelling(node, self.source)}`",
                at,
                because="it executes SUM, COUNT, MIN, MAX and AVG",
            )
        if isinstance(node.this, exp.Distinct):
            raise refusal(Code.AGGREGATE_FORM, f"this version does not execute {function}(DISTINCT …)", at)
        extra = [name for name, value in node.args.items() if value and name not in ("this", "big_int")]
        if extra or node.this is None:
            raise refusal(Code.AGGREGATE_FORM, f"{function} takes one argument here", at)
        refuse_aggregates(node.this, self.source, f"the argument of {function}")
        return function

    def _argument(self, tree: exp.Expr) -> str:
        tree = tree.unnest()
        known = self.keys.get(tree)
        return (known or self._computed(tree, f"argument_{len(self.aggregates) + 1}")).name

    def _computed(self, tree: exp.Expr, name: str) -> Column:
        expr = typed(tree, self.source)
        name = expr.column or name
        self.below.setdefault(name, Output(name, expr))
        return Column(name, expr.type)


def _counts_rows(node: exp.AggFunc) -> bool:
    """COUNT(*), or COUNT of something that is never NULL."""
    return isinstance(node, exp.Count) and isinstance(node.this, exp.Star | exp.Literal)
