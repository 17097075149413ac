"""GROUP BY, aggregates and HAVING: a projection, a group over plain columns, a filter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from caesura.catalog import Column
from caesura.diagnostics import Source, Span
from caesura.diagnostics.code import Code
from caesura.plan import SESSION_END, SESSION_START, Aggregate, Group, Output, Plan, Project, Session
from caesura.sql.aggregates import Call, is_aggregate, read_call, result_type
from caesura.sql.expressions import refuse_aggregates, typed
from caesura.sql.functions import spelling
from caesura.sql.names import bound_column
from caesura.sql.refusal import refusal
from caesura.sql.rewrite import rewrite
from caesura.sql.sessions import SESSION_TIME, Sessions, refuse_ends
from caesura.sql.spans import span


@dataclass
class Grouping:
    """Collects what the group has to compute while the select list is rewritten over its result.

    Expressions are computed below the group under the names `key_1`, `argument_1`, …; results are called
    `max_1`, `sum_2`, …. None of these can be a column of an input: those have a dot. `sessions`: what GROUP BY
    says of them, if it does.
    """

    source: Source
    above: frozenset[str] = frozenset()
    """Columns that are computed over the groups, so that they stand as they are."""
    keys: dict[exp.Expr, Column] = field(default_factory=dict)
    arguments: dict[exp.Expr, Column] = field(default_factory=dict)
    below: dict[str, Output] = field(default_factory=dict)
    aggregates: dict[Call, Aggregate] = field(default_factory=dict)
    sessions: Sessions | None = None

    def key(self, tree: exp.Expr) -> None:
        tree = tree.unnest()
        refuse_aggregates(tree, self.source, "GROUP BY")
        refuse_ends(tree, self.source)
        if tree not in self.keys:
            self.keys[tree] = self._computed(tree, f"key_{len(self.keys) + 1}")

    def over(self, tree: exp.Expr) -> exp.Expr:
        """The expression over the columns of the group."""
        return rewrite(tree, self._column)

    def plan(self, input: Plan, emit: Literal["final", "changes"], at: Span | None) -> Plan:
        below = tuple(self.below.values())
        if self.sessions is not None:
            timed = Project(input, (Output(SESSION_TIME, self.sessions.time), *below), at)
            return Session(timed, SESSION_TIME, self.sessions.gap, self._keys, self._results, at)
        # A projection without columns would lose the rows of COUNT(*) over everything.
        projected = Project(input, below, at) if below else input
        return Group(projected, self._keys, self._results, emit, at)

    @property
    def _keys(self) -> tuple[str, ...]:
        return tuple(key.name for key in self.keys.values())

    @property
    def _results(self) -> tuple[Aggregate, ...]:
        return tuple(self.aggregates.values())

    def _column(self, node: exp.Expr) -> exp.Expr | None:
        """The column of the group that stands for the node, if one does."""
        key = self.keys.get(node)
        if key is not None:
            return bound_column(key.name, key.type, node)
        if isinstance(node, exp.Column) and node.name in self.above:
            return node
        if is_aggregate(node):
            result = self._aggregate(node)
            return bound_column(result.name, result.type, node)
        if isinstance(node, exp.Column):
            if self.sessions is not None and node.name in (SESSION_START, SESSION_END):
                return node.copy()
            raise refusal(
                Code.NOT_GROUPED,
                f"`{node.name}` is neither grouped nor aggregated",
                span(node, self.source),
                "a group has many values of it",
                help=f"add it to GROUP BY, or take MAX(`{node.name}`) or another aggregate",
            )
        return None

    def _aggregate(self, node: exp.Expr) -> Column:
        outer, *inner = node.find_all(exp.AggFunc)
        for each in inner:
            refuse_aggregates(each, self.source, f"the argument of {spelling(outer, self.source).upper()}")
        refuse_ends(node, self.source)
        call = read_call(node, self.source)
        if call not in self.aggregates:
            word = call.function.name.lower().replace(" ", "_")
            result = Column(f"{word}_{len(self.aggregates) + 1}", result_type(call, self.source))
            arguments = tuple(map(self._argument, call.arguments))
            at = span(node, self.source)
            self.aggregates[call] = Aggregate(result, call.function.name, arguments, call.percentages, at)
        return self.aggregates[call].result

    def _argument(self, tree: exp.Expr) -> str:
        if tree in self.keys:
            return self.keys[tree].name
        if tree not in self.arguments:
            self.arguments[tree] = self._computed(tree, f"argument_{len(self.arguments) + 1}")
        return self.arguments[tree].name

    def _computed(self, tree: exp.Expr, name: str) -> Column:
        expr = typed(tree, self.source)
        name = expr.column or name
        self.below.setdefault(name, Output(name, expr))
        return Column(name, expr.type)
