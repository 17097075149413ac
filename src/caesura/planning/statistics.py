"""What is known about the traffic of streams: declared as options, or measured by an earlier run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from caesura.catalog import Stream, Traffic
from caesura.plan import Plan, Scan, walk

RATE = 1000.0
"""Rows per second of a stream of which nothing is known."""
DISTINCT = 1000.0
"""Open values of a column of which nothing is known."""


@dataclass(frozen=True)
class Statistics:
    """The traffic of streams by their names. A run keeps what it has measured with its checkpoint
    (`statistics_json`)."""

    streams: Mapping[str, Traffic] = field(default_factory=dict)

    @property
    def made_up(self) -> bool:
        """Whether nothing at all is known."""
        return all(each == Traffic() for each in self.streams.values())

    def rate(self, stream: str) -> float:
        known = self._of(stream).rate
        return RATE if known is None else known

    def distinct(self, stream: str, column: str) -> float:
        return dict(self._of(stream).distinct).get(column, DISTINCT)

    def closes(self, stream: str, column: str) -> float | None:
        """Values of a column that are closed per second, if that is known."""
        return dict(self._of(stream).closes).get(column)

    def of(self, plan: Plan) -> Statistics:
        """Those of the streams that a plan reads; what they leave open is taken from the declarations."""
        relations = (node.relation for node in walk(plan) if isinstance(node, Scan))
        streams = [each for each in relations if isinstance(each, Stream)]
        return Statistics({each.name: _over(self._of(each.name), each.traffic) for each in streams})

    def _of(self, stream: str) -> Traffic:
        return self.streams.get(stream, Traffic())


UNKNOWN = Statistics()
"""Nothing was measured."""


def _over(one: Traffic, other: Traffic) -> Traffic:
    distinct, closes = (
        tuple({**dict(declared), **dict(measured)}.items())
        for declared, measured in ((other.distinct, one.distinct), (other.closes, one.closes))
    )
    return Traffic(other.rate if one.rate is None else one.rate, distinct, closes)
