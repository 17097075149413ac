"""Where the time of a slice goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter


@dataclass
class Laps:
    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=perf_counter)

    def end(self, phase: str) -> None:
        """A phase may come again, if the slice is done again."""
        now = perf_counter()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._last
        self._last = now

    @property
    def total(self) -> float:
        return sum(self.seconds.values())
