"""Step 2 of THEORY section 4 for ordered attributes: which columns bound which from above.

`x` is pinned by whatever bounds it: once its stream has passed `y + c`, no row with `x ≤ y + c` comes any more.
Any constant c will do, so bounds chain: x ≤ y + 1 and y ≤ z + 2 bound x by z.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from sqlglot import exp

from caesura.catalog import Stream
from caesura.expression import Expr
from caesura.plan import (
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
from caesura.safety.predicates import conjuncts
from caesura.safety.predicates import constant as is_constant
from caesura.safety.presence import present
from caesura.types import Type

_UNTYPED = Type("VOID")
"""Of a constant that is only added or compared: nobody asks."""
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


@lru_cache(maxsize=4096)
def bounds(plan: Plan) -> tuple[Bound, ...]:
    """The bounds that hold in every row `plan` emits, as stated: not chained."""
    match plan:
        case Scan(relation=relation, alias=alias):
            checks = relation.checks if isinstance(relation, Stream) else ()
            # A CHECK that is unknown is not broken: it bounds nothing where one side is NULL.
            named = {
                column.name: (f"{alias}.{column.name}",)
                for column in relation.columns
                if present(plan, f"{alias}.{column.name}")
            }
            said = (b for check in checks for b in stated(check.condition))
            # Nor does a constant in it: the stream itself never goes beyond, so that its bound stays below.
            return tuple(_renamed((bound for bound in said if isinstance(bound.by, str)), named))
        case Filter(input=below, predicate=predicate):
            return (*bounds(below), *stated(predicate))
        case Project(input=below):
            return tuple(_renamed(bounds(below), plan.copies))
        case Join(kind="inner"):
            return matching_bounds(plan)
        case Join(kind="left" | "anti" | "semi", inputs=(below, _)) | Join(kind="right", inputs=(_, below)):
            return bounds(below)
        case Group(input=below, keys=keys) | Session(input=below, keys=keys):
            return tuple(_renamed(bounds(below), {key: (key,) for key in keys}))
        case Distinct(input=below) | Sort(input=below) | Rank(input=below) | Compare(inputs=(below, _)):
            return bounds(below)
        case Frame(input=below):
            return bounds(below)
        case Join() | Merge():
            return ()


def matching_bounds(join: Join) -> tuple[Bound, ...]:
    """The bounds that hold where a row of every input meets the others."""
    inner = (bound for each in join.inputs for bound in bounds(each))
    equal = (b for e in join.equalities for b in (Bound(e.left, e.right), Bound(e.right, e.left)))
    return (*inner, *equal, *(stated(join.residual) if join.residual else ()))


def never_null(join: Join) -> frozenset[str]:
    """The columns that a row has to have a value in to meet any other: those in equalities and comparisons. A NULL
    may satisfy other conditions."""
    bounds = stated(join.residual) if join.residual is not None else ()
    return join.compared.union(c for b in bounds for c in (b.column, b.by) if isinstance(c, str))


def joined_on(join: Join) -> frozenset[str]:
    """The columns that the join compares."""
    return join.compared if join.residual is None else join.compared | join.residual.columns


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
        case _ if not _calendar(tree) and is_constant(tree):
            return _constant(tree), ()
        case exp.Add() | exp.Sub() if not _calendar(tree):
            sides = (tree.left, tree.right) if isinstance(tree, exp.Sub) else _column_first(tree.left, tree.right)
            base = _shifted(sides[0])
            if base is None or not isinstance(base[0], str) or not is_constant(sides[1]):
                return None
            return base[0], (*base[1], Shift(_constant(sides[1]), isinstance(tree, exp.Add)))
        case _:
            return None


def _column_first(left: exp.Expr, right: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return (right, left) if is_constant(left) else (left, right)


def _calendar(tree: exp.Expr) -> bool:
    """Months differ in length, so that taking one away on the other side is not the same."""
    units = (str(each.args.get("unit") or "").upper() for each in tree.find_all(exp.Interval))
    return any(unit.startswith(_CALENDAR) for unit in units)


def _constant(tree: exp.Expr) -> Expr:
    assert isinstance(tree, exp.Expression)
    return Expr(tree, _UNTYPED)


def _renamed(found: Iterable[Bound], names: Mapping[str, tuple[str, ...]]) -> Iterator[Bound]:
    for bound in found:
        by: tuple[str | Expr, ...] = names.get(bound.by, ()) if isinstance(bound.by, str) else (bound.by,)
        yield from (Bound(x, y, bound.shifts) for x, y in product(names.get(bound.column, ()), by))
