"""The shape that all operators of the model share, and the loop that drives them.

The model is the meaning of each operator over finite bags, written to be believed rather than to be fast.
The operators on Spark are held to it slice by slice: rows, punctuations and rows kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Protocol, TypeAlias

from caesura.punctuation import Punctuation, Range, confined, match, matches


@dataclass(frozen=True)
class Row(Mapping[str, object]):
    """An immutable mapping; `cells` is sorted by attribute, so that equal rows are equal values."""

    cells: tuple[tuple[str, object], ...] = ()

    @staticmethod
    def of(values: Mapping[str, object]) -> Row:
        return Row(tuple(sorted(values.items(), key=itemgetter(0))))

    def __getitem__(self, name: str) -> object:
        for attribute, value in self.cells:
            if attribute == name:
                return value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (attribute for attribute, _ in self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __or__(self, other: Row) -> Row:
        return Row.of(dict(self.cells + other.cells))


@dataclass(frozen=True)
class Band:
    """Where rows meet, `column` is at most `by` + `more`."""

    column: str
    by: str
    more: int = 0

    def end(self, row: Mapping[str, object]) -> int | float | None:
        """The most that a partner's column can be; None if it can be nothing."""
        known = row[self.by]
        return known + self.more if isinstance(known, int | float) else None

    def holds(self, row: Mapping[str, object]) -> bool:
        """As far as the row has the attributes: a NULL is within nothing."""
        if any(name in row and row[name] is None for name in (self.column, self.by)):
            return False
        return not {self.column, self.by} <= row.keys() or matches(Range(high=self.end(row)), row[self.column])


def covered(pinned: Mapping[str, object], ends: Mapping[str, object], said: Iterable[Punctuation]) -> bool:
    """Whether a punctuation rules out all rows with these values, and with others up to these ends."""
    values = {**pinned, **ends}
    return any(
        confined(p, values)
        and match(values, p)
        and all(isinstance(each, Range) and each.low is None for name, each in p.patterns if name in ends)
        for p in said
    )


Rows: TypeAlias = tuple[Row, ...]
Predicate: TypeAlias = Callable[[Row], bool | None]  # None is SQL's unknown, which does not satisfy


@dataclass(frozen=True)
class Slice:
    """A finite bag of rows and a finite set of punctuations.

    What arrives of an input at once is a slice, and so is what an operator remembers of it.
    """

    rows: Rows = ()
    punctuations: frozenset[Punctuation] = frozenset()

    def __add__(self, other: Slice) -> Slice:
        return Slice(self.rows + other.rows, self.punctuations | other.punctuations)


State: TypeAlias = tuple[Slice, ...]  # one per input


@dataclass(frozen=True)
class Output:
    """What one slice led to: the rows and punctuations that went out, and the rows kept of each input."""

    rows: Rows
    punctuations: frozenset[Punctuation]
    kept: tuple[Rows, ...]


class Operator(Protocol):
    """Inputs are grammatical: the source has quarantined the rows that break a promise."""

    def initial(self) -> State: ...

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        """The rows that new rows lead to at once, and the state with all that is new in it."""

    def pass_(self, state: State) -> Rows:
        """The rows that punctuations now release."""

    def keep(self, state: State) -> State:
        """What must stay."""

    def prop(self, kept: State) -> frozenset[Punctuation]:
        """Every punctuation that holds for the rest of the output, whether passed on before or not."""


def run(operator: Operator, slices: Iterable[Sequence[Slice]]) -> Iterator[Output]:
    """Each element of `slices` has one slice of every input, possibly empty, as a micro-batch has.

    A punctuation is passed on once, in the first slice in which `prop` allows it (the minimality condition).
    `prop` comes after `keep`: it may speak of rows that this very slice has purged.
    """
    state = operator.initial()
    passed: frozenset[Punctuation] = frozenset()
    for new in slices:
        produced, state = operator.step(state, new)
        released = operator.pass_(state)
        state = operator.keep(state)
        due = operator.prop(state) - passed
        passed |= due
        yield Output(produced + released, due, tuple(held.rows for held in state))
