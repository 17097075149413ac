"""When what punctuations cover leaves the files of a state table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from caesura.checkpoint.manifest import Part, TableVersion
from caesura.operators.operator import StateTable


@dataclass(frozen=True)
class PurgePolicy:
    """When a table is written anew, without what punctuations cover. Up to `eager_rows` that is at every slice
    (eager purge); above, when as much was appended as the base holds or after `max_deltas` slices (lazy purge). A
    table whose rows stay or go by themselves is written anew piece by piece, the oldest at every slice, so that no
    slice takes much longer than the others.

    To join up punctuations takes longer than to append them: up to `eager_punctuations` it is done at every slice,
    and up to a tenth of what the last slice brought where they grow together in one pass over them.

    What is set aside stays for as many slices as `keep_quarantined`, of those that set something aside.
    """

    eager_rows: int = 100_000
    max_deltas: int = 16
    eager_punctuations: int = 1_000
    keep_quarantined: int = 1_000

    def rewrite(self, version: TableVersion, table: StateTable, arrived: int = 0) -> bool:
        """`arrived`: the rows and punctuations of the last slice."""
        base, eager = version.base.rows if version.base else 0, self.eager_rows
        if table.holds == "punctuations":
            in_one_pass = table.intervals_of is not None and table.intervals_of[1].enumerable
            eager = min(eager, max(self.eager_punctuations, arrived // 10 if in_one_pass else 0))
        if table.eager or version.rows <= eager:
            return True
        return not table.piecewise and (version.appended >= base or len(version.deltas) >= self.max_deltas)

    def piece(self, rows: int) -> int:
        """The rows of a piece of a table of so many."""
        return max(self.eager_rows // 2, rows // self.max_deltas, 1)

    def due(self, version: TableVersion) -> tuple[Part, ...]:
        """The oldest parts, as many as make a piece."""
        before = accumulate((part.rows for part in version.parts), initial=0)
        piece = self.piece(version.rows)
        return tuple(part for part, rows in zip(version.parts, before, strict=False) if rows < piece)
