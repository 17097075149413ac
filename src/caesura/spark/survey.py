"""A slice is surveyed first, in one job over few columns.

How many rows and punctuations of each kind there are, how many rows break a promise, how far an ordered column has
come. In the usual case nothing is broken, and then the later jobs of the slice need not ask again; and what does
not occur is left out of their plans.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql.functions import expr

from caesura.operators.frames import Frame, quote, union
from caesura.spark.inputs import PUNCTUATION
from caesura.spark.punctuations import kinds, text
from caesura.spark.sources import CORRUPT

if TYPE_CHECKING:
    from caesura.spark.contract import Arrivals

_BOUND, _PLAIN = "bound of ", "plain "


@dataclass(frozen=True)
class Survey:
    """The scalars found in a slice of one stream."""

    rows: int = 0
    admitted: int = 0
    repeated: int = 0
    corrupt: int = 0
    bounds: Mapping[str, str] = field(default_factory=dict)
    """How far ordered columns have come, as texts."""
    plain: Mapping[str, int] = field(default_factory=dict)
    """The attributes of which plain punctuations occur, and how many."""
    kinds: Mapping[str, int] = field(default_factory=dict)
    """The kinds of the other punctuations that occur, and how many."""
    parsed: Frame = None
    """The other punctuations, read."""

    @property
    def punctuations(self) -> int:
        return sum(self.plain.values()) + sum(self.kinds.values())

    @property
    def broken(self) -> bool:
        """Whether a row breaks the contract."""
        return self.repeated > 0 or self.admitted < self.rows


def survey(arrivals: Mapping[str, Arrivals]) -> dict[str, Survey]:
    """All streams in one job that writes nothing: the figures are metrics, observed as the rows run through.

    Where there are punctuations that are not plain, another job reads them and cuts them off from the plan that
    read them, which is a large one.
    """
    measurements = {name: _Measurement(each) for name, each in arrivals.items()}
    rows = union(frame.selectExpr("1 AS one") for each in measurements.values() for frame in each.frames)
    if rows is None:
        return {}
    rows.write.format("noop").mode("overwrite").save()
    return {name: each.result() for name, each in measurements.items()}


class _Measurement:
    """The frames to run for one stream, and the metrics that are observed in them."""

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._raw, self._admitted, self._repeated = (Observation() for _ in range(3))
        self._expected = [self._raw]
        counts = {
            "rows": f"count_if({PUNCTUATION} IS NULL AND {CORRUPT} IS NULL)",
            "corrupt": f"count({CORRUPT})",
            "punctuations": f"count({PUNCTUATION})",
            **{f"{_PLAIN}{name}": f"count_if({sql})" for name, sql in arrivals.plain().items()},
        }
        raw = arrivals.raw.observe(self._raw, *_named(counts))
        self.frames = [raw]
        if (admitted := arrivals.admitted(raw)) is None:
            return
        bounds = {f"{_BOUND}{o.column}": f"CAST({arrivals.bound(o)} AS STRING)" for o in arrivals.contract.ordered}
        self.frames = [admitted.observe(self._admitted, *_named({"admitted": "count(*)", **bounds}))]
        self._expected.append(self._admitted)
        if (repeated := union(arrivals.repeated_keys())) is not None:
            self.frames.append(repeated.observe(self._repeated, *_named({"repeated": "sum(count - 1)"})))
            self._expected.append(self._repeated)

    def result(self) -> Survey:
        found = {name: value for each in self._expected for name, value in each.get.items()}
        bounds = {name.removeprefix(_BOUND): value for name, value in found.items() if name.startswith(_BOUND)}
        plain = {name.removeprefix(_PLAIN): n for name, n in found.items() if name.startswith(_PLAIN) and n}
        others = found["punctuations"] - sum(plain.values())
        parsed, kinds = self._punctuations() if others else (None, {})
        return Survey(
            rows=found["rows"],
            admitted=found.get("admitted", 0),
            repeated=found.get("repeated") or 0,
            corrupt=found["corrupt"],
            bounds={column: bound for column, bound in bounds.items() if bound is not None},
            plain=plain,
            kinds=kinds,
            parsed=parsed,
        )

    def _punctuations(self) -> tuple[DataFrame, dict[str, int]]:
        counted = Observation()
        per_kind = {kind: f"count_if(kind = {text(kind)})" for kind in kinds(self._arrivals.contract.store.keys)}
        parsed = self._arrivals.parsed().observe(counted, *_named(per_kind)).localCheckpoint(eager=True)
        return parsed, {kind: n for kind, n in counted.get.items() if n}


def _named(metrics: Mapping[str, str]) -> list[Column]:
    return [expr(f"{sql} AS {quote(name)}") for name, sql in metrics.items()]
