"""Step 2 of THEORY section 4 for ordered attributes: which columns bound which from above.

`x` is pinned by whatever bounds it: once its stream has passed `y + c`, no row with `x ≤ y + c` comes any more.
Any constant c will do, so bounds chain: x ≤ y + 1 and y ≤ z + 2 bound x by z.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from sqlglot import exp

from caesura.catalog import OrderedBy, Stream
from caesura.expression import Expr
from caesura.plan import Compare, Distinct, Filter, Group, Join, Merge, Plan, Project, Scan, Sort
from caesura.safety.equality import conjuncts
from caesura.types import BOOLEAN

_CALENDAR = ("MONTH", "QUARTER", "YEAR")


@dataclass(frozen=True)
class Shift:
    """A constant that is added, or taken away."""

    amount: Expr
    added: bool = True

    def __str__(self) -> str:
        return f"{'+' if self.added else '-'} {self.amount.sql}"


@dataclass(frozen=True)
class Bound:
    """In every row `column` is at most `by`, a column or a constant, with the shifts applied."""

    column: str
    by: str | Expr
    shifts: tuple[Shift, ...] = ()


def bounds(plan: Plan) -> tuple[Bound, ...]:
    """The bounds that hold in every row `plan` emits, as stated: not chained."""
    match plan:
        case Scan(relation=relation, alias=alias):
            checks = relation.checks if isinstance(relation, Stream) else ()
            named = {column.name: (f"{alias}.{column.name}",) for column in relation.columns}
            return tuple(_renamed((b for check in checks for b in stated(check.condition)), named))
        case Filter(input=below, predicate=predicate):
            return (*bounds(below), *stated(predicate))
        case Project(input=below):
            return tuple(_renamed(bounds(below), plan.copies))
        case Join(kind="inner"):
            return matching_bounds(plan)
        case Join(kind="left" | "anti" | "semi", inputs=(below, _)) | Join(kind="right", inputs=(_, below)):
            return bounds(below)
        case Group(input=below, keys=keys):
            return tuple(_renamed(bounds(below), {key: (key,) for key in keys}))
        case Distinct(input=below) | Sort(input=below) | Compare(inputs=(below, _)):
            return bounds(below)
        case Join() | Merge():
            return ()


def matching_bounds(join: Join) -> tuple[Bound, ...]:
    """The bounds that hold where a row of every input meets the others."""
    inner = (bound for each in join.inputs for bound in bounds(each))
    equal = (b for e in join.equalities for b in (Bound(e.left, e.right), Bound(e.right, e.left)))
    return (*inner, *equal, *(stated(join.residual) if join.residual else ()))


def window_bounds(join: Join, times: Iterable[Iterable[str]]) -> Iterator[Bound]:
    """A window of T on an input: the time of every other is at most T after its own.

    `times` are, for each input, the temporal columns it is ordered by.
    """
    ordered = [tuple(each) for each in times]
    for i, plan in enumerate(join.inputs):
        scan = _scan(plan)
        if scan is None or scan.window is None:
            continue
        length = Shift(Expr(exp.maybe_parse(scan.window.sql, dialect="spark"), BOOLEAN))
        others = (x for k, several in enumerate(ordered) if k != i for x in several)
        yield from (Bound(x, f"{scan.alias}.{time}", (length,)) for x in others for time in _times(scan)[:1])


def stated(predicate: Expr) -> Iterator[Bound]:
    """What the conjuncts of a predicate say."""
    for conjunct in conjuncts(predicate.tree):
        match conjunct:
            case exp.LT() | exp.LTE():
                yield from _at_most(conjunct.left, conjunct.right)
            case exp.GT() | exp.GTE():
                yield from _at_most(conjunct.right, conjunct.left)
            case exp.EQ():
                yield from _at_most(conjunct.left, conjunct.right)
                yield from _at_most(conjunct.right, conjunct.left)
            case exp.Between():
                yield from _at_most(conjunct.this, conjunct.args["high"])
                yield from _at_most(conjunct.args["low"], conjunct.this)
            case _:
                pass


def _at_most(lesser: exp.Expr, greater: exp.Expr) -> Iterator[Bound]:
    one, other = _shifted(lesser), _shifted(greater)
    if one is not None and other is not None:
        (column, moved), (by, shifts) = one, other
        if isinstance(column, str):
            yield Bound(column, by, (*shifts, *(Shift(each.amount, not each.added) for each in moved)))


def _shifted(tree: exp.Expr) -> tuple[str | Expr, tuple[Shift, ...]] | None:
    """A column with constants added or taken away, or a constant."""
    match tree:
        case exp.Paren():
            return _shifted(tree.this)
        case exp.Column():
            return tree.name, ()
        case _ if not _calendar(tree) and tree.find(exp.Column) is None:
            return _constant(tree), ()
        case exp.Add() | exp.Sub() if not _calendar(tree):
            sides = (tree.left, tree.right) if isinstance(tree, exp.Sub) else _column_first(tree.left, tree.right)
            base = _shifted(sides[0])
            if base is None or not isinstance(base[0], str) or sides[1].find(exp.Column) is not None:
                return None
            return base[0], (*base[1], Shift(_constant(sides[1]), isinstance(tree, exp.Add)))
        case _:
            return None


def _column_first(left: exp.Expr, right: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return (left, right) if left.find(exp.Column) is not None else (right, left)


def _calendar(tree: exp.Expr) -> bool:
    """Months differ in length, so that taking one away on the other side is not the same."""
    units = (str(each.args.get("unit") or "").upper() for each in tree.find_all(exp.Interval))
    return any(unit.startswith(_CALENDAR) for unit in units)


def _constant(tree: exp.Expr) -> Expr:
    assert isinstance(tree, exp.Expression)
    return Expr(tree, BOOLEAN)


def _renamed(found: Iterable[Bound], names: Mapping[str, tuple[str, ...]]) -> Iterator[Bound]:
    for bound in found:
        by: tuple[str | Expr, ...] = names.get(bound.by, ()) if isinstance(bound.by, str) else (bound.by,)
        yield from (Bound(x, y, bound.shifts) for x, y in product(names.get(bound.column, ()), by))


def _scan(plan: Plan) -> Scan | None:
    while isinstance(plan, Filter):
        plan = plan.input
    return plan if isinstance(plan, Scan) else None


def _times(scan: Scan) -> list[str]:
    promises = scan.relation.promises if isinstance(scan.relation, Stream) else ()
    temporal = {column.name for column in scan.relation.columns if column.type.temporal}
    return [p.column for p in promises if isinstance(p, OrderedBy) and p.column in temporal]
