"""What a slice did, in figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from caesura.planning.statistics import Statistics


@dataclass(frozen=True)
class Progress:
    """Counts are of the slice, except those that say otherwise."""

    slice: int
    rows_in: int
    rows_out: int
    punctuations: int
    state_rows: int
    """Rows that operators hold after the slice."""
    punctuation_rows: int
    """Entries of the punctuation tables after the slice."""
    seconds: float
    set_aside: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """What went into quarantine: stream → reason → how many."""
    set_aside_total: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The same over all slices."""
    examples: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """The first few of them: stream → reason → why, and the row."""
    released: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Which rows left the state of joins, as far as it is counted: state table → rule → how many."""
    released_total: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The same over all slices."""
    demand: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """What joins did on demand, per state table: `suspended` rows after the slice, and how many were `resumed`;
    partial results `made` and, if every rule is counted, `never made`."""
    demand_total: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The same over all slices; rows that are `suspended` now."""
    state: Mapping[str, int] = field(default_factory=dict)
    """Rows after the slice, per state table."""
    output: Mapping[str, int] = field(default_factory=dict)
    """Result rows, per query."""
    statistics: Statistics = field(default_factory=Statistics)
    """The traffic of the streams over all slices: rows per second and, if every rule is counted, open values."""
    phases: Mapping[str, float] = field(default_factory=dict)
    """Seconds per phase of the slice."""
    unbounded: tuple[str, ...] = ()
    """The states that are not proven bounded, if the query was started all the same."""

    @property
    def quarantined(self) -> int:
        return sum(_per_stream(self.set_aside).values())

    @property
    def quarantined_total(self) -> int:
        return sum(_per_stream(self.set_aside_total).values())

    @property
    def given_up_total(self) -> int:
        """Rows that OPTIONS (release …) has given up, over all slices."""
        return sum(rules.get("release", 0) for rules in self.released_total.values())

    def on_demand(self, what: str) -> int:
        """Of all joins together, over all slices."""
        return sum(counts.get(what, 0) for counts in self.demand_total.values())

    @property
    def rows_per_second(self) -> float:
        return self.rows_in / self.seconds if self.seconds else 0.0

    def line(self) -> str:
        """One line for a terminal."""
        parts = [
            f"slice {self.slice}",
            f"{self.rows_in:,} rows in",
            f"{self.rows_out:,} out",
            f"{self.state_rows:,} in state",
            f"{self.punctuations:,} punctuations",
            f"{self.rows_per_second:,.0f} rows/s",
        ]
        if self.demand_total:
            parts.append(f"{self.on_demand('suspended'):,} suspended, {self.on_demand('resumed'):,} resumed")
            parts.append(f"{self.on_demand('made'):,} partial results")
            if unmade := self.on_demand("never made"):
                parts[-1] += f", {unmade:,} never made"
        if self.quarantined_total:
            streams = ", ".join(f"{n:,} of {name}" for name, n in _per_stream(self.set_aside_total).items())
            parts.append(f"{self.quarantined_total:,} quarantined: {streams}")
        if self.given_up_total:
            parts.append(f"{self.given_up_total:,} given up by OPTIONS (release …)")
        if self.unbounded:
            parts.append(f"UNBOUNDED: {', '.join(self.unbounded)}")
        return " · ".join(parts)


def _per_stream(counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {name: sum(reasons.values()) for name, reasons in counts.items()}
