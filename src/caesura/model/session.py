"""Sessions: groups that time tells apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from caesura.model.aggregates import result
from caesura.model.group import arguments, came
from caesura.model.operator import Row, Rows, Slice, State, covered
from caesura.plan import SESSION_END, SESSION_START, Aggregate
from caesura.punctuation import Pattern, Punctuation, Range, confined, rank


@dataclass(frozen=True)
class Session:
    """pass: the result of each session of which no row can come any more: a punctuation confined to the keys and
    the time closes its key up to its end, or altogether. prop: those punctuations, of the end in the place of the
    time. keep: the other sessions, with all that came for each aggregate.

    A row as late as the end, `gap` after the last row, belongs to the session, as in Spark; a row without a time
    to none. What closes times must be open to the left: before the first row too one may come that belongs to it.
    As with groups one punctuation has to close it, not several together.

    An end that is open is after all that is closed, and can only move on; a session that has not begun will end
    later still. So what is closed of times is closed of ends. It is not of starts.
    """

    time: str
    gap: int
    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]

    def initial(self) -> State:
        return (Slice(),)

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        (held,), (arrived,) = state, new
        alone = (self.opened(row) for row in arrived.rows if row[self.time] is not None)
        sessions = tuple(self.joined((*held.rows, *alone)))
        return (), (Slice(sessions, held.punctuations | arrived.punctuations),)

    def opened(self, row: Row) -> Row:
        """The session of one row."""
        time = cast(int, row[self.time])
        ends = {SESSION_START: time, SESSION_END: time + self.gap}
        values = {a.result.name: (arguments(row, a),) for a in self.aggregates}
        return Row.of({**{name: row[name] for name in self.keys}, **ends, **values})

    def joined(self, sessions: Iterable[Row]) -> Iterator[Row]:
        """Each with those that it overlaps or touches, in the order of their starts."""
        last: dict[tuple[object, ...], Row] = {}
        for session in sorted(sessions, key=start):
            before = last.get(key := self.key(session))
            if before is not None and self.meet(before, session):
                session = self.both(before, session)
            elif before is not None:
                yield before
            last[key] = session
        yield from last.values()

    def key(self, row: Row) -> tuple[object, ...]:
        """Equal for rows of one key: as `rank`, but NULL equals NULL."""
        return tuple(rank(row[name]) or row[name] for name in self.keys)

    def meet(self, before: Row, after: Row) -> bool:
        return start(after) <= end(before)

    def both(self, before: Row, after: Row) -> Row:
        values = {a.result.name: came(before, a) + came(after, a) for a in self.aggregates}
        return Row.of({**before, SESSION_END: max(end(before), end(after)), **values})

    def finished(self, session: Row) -> Row:
        return Row.of(dict(session) | {a.result.name: result(a, came(session, a)) for a in self.aggregates})

    def complete(self, session: Row, said: Iterable[Punctuation]) -> bool:
        return covered({name: session[name] for name in self.keys}, {self.time: session[SESSION_END]}, said)

    def pass_(self, state: State) -> Rows:
        (held,) = state
        return tuple(self.finished(each) for each in held.rows if self.complete(each, held.punctuations))

    def keep(self, state: State) -> State:
        (held,) = state
        rest = tuple(each for each in held.rows if not self.complete(each, held.punctuations))
        return (Slice(rest, held.punctuations),)

    def prop(self, kept: State) -> frozenset[Punctuation]:
        closing = (p for p in kept[0].punctuations if confined(p, (*self.keys, self.time)))
        return frozenset(
            Punctuation(tuple((SESSION_END if name == self.time else name, each) for name, each in p.patterns))
            for p in closing
            if all(name != self.time or self.closes(each) for name, each in p.patterns)
        )

    def closes(self, times: Pattern) -> bool:
        """Whether it leaves no time before those that it closes."""
        return isinstance(times, Range) and times.low is None


def start(session: Row) -> int:
    return cast(int, session[SESSION_START])


def end(session: Row) -> int:
    return cast(int, session[SESSION_END])
