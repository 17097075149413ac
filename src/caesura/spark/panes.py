"""Time buckets that overlap, in panes: pieces of time that no bucket begins or ends within."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from caesura import plan
from caesura.catalog import Interval
from caesura.expression import Expr
from caesura.operators.group import Panes
from caesura.operators.rows import quote
from caesura.safety.monotone import starts_window

_MOST = 64
"""Panes of a bucket. Of more, most would have few rows, and to group by them first would save little."""


@dataclass(frozen=True)
class Overlapping:
    """Buckets of this size that begin every `slide`, counted from `start`, in microseconds."""

    time: str
    size: int
    slide: int
    start: int

    @property
    def pane(self) -> str:
        """The beginning of the pane that a row is in, as SQL; NULL without a time."""
        length = gcd(self.size, self.slide)
        micros = f"unix_micros({self.time})"
        return f"timestamp_micros({micros} - pmod({micros} - {self.start}L, {length}L))"

    def panes(self, key: str) -> Panes:
        lengths = ", ".join(f"'{length} microseconds'" for length in (self.size, self.slide, self.start))
        return Panes(key, f"window({quote(key)}, {lengths}).start")


def overlapping(project: plan.Project) -> dict[str, Overlapping]:
    """The outputs that are starts of buckets which overlap, if their panes are long enough."""
    found = ((output.name, _buckets(output.expr)) for output in project.outputs)
    return {name: buckets for name, buckets in found if buckets is not None}


def _buckets(expr: Expr) -> Overlapping | None:
    if not starts_window(expr.tree):
        return None
    time, *lengths = expr.tree.this.expressions
    size, slide, *start = (Interval(f"INTERVAL {length.name}").microseconds for length in lengths)
    if slide == size or size // gcd(size, slide) > _MOST:
        return None
    return Overlapping(time.sql(dialect="spark"), size, slide, sum(start))
