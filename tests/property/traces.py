"""Generated traces: the slices that arrive at an operator, from a number that names them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise, product
from random import Random
from typing import NamedTuple, TypeAlias, TypeVar

from caesura.model.operator import Row
from caesura.punctuation import Constant, Empty, Listed, Pattern, Punctuation, Range, Value, match

T = TypeVar("T")
Values: TypeAlias = tuple[object, ...]
Bag: TypeAlias = tuple[Values, ...]


@dataclass(frozen=True, eq=False)
class Closing:
    """A punctuation, with the rows over the domain that it rules out."""

    punctuation: Punctuation
    rows: frozenset[Values]

    def __repr__(self) -> str:
        return ", ".join(f"{name}: {pattern}" for name, pattern in self.punctuation.patterns) or "EVERYTHING"


class Arrival(NamedTuple):
    """What arrives of one input in one slice. Rows are plain tuples, in the order of the input's domain."""

    rows: Bag
    closings: tuple[Closing, ...]


Trace: TypeAlias = tuple[tuple[Arrival, ...], ...]  # slice by slice, one arrival of each input


@dataclass(frozen=True, eq=False)
class Domain:
    """The values that an attribute of an input takes, and those that it takes only in rows yet to come.

    The latter make a small domain speak for an infinite one: between two values another may always come.
    """

    values: dict[str, tuple[object, ...]]
    later: dict[str, tuple[object, ...]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    @cache  # noqa: B019 - domains live as long as the tests
    def rows(self) -> Bag:
        return tuple(product(*self.values.values()))

    @cache  # noqa: B019
    def possible(self) -> Bag:
        """Every row that may come."""
        return tuple(product(*(values + self.later.get(name, ()) for name, values in self.values.items())))

    @cache  # noqa: B019
    def row(self, values: Values) -> Row:
        return Row.of(dict(zip(self.values, values, strict=True)))

    @cache  # noqa: B019
    def patterns(self, name: str) -> tuple[tuple[Pattern, ...], ...]:
        return patterns(tuple(value for value in self.values[name] if isinstance(value, int)))

    @cache  # noqa: B019
    def closing(self, chosen: tuple[tuple[str, int, int], ...]) -> Closing:
        said = Punctuation(tuple((name, self.patterns(name)[kind][n]) for name, kind, n in chosen))
        return Closing(said, frozenset(row for row in self.possible() if match(self.row(row), said)))

    def some_closing(self, rng: Random) -> Closing:
        """Mostly about one attribute: operators use only what is confined to some."""
        about = [name for name in self.values if rng.random() < 0.25] or [rng.choice(self.names)]
        if rng.random() < 0.04:
            about = []
        return self.closing(tuple(self._some_pattern(name, rng) for name in about))

    def _some_pattern(self, name: str, rng: Random) -> tuple[str, int, int]:
        kinds = self.patterns(name)
        (kind,) = rng.choices(range(len(kinds)), (6, 2, 6, 3, 3, 1))
        return name, kind, rng.randrange(len(kinds[kind]))

    def still(self, closings: Sequence[Closing]) -> Bag:
        """The rows that may still come."""
        return tuple(row for row in self.possible() if not any(row in each.rows for each in closings))

    def end(self) -> Closing:
        return self.closing(())


@dataclass(frozen=True, eq=False)
class Bounded(Domain):
    """One attribute is closed only up to a bound, as a time is."""

    bounded: str = ""

    @cache  # noqa: B019
    def patterns(self, name: str) -> tuple[tuple[Pattern, ...], ...]:
        kinds = super().patterns(name)
        return (kinds[2],) * len(kinds) if name == self.bounded else kinds


def patterns(values: tuple[Value, ...]) -> tuple[tuple[Pattern, ...], ...]:
    """By kind, over the values and between them: constants, lists, ranges that end, begin, both, and nothing."""
    opened = (False, True)
    return (
        tuple(map(Constant, values)),
        tuple(Listed(frozenset(some)) for some in (values, values[:2], values[-2:])),
        tuple(Range(high=value, high_open=each) for value, each in product(values, opened)),
        (Range(), *(Range(low=value, low_open=each) for value, each in product(values, opened))),
        tuple(
            Range(low, high, *each)
            for (low, high), each in product(pairwise((values[0], *values)), product(opened, opened))
        ),
        (Empty(), Range(1, 0), Listed(frozenset())),
    )


def generated(domains: Sequence[Domain], number: int) -> Trace:
    """One to three slices, grammatical. A third of the traces then ends, and a third with all that may still come:
    what an operator has forgotten too early shows only when it is missed.
    """
    rng = Random(number)
    closings: list[tuple[Closing, ...]] = [()] * len(domains)
    slices: list[tuple[Arrival, ...]] = []
    for _ in range(rng.choice((1, 2, 3))):
        slice = []
        for i, domain in enumerate(domains):
            rows = rng.choices(domain.rows(), k=rng.choice((0, 1, 1, 2, 3)))
            said = tuple(domain.some_closing(rng) for _ in range(rng.choice((0, 1, 1, 2))))
            slice.append(Arrival(tuple(r for r in rows if not any(r in c.rows for c in closings[i])), said))
            closings[i] += said
        slices.append(tuple(slice))
    match rng.randrange(3):
        case 0:
            slices.append(tuple(Arrival((), (domain.end(),)) for domain in domains))
        case 1:
            slices.append(
                tuple(Arrival(d.still(said), (d.end(),)) for d, said in zip(domains, closings, strict=True))
            )
    return tuple(slices)


def shrunk(trace: Trace, fails: Callable[[Trace], bool]) -> Trace:
    """Without the slices, rows and punctuations that the failure does not need."""
    for smaller in _smaller(trace):
        if fails(smaller):
            return shrunk(smaller, fails)
    return trace


def _smaller(trace: Trace) -> Iterator[Trace]:
    yield from (fewer for fewer in _one_less(trace) if fewer)
    for n, slice in enumerate(trace):
        for i, (rows, closings) in enumerate(slice):
            fewer_rows = [Arrival(less, closings) for less in _one_less(rows)]
            for arrival in (*fewer_rows, *(Arrival(rows, less) for less in _one_less(closings))):
                yield (*trace[:n], (*slice[:i], arrival, *slice[i + 1 :]), *trace[n + 1 :])


def _one_less(items: tuple[T, ...]) -> list[tuple[T, ...]]:
    return [items[:n] + items[n + 1 :] for n in range(len(items))]
