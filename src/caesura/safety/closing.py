"""THEORY sections 2 and 9: a group leaves when a punctuation confined to the grouping attributes matches it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sqlglot import exp

from caesura.catalog import Stream
from caesura.expression import Expr
from caesura.plan import Filter, Group, Join, Plan, Project, Scan
from caesura.punctuation import Scheme
from caesura.safety.equality import conjuncts, equality_classes
from caesura.safety.names import alias_of


@dataclass(frozen=True)
class Outside:
    """A scheme of the input that closes no group, and the attributes of it that are not grouped by."""

    scheme: Scheme
    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Closing:
    """`scheme` closes groups, if there is one. `single`: there is one group at most, which needs no closing.

    `nullable` are the attributes of the scheme that may be NULL: no punctuation but the end matches those.
    """

    group: Group
    scheme: Scheme | None
    outside: tuple[Outside, ...]
    single: bool
    nullable: tuple[str, ...] = ()


def closing(group: Group, schemes_of: Callable[[Plan], Iterable[Scheme]]) -> Closing:
    """Value schemes before ordered ones, fewest attributes first."""
    within = (s for s in schemes_of(group.input) if set(group.keys).issuperset(s.attributes))
    best = min(within, key=lambda s: (s.ordered, len(s.attributes)), default=None)
    source, keys = _source(group)
    missing = ((s, tuple(a for a in s.attributes if a not in keys)) for s in schemes_of(source))
    nullable = tuple(a for a in best.attributes if not _present(group.input, a)) if best else ()
    outside = tuple(Outside(scheme, attributes) for scheme, attributes in missing if attributes)
    return Closing(group, best, outside, _single(group), nullable)


def _source(group: Group) -> tuple[Plan, frozenset[str]]:
    """What the user groups, and the keys as its columns: a projection in between drops what the group ignores."""
    match group.input:
        case Project(input=below, outputs=outputs) as project if alias_of(project) is None:
            sources = (output.expr.column for output in outputs if output.name in group.keys)
            return below, frozenset(column for column in sources if column is not None)
        case plan:
            return plan, frozenset(group.keys)


def _single(group: Group) -> bool:
    classes = equality_classes(group.input)
    fixed = {column for each in classes if each.constant for column in each.columns}
    return fixed.issuperset(group.keys)


def _present(plan: Plan, column: str) -> bool:
    """Whether something in the plan keeps rows with a NULL in `column` away."""
    match plan:
        case Scan(relation=relation, alias=alias):
            # A CHECK that compares is not false for NULL, so it lets the row through.
            checks = relation.checks if isinstance(relation, Stream) else ()
            return any(_is_not_null(check.condition, column.removeprefix(f"{alias}.")) for check in checks)
        case Filter(input=below, predicate=predicate):
            return _compares(predicate, column) or _is_not_null(predicate, column) or _present(below, column)
        case Project(input=below, outputs=outputs):
            source = next(output.expr.column for output in outputs if output.name == column)
            return source is not None and _present(below, source)
        case Group(input=below):
            return _present(below, column)
        case Join(inputs=several, equalities=equalities):
            if any(column in (e.left, e.right) for e in equalities):
                return True
            owner = next(each for each in several if any(c.name == column for c in each.columns))
            return _present(owner, column)


def _compares(condition: Expr, column: str) -> bool:
    comparisons = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
    return any(
        isinstance(conjunct, comparisons) and any(_is(side, column) for side in (conjunct.left, conjunct.right))
        for conjunct in conjuncts(condition.tree)
    )


def _is_not_null(condition: Expr, column: str) -> bool:
    for conjunct in conjuncts(condition.tree):
        match conjunct:
            case exp.Not(this=exp.Is(this=one, expression=exp.Null())) if _is(one, column):
                return True
    return False


def _is(tree: exp.Expr, column: str) -> bool:
    return isinstance(tree, exp.Column) and tree.name == column
