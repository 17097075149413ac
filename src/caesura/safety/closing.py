"""THEORY sections 2 and 9: what an operator keeps under some columns leaves when a punctuation closes it.

A group leaves when a punctuation confined to the grouping attributes matches it, a row of a distinct when any
does, a row of one side of INTERSECT or EXCEPT when the other side has closed it, a row of a sort when everything
before it is closed.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from caesura.catalog import Stream
from caesura.expression import Expr
from caesura.plan import Compare, Distinct, Filter, Group, Join, Merge, Plan, Project, Scan, Sort
from caesura.punctuation import Scheme
from caesura.safety.domains import domain
from caesura.safety.equality import conjuncts, equality_classes
from caesura.safety.names import alias_of
from caesura.safety.schemes import Derivation

Closable = Group | Distinct | Compare | Sort


@dataclass(frozen=True)
class Outside:
    """A scheme that closes nothing, and the attributes of it that are not among the columns."""

    scheme: Scheme
    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Closing:
    """What `node` keeps of its input `kept` is closed by punctuations of `source` that are confined to `keys`.

    `scheme` is one that closes it, if there is one. `single`: the keys are constant, so that there is one entry
    at most; `domains`: for each key why it has finitely many values, empty if one has not. `nullable` are the
    attributes of the scheme that may be NULL: no punctuation but the end matches those.
    """

    node: Closable
    kept: Plan
    source: Plan
    keys: tuple[str, ...]
    scheme: Scheme | None
    outside: tuple[Outside, ...]
    single: bool = False
    domains: tuple[tuple[str, str], ...] = ()
    nullable: tuple[str, ...] = ()

    @property
    def few(self) -> bool:
        """Bounded without any punctuation."""
        return self.single or bool(self.domains)


def closings(node: Closable, derivation: Derivation) -> tuple[Closing, ...]:
    """One for each state of the operator."""
    match node:
        case Group(input=below, keys=keys):
            return (_closing(node, below, below, keys, derivation),)
        case Distinct(input=below):
            return (_closing(node, below, below, _all(below), derivation),)
        case Compare(inputs=(left, right)):
            return tuple(
                _closing(node, kept, source, _all(source), derivation)
                for kept, source in ((left, right), (right, left))
            )
        case Sort(input=below):
            return (_sorting(node, below, derivation),)


def _closing(node: Closable, kept: Plan, source: Plan, keys: tuple[str, ...], derivation: Derivation) -> Closing:
    """Value schemes before ordered ones, fewest attributes first."""
    within = (s for s in derivation.of(source) if set(keys).issuperset(s.attributes))
    best = min(within, key=lambda s: (s.ordered, len(s.attributes)), default=None)
    shown, columns = _written(source, keys)
    missing = ((s, tuple(a for a in s.attributes if a not in columns)) for s in derivation.of(shown))
    return Closing(
        node,
        kept,
        source,
        keys,
        best,
        tuple(Outside(scheme, attributes) for scheme, attributes in missing if attributes),
        _single(kept, keys),
        _domains(kept, keys),
        tuple(a for a in best.attributes if not _present(kept, a)) if best else (),
    )


def _sorting(sort: Sort, below: Plan, derivation: Derivation) -> Closing:
    """Rows go out in order: only what closes a prefix of the first key helps, nothing does for a falling one."""
    first = sort.keys[0]
    schemes = () if first.descending else derivation.of(below)
    alone = [s for s in schemes if s.attributes == (first.column,)]
    best = next((s for s in alone if s.ordered), alone[0] if alone else None)
    outside = tuple(Outside(s, s.attributes) for s in derivation.of(below) if s.attributes != (first.column,))
    keys = (first.column,)
    return Closing(sort, below, below, keys, best, outside, False, (), ())


def _all(plan: Plan) -> tuple[str, ...]:
    return tuple(column.name for column in plan.columns)


def _written(source: Plan, keys: tuple[str, ...]) -> tuple[Plan, frozenset[str]]:
    """What the user sees closed, and the keys as its columns: a projection in between drops what is ignored."""
    match source:
        case Project(input=below, outputs=outputs) if alias_of(source) is None:
            sources = (output.expr.column for output in outputs if output.name in keys)
            return below, frozenset(column for column in sources if column is not None)
        case _:
            return source, frozenset(keys)


def _single(plan: Plan, keys: tuple[str, ...]) -> bool:
    classes = equality_classes(plan)
    fixed = {column for each in classes if each.constant for column in each.columns}
    return fixed.issuperset(keys)


def _domains(plan: Plan, keys: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    found = [(key, domain(plan, key)) for key in keys]
    return tuple((key, why) for key, why in found if why is not None) if all(why for _, why in found) else ()


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
        case Group(input=below) | Distinct(input=below) | Sort(input=below) | Compare(inputs=(below, _)):
            return _present(below, column)
        case Merge(inputs=several):
            return all(_present(each, column) for each in several)
        case Join(kind="inner" | "semi", equalities=equalities) if any(
            column in (e.left, e.right) for e in equalities
        ):
            return True
        case Join(kind=kind, inputs=several):
            owner = next(i for i, each in enumerate(several) if any(c.name == column for c in each.columns))
            padded = kind == "full" or (kind == "left" and owner == 1) or (kind == "right" and owner == 0)
            return not padded and _present(several[owner], column)


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
