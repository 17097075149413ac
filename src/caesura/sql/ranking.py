"""ROW_NUMBER, RANK and DENSE_RANK with OVER, and the conditions on them that say how many rows are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.expression import Expr
from caesura.plan import Filter, Plan, Project, Rank, Sort, inputs, walk, with_inputs
from caesura.sql.expressions import conjunction, conjuncts
from caesura.sql.functions import ordered
from caesura.sql.over import RANKS, Columns, Over
from caesura.sql.refusal import refusal
from caesura.sql.spans import span
from caesura.types import BOOLEAN


def ranking(over: Over, columns: Columns, source: Source) -> Callable[[Plan], Plan]:
    """What makes the node over the one that has these columns."""
    function, at = RANKS[type(over.function)], span(over.at, source)
    if any(True for _ in over.function.iter_expressions()):
        raise refusal(Code.WINDOW_FUNCTION, f"{function} takes no argument", at)
    if not over.order:
        raise refusal(
            Code.WINDOW_FUNCTION,
            f"{function} lacks an order",
            at,
            because="without one, any row could be the first",
            help="OVER (PARTITION BY … ORDER BY …)",
        )
    if over.at.args.get("spec"):
        raise refusal(
            Code.WINDOW_FUNCTION,
            f"{function} takes no frame",
            span(over.at.args["spec"], source) or at,
            because="it counts all rows of the partition up to this one",
        )
    partition, order = columns.partition(over), columns.order(over)

    def over_(plan: Plan) -> Plan:
        for each in plan.columns if function == "ROW_NUMBER" else ():
            if not ordered(each.type):
                raise refusal(
                    Code.WRONG_TYPE,
                    f"ROW_NUMBER cannot tell rows with `{each.name}` apart, which is {each.type}",
                    at,
                    because="where ORDER BY leaves rows equal, the other columns that the query reads decide",
                    help="leave the column out, or use RANK",
                )
        return Rank(plan, partition, order, function, over.result, None, at)

    return over_


def limited(plan: Plan) -> Plan:
    """The plan in which each ranking knows how many are asked for, by the conditions right above it."""
    done: dict[Plan, Plan] = {}
    for node in walk(plan):
        changed = with_inputs(node, tuple(done[below] for below in inputs(node)))
        done[node] = _limited(changed) if isinstance(changed, Filter) else changed
    return done[plan]


def _limited(node: Filter) -> Plan:
    """Conditions that the limit itself sees to are left out."""
    rest: list[exp.Expr] = []
    below = node.input
    for part in conjuncts(node.predicate.tree):
        found = _at_most(part)
        pushed = None if found is None else _pushed(below, *found)
        below = below if pushed is None else pushed
        if pushed is None or not _plain(part):
            rest.append(part)
    if below is node.input:
        return node
    if not rest:
        return below
    predicate = conjunction(Expr(part, BOOLEAN, node.predicate.span) for part in rest)
    return below if predicate is None else replace(node, input=below, predicate=predicate)


def _pushed(plan: Plan, column: str, most: int) -> Plan | None:
    """The plan with the limit in the ranking that gives the column; None if none does, or not so directly that
    all its rows come to the condition."""
    match plan:
        case Rank(result=result, limit=limit) if result.name == column:
            return replace(plan, limit=most if limit is None else min(limit, most))
        case Project(input=below, outputs=outputs):
            source = next(output.expr.column for output in outputs if output.name == column)
            pushed = None if source is None else _pushed(below, source, most)
        case Filter(input=below) | Sort(input=below):
            pushed = _pushed(below, column, most)
        case _:
            return None
    return None if pushed is None else with_inputs(plan, (pushed,))


def _at_most(part: exp.Expr) -> tuple[str, int] | None:
    """The column, and the most that it can be where the condition holds."""
    match part:
        case exp.LTE(this=exp.Column() as column, expression=number):
            most = _whole(number)
        case exp.GTE(this=number, expression=exp.Column() as column):
            most = _whole(number)
        case exp.LT(this=exp.Column() as column, expression=number):
            most = _less(_whole(number))
        case exp.GT(this=number, expression=exp.Column() as column):
            most = _less(_whole(number))
        case exp.EQ(this=exp.Column() as column, expression=number):
            most = _whole(number)
        case exp.EQ(this=number, expression=exp.Column() as column):
            most = _whole(number)
        case exp.Between(this=exp.Column() as column):
            most = _whole(part.args["high"])
        case exp.In(this=exp.Column() as column, expressions=[_, *_] as several):
            listed = list(map(_whole, several))
            most = None if None in listed else max(each for each in listed if each is not None)
        case _:
            return None
    return None if most is None else (column.name, max(most, 0))


def _plain(part: exp.Expr) -> bool:
    """Whether it says that much and no more: the first are never less than one."""
    if isinstance(part, exp.EQ):
        return _whole(part.left) == 1 or _whole(part.right) == 1
    return isinstance(part, exp.LT | exp.LTE | exp.GT | exp.GTE)


def _whole(node: exp.Expr) -> int | None:
    node = node.unnest()
    return int(node.name) if isinstance(node, exp.Literal) and node.is_int else None


def _less(number: int | None) -> int | None:
    return None if number is None else number - 1
