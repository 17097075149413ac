"""THEORY section 9: columns that take finitely many values, by their type, a CHECK, a filter or a table.

What is kept per value of such columns is bounded without any punctuation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from caesura.catalog import Stream
from caesura.expression import Expr, shown
from caesura.plan import Compare, Distinct, Filter, Group, Join, Merge, Plan, Project, Scan, Sort
from caesura.safety.equality import equality_classes, matching_classes
from caesura.safety.predicates import conjuncts, constant, names
from caesura.types import Type

_FINITE_TYPES = ("BOOLEAN", "TINYINT")


@dataclass(frozen=True)
class _Known:
    """What predicates say of a column on the way down, in the name that it has there."""

    listed: exp.Expr | None = None
    low: exp.Expr | None = None
    high: exp.Expr | None = None

    @property
    def why(self) -> str | None:
        if self.listed is not None:
            return shown(self.listed)
        if self.low is None or self.high is None:
            return None
        return " and ".join(dict.fromkeys((shown(self.low), shown(self.high))))


def domain(plan: Plan, column: str, known: _Known = _Known()) -> str | None:  # noqa: B008 - it is frozen
    """Why `column` of `plan` has finitely many values, as a clause; None if nothing says so."""
    type = next(each.type for each in plan.columns if each.name == column)
    if type.kind in _FINITE_TYPES:
        return f"it is a {type}"
    matching = isinstance(plan, Join) and plan.kind in ("inner", "semi")
    classes = matching_classes(plan) if isinstance(plan, Join) and matching else equality_classes(plan)
    same = next((each for each in classes if column in each.columns), None)
    if same is not None and same.constant is not None:
        return f"it is {same.constant.sql}"
    match plan:
        case Scan(relation=relation, alias=alias):
            if not isinstance(relation, Stream):
                return f"`{relation.name}` is finite"
            for check in relation.checks:
                known = _narrowed(known, check.condition, column.removeprefix(f"{alias}."), type)
            return known.why
        case Filter(input=below, predicate=predicate):
            return domain(below, column, _narrowed(known, predicate, column, type))
        case Project(input=below, outputs=outputs):
            source = _source(next(output.expr.tree for output in outputs if output.name == column))
            return known.why if source is None else domain(below, source, known)
        case Group(input=below, keys=keys):
            return domain(below, column, known) if column in keys else known.why
        case Distinct(input=below) | Sort(input=below):
            return domain(below, column, known)
        case Compare(inputs=(below, other), kind=kind):
            return domain(below, column, known) or (domain(other, column) if kind == "intersect" else None)
        case Merge(inputs=several):
            every = [domain(each, column, known) for each in several]
            return every[0] if all(every) else None
        case Join(inputs=several):
            alike = same.columns if same is not None and matching else (column,)
            owned = ((each, c.name) for each in several for c in each.columns if c.name in alike)
            return next(filter(None, (domain(each, name, known) for each, name in owned)), None)


def _source(tree: exp.Expr) -> str | None:
    """The column whose values these are, NULL aside: what FILTER leaves of an argument has no others."""
    match tree:
        case exp.Column():
            return tree.name
        case exp.Case(this=None, args={"ifs": [exp.If(args={"true": chosen})]}) if not tree.args.get("default"):
            return _source(chosen)
        case _:
            return None


def _narrowed(known: _Known, predicate: Expr, column: str, type: Type) -> _Known:
    for conjunct in conjuncts(predicate.tree):
        match conjunct:
            case exp.In(this=one, expressions=[_, *_] as values) if names(one, column):
                if all(map(constant, values)):
                    known = replace(known, listed=conjunct)
            case exp.Between(this=one) if names(one, column) and type.enumerable:
                if constant(conjunct.args["low"]):
                    known = replace(known, low=conjunct)
                if constant(conjunct.args["high"]):
                    known = replace(known, high=conjunct)
            case exp.LT() | exp.LTE() | exp.GT() | exp.GTE() if type.enumerable:
                lesser, greater = conjunct.left, conjunct.right
                if isinstance(conjunct, exp.GT | exp.GTE):
                    lesser, greater = greater, lesser
                if names(lesser, column) and constant(greater):
                    known = replace(known, high=conjunct)
                elif names(greater, column) and constant(lesser):
                    known = replace(known, low=conjunct)
            case _:
                pass
    return known
