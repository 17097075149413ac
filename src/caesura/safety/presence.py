"""Which columns are never NULL. Only the wildcard matches NULL, so most punctuations say nothing of such rows."""

from __future__ import annotations

from sqlglot import exp

from caesura.catalog import Stream
from caesura.plan import (
    SESSION_END,
    SESSION_START,
    Compare,
    Distinct,
    Filter,
    Frame,
    Group,
    Join,
    Merge,
    Plan,
    Project,
    Rank,
    Scan,
    Session,
    Sort,
)
from caesura.safety.monotone import starts_window
from caesura.safety.predicates import asks_value, demands_value, excludes_null, null_with


def padded(plan: Plan, column: str) -> bool:
    """Whether an outer join puts NULLs into `column`, row after row, and nothing keeps these rows away."""
    match plan:
        case Scan():
            return False
        case Filter(input=below, predicate=predicate):
            return not excludes_null(predicate, column) and padded(below, column)
        case Project(input=below, outputs=outputs):
            source = next(output.expr.column for output in outputs if output.name == column)
            return source is not None and padded(below, source)
        case Join(kind="inner" | "semi", compared=compared) if column in compared:
            return False
        case Join(inputs=several):
            owner = plan.owner(column)
            return owner in plan.padded or padded(several[owner], column)
        case Merge(inputs=several) | Compare(inputs=several):
            return any(padded(each, column) for each in several)
        case Frame(input=below):
            return any(c.name == column for c in below.columns) and padded(below, column)
        case (
            Group(input=below)
            | Session(input=below)
            | Distinct(input=below)
            | Sort(input=below)
            | Rank(input=below)
        ):
            return any(c.name == column for c in below.columns) and padded(below, column)


def present(plan: Plan, column: str) -> bool:
    """Whether something in the plan keeps rows with a NULL in `column` away."""
    match plan:
        case Scan(relation=relation, alias=alias):
            checks = relation.checks if isinstance(relation, Stream) else ()
            return any(demands_value(check.condition, column.removeprefix(f"{alias}.")) for check in checks)
        case Filter(input=below, predicate=predicate):
            return excludes_null(predicate, column) or present(below, column)
        case Project(input=below, outputs=outputs):
            expr = next(output.expr for output in outputs if output.name == column)
            sources = null_with(expr.tree)
            inherited = bool(sources) and all(present(below, each) for each in sources)
            return inherited or starts_window(expr.tree) or _asked(below, expr.tree)
        case Session() if column in (SESSION_START, SESSION_END):
            return True
        case (
            Group(input=below)
            | Session(input=below)
            | Distinct(input=below)
            | Sort(input=below)
            | Compare(inputs=(below, _))
        ):
            return any(c.name == column for c in below.columns) and present(below, column)
        case Frame(input=below):
            return any(c.name == column for c in below.columns) and present(below, column)
        case Rank(input=below, result=result):
            return column == result.name or present(below, column)
        case Merge(inputs=several):
            return all(present(each, column) for each in several)
        case Join(kind="inner" | "semi", compared=compared) if column in compared:
            return True
        case Join(inputs=several):
            owner = plan.owner(column)
            return owner not in plan.padded and present(several[owner], column)


def _asked(plan: Plan, tree: exp.Expr) -> bool:
    """Whether a condition right below asks that the expression is not NULL."""
    match plan:
        case Filter(input=below, predicate=predicate):
            return asks_value(predicate, tree) or _asked(below, tree)
        case _:
            return False
