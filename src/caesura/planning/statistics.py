"""What is known about the traffic of streams: declared as options, or measured by an earlier run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypedDict

from caesura.catalog import Stream, Traffic
from caesura.plan import Plan, Scan, walk

RATE = 1000.0
"""Rows per second of a stream of which nothing is known."""
DISTINCT = 1000.0
"""Open values of a column of which nothing is known."""


class Measured(TypedDict):
    rate: float | None
    distinct: dict[str, float]


@dataclass(frozen=True)
class Statistics:
    """The traffic of streams by their names. A run may keep it with its checkpoint, as JSON:

    `{"bid": {"rate": 1000.0, "distinct": {"auction": 5000.0}}}`
    """

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

    def of(self, plan: Plan) -> Statistics:
        """Those of the streams that a plan reads; what they leave open is taken from the declarations."""
        relations = (node.relation for node in walk(plan) if isinstance(node, Scan))
        streams = [each for each in relations if isinstance(each, Stream)]
        return Statistics({each.name: _over(self._of(each.name), each.traffic) for each in streams})

    def _of(self, stream: str) -> Traffic:
        return self.streams.get(stream, Traffic())

    def to_json(self) -> str:
        found: dict[str, Measured] = {
            name: {"rate": each.rate, "distinct": dict(each.distinct)} for name, each in self.streams.items()
        }
        return json.dumps(found, indent=1)

    @staticmethod
    def from_json(text: str) -> Statistics:
        """What `to_json` wrote."""
        found: dict[str, Measured] = json.loads(text)
        return Statistics(
            {name: Traffic(each["rate"], tuple(each["distinct"].items())) for name, each in found.items()}
        )


def _over(one: Traffic, other: Traffic) -> Traffic:
    distinct = {**dict(other.distinct), **dict(one.distinct)}
    return Traffic(other.rate if one.rate is None else one.rate, tuple(distinct.items()))
