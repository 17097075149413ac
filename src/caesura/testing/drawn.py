"""Streams drawn at random that keep their promise: rows with NULLs and duplicates, punctuations of every kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from caesura.punctuation import Constant, Listed, Pattern, Punctuation, Range, Value, set_match
from caesura.punctuation_json import write
from caesura.testing.script import Item


@dataclass(frozen=True)
class Drawn:
    """What a stream is drawn from."""

    values: Mapping[str, Sequence[Value]]
    """Of every column, in order. NULL is drawn like one more of them."""
    closing: Sequence[Sequence[tuple[str, ...]]]
    """For each slice, the sets of columns that its punctuations speak of."""
    rising: str | None = None
    """A column without NULLs, of which each slice has greater values than the slices before."""

    def slices(self, rows: int, seed: int) -> Iterator[list[Item]]:
        """With so many rows each, of which about every fifth repeats another."""
        rng = Random(seed)
        said: list[Punctuation] = []
        count = len(self.closing)
        for number, speaking_of in enumerate(self.closing):
            possible = self._rows(number / count, (number + 1) / count)
            drawn = rng.choices([row for row in possible if not set_match(row, said)], k=rows - rows // 5)
            closings = [each for columns in speaking_of for each in self._closings(rng, columns)]
            yield [*drawn, *rng.sample(drawn, rows // 5), *map(write, closings)]
            said += closings

    def _rows(self, start: float, end: float) -> Iterator[dict[str, Value | None]]:
        """Every row of the part of the stream between two fractions of it."""
        values = {name: [*listed, None] for name, listed in self.values.items()}
        if self.rising is not None:
            rising = self.values[self.rising]
            values[self.rising] = [*rising[round(start * len(rising)) : round(end * len(rising))]]
        for row in product(*values.values()):
            yield dict(zip(values, row, strict=True))

    def _closings(self, rng: Random, columns: tuple[str, ...]) -> Iterator[Punctuation]:
        """One of constants, one of lists, one of ranges, and one with any of these."""
        for kinds in ((_constant,), (_listed,), (_range,), (_constant, _listed, _range)):
            yield Punctuation.of({name: rng.choice(kinds)(rng, self.values[name]) for name in columns})


def _constant(rng: Random, values: Sequence[Value]) -> Pattern:
    return Constant(rng.choice(values))


def _listed(rng: Random, values: Sequence[Value]) -> Pattern:
    return Listed(frozenset(rng.sample(values, 2)))


def _range(rng: Random, values: Sequence[Value]) -> Pattern:
    """A quarter of the values; at the first and last one without an end."""
    first = rng.randrange(len(values))
    last = first + len(values) // 4
    low = values[first] if first else None
    high = values[last] if last + 1 < len(values) else None
    return Range(low, high, rng.random() < 0.5, rng.random() < 0.5)
