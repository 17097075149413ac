"""What lets go of the rows of a join, counted: the rules of a join of punctuated and windowed streams (PWJoin).

- window: a row has left, since no partner can be so late any more (invalidation);
- punctuation: a row has left, since its partners are closed (purge);
- on arrival: a row was joined but never stored, since no partner can come any more (on-the-fly discard);
- alone: of these, in a join of two streams, the rows that found no partner at all: what closed them could be
  passed on before they came;
- release: a row was given up by OPTIONS (release …), although a partner could still come;
- passed on: punctuations that the join gave to whoever reads it, as constants or ranges.

And what a join does on demand:

- resumed: a suspended row became active;
- made: a partial result was made;
- never made: a tree without demand would have made a partial result (less those that were made later).

Rows leave when their table is written anew, and are counted then. Only release can lose results, and it is always
counted, as what is resumed and made; the others take joins of their own to count, and are counted on request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from caesura.operators.closed import Closed, as_data, covered
from caesura.operators.demand import Demanded, DemandedSlice
from caesura.operators.join import Join
from caesura.operators.operator import Flow, State
from caesura.operators.rows import Rows

Rule = Literal[
    "window", "punctuation", "on arrival", "alone", "release", "passed on", "resumed", "made", "never made"
]
ON_DEMAND: tuple[Rule, ...] = ("resumed", "made", "never made")


@dataclass(frozen=True)
class Count:
    """The rows of a state table that a rule lets go: so many as these tables have, less those. What is passed on
    is counted for the join as a whole."""

    table: str
    rule: Rule
    rows: tuple[Rows | None, ...]
    less: tuple[Rows | None, ...] = ()

    @property
    def tables(self) -> Iterator[Rows]:
        return (rows for rows in (*self.rows, *self.less) if rows is not None)

    def number(self, found: Mapping[Rows, int]) -> int:
        plus, minus = (sum(found[each] for each in some if each is not None) for some in (self.rows, self.less))
        return plus - minus


def counts(
    join: Join, state: State, inputs: tuple[Flow, ...], passed: Closed, *, every_rule: bool
) -> Iterator[Count]:
    """What has to be counted in a slice, in which the join passes this on."""
    if every_rule:
        passed = as_data(passed, {})
        yield Count(join.name, "passed on", (*passed.points.values(), passed.boxes))
    if isinstance(join, Demanded):
        yield from _demand(DemandedSlice(join, state, inputs), every_rule=every_rule)
    for i, side in enumerate(join.sides):
        if side.finite or side.synopsis is not None or not (every_rule or side.release is not None):
            continue
        name, arrived = side.table.name, inputs[i].rows
        held = join.stored(state, i) if join.anew(state, inputs, i) else state[name].due
        staying, stored = (join.awaited(state, inputs, i, rows) for rows in (held, arrived))
        if side.release is not None:
            given_up = join.given_up(inputs, i)
            yield Count(name, "release", (covered(staying, given_up), covered(stored, given_up)))
        if every_rule:
            in_time = join.unexpired(state, inputs, i, held)
            yield Count(name, "window", (held,), (in_time,))
            yield Count(name, "punctuation", (in_time,), (staying,))
            yield Count(name, "on arrival", (arrived,), (stored,))
            yield Count(name, "alone", (join.alone(state, inputs, i, arrived),))


def _demand(slice: DemandedSlice, *, every_rule: bool) -> Iterator[Count]:
    for i, rows in slice.resumed.items():
        yield Count(slice.join.suspended[i].name, "resumed", (rows,))
    for part in slice.join.tree.below:
        if part.made is not None:
            made = slice.added[part].new
            yield Count(part.made.name, "made", (made,))
            if every_rule:
                yield Count(part.made.name, "never made", (slice.possible(part),), (made,))


def released(counted: Iterable[Count], found: Mapping[Rows, int]) -> dict[str, dict[str, int]]:
    """State table → rule → number of rows."""
    numbers: dict[str, dict[str, int]] = {}
    for count in counted:
        if number := count.number(found):
            numbers.setdefault(count.table, {})[count.rule] = number
    return numbers
