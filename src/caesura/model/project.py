"""Projection: columns renamed, dropped and computed. Duplicates stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TypeAlias, cast

from caesura.model.operator import Row, Rows, Slice, State
from caesura.punctuation import (
    Constant,
    Empty,
    Listed,
    Pattern,
    Punctuation,
    Range,
    Value,
    Wildcard,
    confined,
    normal,
)

Source: TypeAlias = str | Callable[[Row], object]  # an input column unchanged, or computed from the row


@dataclass(frozen=True)
class Part:
    """An expression that rises between two values of its column only. The others give less than `least`, which is
    the least that those give."""

    low: int
    high: int
    least: Value


@dataclass(frozen=True)
class Project:
    """pass: all rows. prop: punctuations confined to the columns that survive, unchanged or in an expression that
    rises with them. keep: nothing."""

    outputs: tuple[tuple[str, Source], ...]
    rises: tuple[tuple[str, str], ...] = ()
    """Computed column → the one input column that it is computed from and never falls with."""
    strictly: frozenset[str] = frozenset()
    """Those of them that differ wherever the input column does."""
    partly: tuple[tuple[str, Part], ...] = ()
    """Those of them that rise in part only."""

    @cached_property
    def copies(self) -> dict[str, tuple[str, ...]]:
        """Input column → all the output columns that carry it unchanged."""
        copies: dict[str, tuple[str, ...]] = {}
        for name, source in self.outputs:
            if isinstance(source, str):
                copies[source] = (*copies.get(source, ()), name)
        return copies

    @cached_property
    def images(self) -> dict[str, tuple[str, ...]]:
        """Input column → all the output columns that speak of it."""
        images = dict(self.copies)
        for name, source in self.rises:
            images[source] = (*images.get(source, ()), name)
        return images

    def initial(self) -> State:
        return (Slice(),)

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        (held,), (arrived,) = state, new
        projected = tuple(self.projected(row) for row in arrived.rows)
        return projected, (Slice((), held.punctuations | arrived.punctuations),)

    def projected(self, row: Row) -> Row:
        return Row.of({name: row[s] if isinstance(s, str) else s(row) for name, s in self.outputs})

    def pass_(self, state: State) -> Rows:
        return ()

    def keep(self, state: State) -> State:
        return state

    def prop(self, kept: State) -> frozenset[Punctuation]:
        surviving = (p for p in kept[0].punctuations if confined(p, self.images))
        return frozenset(renamed for p in surviving for renamed in self.renamed(p))

    def renamed(self, p: Punctuation) -> Iterator[Punctuation]:
        """Under all its new names."""
        choices = ([(image, self.image(image, q)) for image in self.images[name]] for name, q in p.patterns)
        return map(Punctuation, product(*choices))

    def image(self, name: str, pattern: Pattern) -> Pattern:
        """What a pattern on an input column says of an output column. If several values have the same image, that
        of the end of a range may come again from beyond it, and that of a constant from its neighbours."""
        source, computed = dict(self.rises).get(name), dict(self.outputs)[name]
        if source is None or isinstance(computed, str):
            return pattern

        def at(value: object) -> Value:
            return cast(Value, computed(Row.of({source: value})))

        part = dict(self.partly).get(name)
        if part is not None:
            return _of_part(part, normal(pattern), at)
        exact = name in self.strictly
        match normal(pattern):
            case Constant(value) if exact:
                return Constant(at(value))
            case Listed(values) if exact:
                return Listed(frozenset(map(at, values)))
            case Range(low, high, low_open, high_open):
                return Range(
                    None if low is None else at(low),
                    None if high is None else at(high),
                    low_open=low_open or not exact,
                    high_open=high_open or not exact,
                )
            case Wildcard():
                return Wildcard()
            case _:
                return Empty()


def _of_part(part: Part, pattern: Pattern, at: Callable[[object], Value]) -> Pattern:
    """A range that ends where the expression rises says something of that part."""
    match pattern:
        case Wildcard():
            return pattern
        case Range(low, high) if all(v is None or part.low <= cast(int, v) <= part.high for v in (low, high)):
            return Range(
                part.least if low is None else at(low),
                None if high is None else at(high),
                low_open=low is not None,
                high_open=high is not None,
            )
        case _:
            return Empty()
