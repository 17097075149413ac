"""Punctuations purged by punctuations (THEORY section 7): constants that nobody will ask for again are forgotten.

The streams of a join that have a column for a value forget it together, once all of them have closed it and none
has a row with it left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from caesura.operators.closed import Attributes, Closed, uncovered
from caesura.operators.operator import Change, Changes, Flow, State
from caesura.operators.rows import Rows, union
from caesura.operators.store import Store


@dataclass(frozen=True)
class Remembered:
    """Where the constants of a stream are, and the value that each of its attributes is."""

    store: Store
    values: Mapping[str, str]

    @property
    def attributes(self) -> Attributes:
        return tuple(self.values)

    @property
    def table(self) -> str:
        return self.store.table(self.attributes)

    def forgetting(
        self, state: State, changes: Changes, others: Sequence[Closed], left: Sequence[Rows]
    ) -> Changes:
        """Only what one of the others has not closed stays, and what is in a row that is left."""
        back = {value: name for name, value in self.values.items()}

        def staying(constants: Rows) -> Rows | None:
            named = constants.renamed(self.values)
            still_open = (uncovered(named, closed) for closed in others)
            waited_for = (named.matching(rows, rows.columns) for rows in left)
            stays = union((*still_open, *waited_for))
            return None if stays is None else stays.distinct().renamed(back)

        return self.store.forgetting(state, changes, self.attributes, staying)


@dataclass(frozen=True)
class Partner:
    """An input of the join that has a column for some of the values."""

    input: int
    rows: tuple[str, ...]
    """The tables of its rows."""
    values: Mapping[str, str]
    """Its columns → the value that each is, which has one name for all partners."""
    remembered: Remembered | None
    """None: it holds no constants on all of the values, or they coalesce."""

    def left(self, state: State, changes: Changes) -> Rows | None:
        """The values in its tables after the slice. Rows that are gone but not yet from a table count too: they
        are judged again by what is remembered then."""
        rows = union(state.after(table, changes) for table in self.rows)
        column_of = {value: column for column, value in self.values.items()}
        return None if rows is None else rows.renamed({column: value for value, column in column_of.items()})


@dataclass(frozen=True)
class Partners:
    """The inputs of a join that have to do with some values."""

    partners: tuple[Partner, ...]

    def forget(self, state: State, changes: Changes, inputs: tuple[Flow, ...]) -> Changes:
        """What is remembered after the slice, in the place of what these changes say.

        Only a punctuation closes values or lets rows go. All is judged before anything is forgotten, and either
        all is written anew or nothing, so that none is left to wait for what another has forgotten.
        """
        closed = {each.input: inputs[each.input].closed.renamed(each.values) for each in self.partners}
        if not (any(flow.new for flow in inputs) and all(closed.values()) and self._due(state)):
            return {}
        left = [rows for each in self.partners if (rows := each.left(state, changes)) is not None]
        remembered: dict[str, Change] = {}
        for partner in self.partners:
            if partner.remembered is not None:
                others = [said for i, said in closed.items() if i != partner.input]
                remembered |= partner.remembered.forgetting(state, changes, others, left)
        return remembered

    def _due(self, state: State) -> bool:
        """Whether every table is due to be written anew, or one that is large, and so seldom is."""
        held = [state[each.remembered.table] for each in self.partners if each.remembered is not None]
        return all(each.rewrite for each in held) or any(each.rewrite and not each.compact for each in held)
