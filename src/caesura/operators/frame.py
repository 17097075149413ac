"""Functions over the rows before each row.

emit: a row, when its partition is closed or, with a bound that rises with the first key, up to it; pass on: what
closed it; keep: the rows that are not out, of the others those that a later frame can reach and, for frames
without a beginning, a partial result of each open partition.

What is out is in tables of its own. What they hold too long changes nothing: a frame passes over rows that are too
old for it, and nothing comes any more to a partition that is closed. So they are appended to, and purged when
they are written anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from caesura.catalog import Column
from caesura.operators.closed import NOTHING, Closed, covered, uncovered
from caesura.operators.operator import Change, Changes, Flow, State, StateTable
from caesura.operators.rows import Rows, quote, union
from caesura.operators.sort import spelled
from caesura.operators.store import Store, passed_on
from caesura.plan import SortKey

TURN = "turn of a row"
"""When a row counts: 0 a partial result, 1 a row that is out, 2 one that is due."""
PLACE = "place of a row"
"""The number of a row among those of its partition."""


@dataclass(frozen=True)
class Piece:
    """A column of partial results: what a row gives, and how two of them become one. The first and the last are
    those by place."""

    column: Column
    of_row: str
    fold: Literal["sum", "min", "max", "first", "last"]

    def folded(self, by: str) -> str:
        """The aggregate, in an order by this column."""
        name = quote(self.column.name)
        match self.fold:
            case "first" | "last":
                chosen = "min_by" if self.fold == "first" else "max_by"
                return f"{chosen}({name}, IF({name} IS NULL, NULL, {quote(by)}))"
            case fold:
                return f"{fold}({name})"

    def merged(self, by: str) -> str:
        return f"CAST({self.folded(by)} AS {self.column.type})"


@dataclass(frozen=True)
class Frame:
    prompt: ClassVar[bool] = False

    waiting: StateTable
    recent: StateTable | None
    """Rows that are out."""
    earlier: StateTable | None
    """Partial results of all rows that are out, by partition; in the place of the time, the last."""
    partition: tuple[str, ...]
    places: tuple[SortKey, ...]
    """The order, and what decides where it leaves rows equal. The first is the time."""
    pieces: tuple[Piece, ...]
    results: Mapping[str, str]
    """Result column → SQL with windows, over the rows of all turns with their places."""
    rows_back: int
    """So many rows of a partition frames reach back."""
    time_back: str | None
    """The last time from which frames in a range reach a row, as SQL over that row."""
    released: Store
    """The punctuations since the tables were last written anew: what they cover is out."""
    passed: Store | None = None
    passing: bool = False
    """Whether rows are emitted before their partition is closed."""

    @property
    def tables(self) -> tuple[StateTable, ...]:
        return (*self._of_rows, *self.released.tables, *(self.passed.tables if self.passed else ()))

    @property
    def _of_rows(self) -> tuple[StateTable, ...]:
        return (self.waiting, *(table for table in (self.recent, self.earlier) if table is not None))

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        return None

    def pass_(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        (source,) = inputs
        due = self._due(state, source)
        if due is None:
            return None
        outputs = {**{name: quote(name) for name in (*due.columns, TURN)}, **self.results}
        earlier, recent = (self._beside(due, self._held(state, table)) for table in (self.earlier, self.recent))
        parts = ((earlier, 0), (recent, 1), (self._with_pieces(due), 2))
        together = union(rows.extended({TURN: str(turn)}) for rows, turn in parts if rows is not None)
        assert together is not None
        found = self._placed(together).project(outputs)
        return found.where(f"{quote(TURN)} = 2").without(TURN)

    def keep(self, state: State, inputs: tuple[Flow, ...]) -> Changes:
        (source,) = inputs
        closing, tables = self._closing(source), [state[table.name] for table in self._of_rows]
        if source.rows is None and not closing and all(held.compact for held in tables):
            return {}
        anew = closing.everything or any(held.rewrite for held in tables)
        waiting = uncovered(self._open(state, source) if anew else source.rows, closing)
        due, said = self._due(state, source), self.released.read(state) | closing
        changes = {self.waiting.name: Change(waiting, anew)}
        if self.recent is not None:
            out = union((self._held(state, self.recent) if anew else None, due))
            changes[self.recent.name] = Change(self._reached(out, said), anew)
        if self.earlier is not None:
            known = self._held(state, self.earlier) if anew else None
            changes[self.earlier.name] = Change(self._partial(known, due, said), anew)
        released = self.released.replace(state, NOTHING) if anew else self.released.append(state, closing)
        return {**changes, **released}

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        (source,) = inputs
        return passed_on(self._closing(source), self.passed, state)

    def _closing(self, source: Flow) -> Closed:
        """What lets rows out: it speaks of whole partitions or, with `passing`, of all their first rows."""
        if not self.passing:
            return source.new.confined(self.partition)
        time = self.places[0].column
        begun = source.new.confined((*self.partition, time)).up_to({time: quote(time)})
        return replace(begun, terms={})

    def _due(self, state: State, source: Flow) -> Rows | None:
        """The rows that come out: several jobs read them."""
        closing = self._closing(source)
        due = covered(self._open(state, source), closing) if closing else None
        return None if due is None else state.share(f"due of {self.waiting.name}", due)

    def _open(self, state: State, source: Flow) -> Rows | None:
        """The rows that are not out; those that are may be held until the table is written anew."""
        return union((uncovered(state[self.waiting.name].rows, self.released.read(state)), source.rows))

    def _held(self, state: State, table: StateTable | None) -> Rows | None:
        return None if table is None else state[table.name].rows

    def _beside(self, due: Rows, held: Rows | None) -> Rows | None:
        """What is held of the partitions of rows that are due."""
        return held if held is None or not self.partition else held.alike(due.only(self.partition), self.partition)

    def _placed(self, rows: Rows) -> Rows:
        """With their numbers in their partitions."""
        turn = (f"{quote(TURN)} > 0",) if TURN in rows.columns else ()
        order = ", ".join((*turn, *map(spelled, self.places)))
        return rows.extended({PLACE: f"row_number() OVER ({self._each()} ORDER BY {order})"})

    def _each(self) -> str:
        return f"PARTITION BY {', '.join(map(quote, self.partition))}" if self.partition else ""

    def _reached(self, out: Rows | None, closed: Closed) -> Rows | None:
        """The rows among those that are out that frames with a beginning can reach."""
        rows = uncovered(out, closed.confined(self.partition))
        if rows is None:
            return None
        last = None
        if self.rows_back:
            columns = rows.columns
            counted = self._placed(rows).extended({TURN: f"count(*) OVER ({self._each()}) - {quote(PLACE)}"})
            last = counted.where(f"{quote(TURN)} < {self.rows_back}L").only(columns)
            rows = counted.where(f"{quote(TURN)} >= {self.rows_back}L").only(columns)
        if self.time_back is None:
            return last
        near = uncovered(rows, closed.up_to({self.places[0].column: self.time_back}))
        return union((last, near))

    def _partial(self, known: Rows | None, due: Rows | None, closed: Closed) -> Rows | None:
        """The partial results of what is due, or of that and all that is known."""
        closed = closed.confined(self.partition)
        open_ = uncovered(due, closed)
        new = None if open_ is None else self._merged(self._placed(self._with_pieces(open_)), PLACE)
        together = union((uncovered(known, closed), new))
        return together if together is None or known is None else self._merged(together, self.places[0].column)

    def _with_pieces(self, rows: Rows) -> Rows:
        return rows.extended({piece.column.name: piece.of_row for piece in self.pieces})

    def _merged(self, rows: Rows, by: str) -> Rows:
        time = self.places[0].column
        pieces = {piece.column.name: piece.merged(by) for piece in self.pieces}
        return rows.grouped(self.partition, {time: f"max({quote(time)})", **pieces})
