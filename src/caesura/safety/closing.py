"""THEORY sections 2 and 9: what an operator keeps under some columns leaves when a punctuation closes it.

A group leaves when a punctuation confined to the grouping attributes matches it, a row of a distinct when any
does, a row of one side of INTERSECT or EXCEPT when the other side has closed it, a row of a sort when everything
before it is closed, a partition of a ranking as a group, and its first rows as a row of a sort. A session leaves
with its keys, or when all times up to its end are closed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from caesura.aggregates import FUNCTIONS
from caesura.plan import Compare, Distinct, Frame, Group, Plan, Project, Rank, Session, Sort
from caesura.punctuation import Scheme
from caesura.safety.equality import equality_classes
from caesura.safety.facts import Domain, domain
from caesura.safety.names import alias_of
from caesura.safety.passing import passing
from caesura.safety.presence import padded, present
from caesura.safety.schemes import Derivation

Closable = Group | Session | Distinct | Compare | Sort | Rank | Frame


@dataclass(frozen=True)
class Outside:
    """A scheme that closes nothing, and the attributes of it that are not among the columns."""

    scheme: Scheme
    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Values:
    """What a holistic aggregate keeps of a column; `few`: why it has few values, None if nothing says so."""

    function: str
    column: str
    few: Domain | None


@dataclass(frozen=True)
class Closing:
    """What `node` keeps of its input `kept` is closed by punctuations of `source` that are confined to `keys`.

    `scheme` is one that closes it, if there is one. `single`: the keys are constant, so that there is one entry
    at most; `domains`: for each key why it has finitely many values, empty if one has not. `nullable` are the
    attributes of the scheme that may be NULL: no punctuation but the end matches those. `values`: what is kept
    within an entry.
    """

    node: Closable
    kept: Plan
    source: Plan
    keys: tuple[str, ...]
    scheme: Scheme | None
    outside: tuple[Outside, ...]
    single: bool = False
    domains: tuple[tuple[str, Domain], ...] = ()
    nullable: tuple[str, ...] = ()
    values: tuple[Values, ...] = ()
    barred: tuple[str, ...] = ()
    """The attributes of a scheme that would close it all, were they not NULL in some rows that would stay."""
    early: Scheme | None = None
    """The bound by which rows of a ranking leave before their partition is closed."""
    out: bool = False
    """Of a frame: whether it is of rows that are out, and not of those that wait."""

    @property
    def few_entries(self) -> bool:
        return self.single or bool(self.domains)

    @property
    def bound(self) -> int | None:
        """How many entries there can be at the most, NULL counted as a value; None if that cannot be told."""
        if self.single:
            return 1
        sizes = [(few.size, present(self.kept, key)) for key, few in self.domains]
        known = [size if there else size + 1 for size, there in sizes if size is not None]
        return prod(known) if known and len(known) == len(sizes) else None

    @property
    def growing(self) -> tuple[Values, ...]:
        """What makes an entry grow for as long as it stays."""
        return tuple(each for each in self.values if each.few is None)

    @property
    def taking(self) -> bool:
        """Whether an entry takes ever more rows for as long as it stays."""
        return isinstance(self.node, Rank) and (self.node.limit is None or self.node.ties)

    @property
    def few(self) -> bool:
        """Bounded without any punctuation."""
        return self.few_entries and not self.growing and not self.taking

    @property
    def passed(self) -> bool:
        """Whether the scheme closes no entry, but lets its rows go one after the other."""
        used = self.scheme.attributes if isinstance(self.node, Rank) and self.scheme is not None else ()
        return not set(used) <= set(self.keys)


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
        case Session():
            return (_session(node, derivation),)
        case Sort(input=below):
            return (_sorting(node, below, derivation),)
        case Rank(input=below, partition=partition):
            return (_ranking(node, _closing(node, below, below, partition, derivation), derivation),)
        case Frame():
            return tuple(_framing(node, derivation))


def _closing(node: Closable, kept: Plan, source: Plan, keys: tuple[str, ...], derivation: Derivation) -> Closing:
    """Value schemes before ordered ones, fewest attributes first."""
    values = tuple(_values(node)) if isinstance(node, Group | Session) else ()
    growing = _endless(node, derivation) or any(each.few is None for each in values)
    within = sorted(
        (s for s in derivation.of(source) if set(keys).issuperset(s.attributes)),
        key=lambda s: (s.ordered, len(s.attributes)),
    )
    best = next((s for s in within if _all_closed(kept, keys, s, growing=growing)), None)
    barred = within[0].attributes if within and best is None else ()
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
        tuple(a for a in best.attributes if not present(kept, a)) if best else (),
        values,
        tuple(a for a in barred if not present(kept, a)),
    )


def _endless(node: Closable, derivation: Derivation) -> bool:
    """Whether what is kept under the keys grows until they are closed."""
    match node:
        case Session():
            return True
        case Rank() | Frame() if _leaving(node, derivation):
            return False
        case Rank():
            return node.limit is None or node.ties
        case Frame():
            return True
        case _:
            return False


def _leaving(node: Rank | Frame, derivation: Derivation) -> bool:
    """Whether every row goes when a bound has passed it, whatever becomes of its partition."""
    return passing(node, derivation.of(node.input)) is not None and present(node.input, node.order[0].column)


def _values(group: Group | Session) -> Iterator[Values]:
    """THEORY section 8: of each value of its argument a holistic aggregate keeps that it came, and how often."""
    for aggregate in group.aggregates:
        function = FUNCTIONS[aggregate.function]
        if function.holistic:
            for column in aggregate.arguments:
                yield Values(function.shown, column, domain(group.input, column))


def _all_closed(kept: Plan, keys: tuple[str, ...], scheme: Scheme, *, growing: bool) -> bool:
    """Whether little stays of rows with NULL in an attribute of the scheme, which no punctuation closes.

    What grows under one key has to be closed under each. Else NULL is one key more, which is little, unless an
    outer join puts it beside ever new values of the other keys.
    """
    if growing:
        return all(present(kept, attribute) for attribute in scheme.attributes)
    return all(
        not padded(kept, attribute) or all(domain(kept, key) for key in keys if key != attribute)
        for attribute in scheme.attributes
    )


def _sorting(sort: Sort, below: Plan, derivation: Derivation) -> Closing:
    """Rows go out in order, so only a bound that rises with the first key helps; nothing does for a falling one.

    Nor for one that may be NULL: such a row comes before all others, or after all that will ever come.
    """
    first = sort.keys[0]
    rising = Scheme((first.column,), ordered=True)
    nullable = () if present(below, first.column) else (first.column,)
    best = rising if rising in derivation.of(below) and not first.descending and not nullable else None
    outside = tuple(Outside(s, s.attributes) for s in derivation.of(below) if s != rising)
    return Closing(sort, below, below, (first.column,), best, outside, nullable=nullable)


def _ranking(rank: Rank, closing: Closing, derivation: Derivation) -> Closing:
    """Of few partitions that nothing closes, rows may go when a bound has passed them; their number stays. A row
    with NULL there does not go: then few rows have to be kept anyway."""
    bound = passing(rank, derivation.of(rank.input))
    closing = replace(closing, early=bound)
    if closing.scheme is not None or bound is None or not closing.few_entries:
        return closing
    nullable = tuple(a for a in bound.attributes if not present(rank.input, a))
    if nullable and closing.taking:
        return closing
    return replace(closing, scheme=bound, nullable=nullable, barred=())


def _session(node: Session, derivation: Derivation) -> Closing:
    """That keys have few values bounds nothing, since sessions of a key follow one another for ever: times would
    have to be few as well. Of these only a rising bound closes a session, which is told before all else."""
    by_keys = _closing(node, node.input, node.input, node.keys, derivation)
    rising = Scheme((node.time,), ordered=True)
    entries = (*node.keys, node.time)
    passed = rising in derivation.of(node.input)
    return replace(
        by_keys,
        keys=entries,
        scheme=rising if passed else by_keys.scheme,
        nullable=() if passed else by_keys.nullable,
        barred=() if passed else by_keys.barred,
        single=_single(node.input, entries),
        domains=_domains(node.input, entries),
    )


def _framing(frame: Frame, derivation: Derivation) -> Iterator[Closing]:
    """The rows that wait, and what frames reach of those that are out.

    A bound lets rows out one after the other, and out of the reach of a range. All other frames reach into their
    partition for as long as it is open. What waits for the end of its partition leaves nothing behind.
    """
    below, first = frame.input, frame.order[0].column
    bound = passing(frame, derivation.of(below))
    by_partition = _closing(frame, below, below, frame.partition, derivation)
    if bound is None or not present(below, first):
        _, time = _written(below, (first,))
        outside = tuple(each for each in by_partition.outside if not time.issuperset(each.scheme.attributes))
        yield replace(by_partition, outside=outside, single=False, domains=())
        return
    yield Closing(frame, below, below, (first,), bound, ())
    if any(each.reaches_back and (each.unit == "rows" or each.preceding is None) for each in frame.functions):
        yield replace(by_partition, out=True)


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


def _domains(plan: Plan, keys: tuple[str, ...]) -> tuple[tuple[str, Domain], ...]:
    found = [(key, domain(plan, key)) for key in keys]
    known = tuple((key, few) for key, few in found if few is not None)
    return known if len(known) == len(found) else ()
