"""The manifest of a slice: written last, it makes everything the slice wrote visible at once."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from caesura.operators.rows import Ends
from caesura.spark.quarantine import Counts
from caesura.spark.storage import Storage

_FOLDER = "manifests"


@dataclass(frozen=True)
class Part:
    """The rows that one slice wrote to a state table."""

    slice: int
    rows: int


@dataclass(frozen=True)
class TableVersion:
    """A state table after a slice: a base and the deltas since."""

    base: Part | None = None
    deltas: tuple[Part, ...] = ()
    spans: tuple[tuple[str | None, str | None], ...] = ()
    """In a table of intervals: the widest of the base, by their ends. If they are all of it, no file is read, and
    there may be none."""
    ranges: dict[str, Ends] = field(default_factory=dict)
    """Columns of which it is known between which ends all values are. Rows that leave do not narrow them."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that hold rows."""
        return tuple(part for part in (self.base, *self.deltas) if part is not None and part.rows)

    @property
    def listed(self) -> bool:
        """Whether the intervals of the base are all here."""
        return len(self.spans) == (0 if self.base is None else self.base.rows)

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def appended(self) -> int:
        return sum(part.rows for part in self.deltas)


@dataclass(frozen=True)
class Promised:
    """What a stream's history comes to in scalars: its rising bounds, and whether it has ended."""

    bounds: dict[str, str] = field(default_factory=dict)
    everything: bool = False
    time: int | None = None
    """How far the stream has come or, without a time of its own, when it last came; in microseconds."""
    seen: int | None = None
    """When a slice last brought rows; before it brings any, when the first slice came. In microseconds."""


@dataclass(frozen=True)
class Seen:
    """What a run has seen of a stream's traffic, over all slices (`traffic`)."""

    rows: int = 0
    """Those that came after `first`."""
    first: int | None = None
    last: int | None = None
    """In microseconds, by one clock or another."""
    open: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Of a column in joins: how often its values in a state were counted, and the sum of these counts."""
    closed: dict[str, int] = field(default_factory=dict)
    """By column, the values that punctuations of the source have closed one by one, after `first`."""


@dataclass(frozen=True)
class Manifest:
    slice: int = -1
    tables: dict[str, TableVersion] = field(default_factory=dict)
    promised: dict[str, Promised] = field(default_factory=dict)
    quarantined: Counts = field(default_factory=dict)
    """What was set aside, over all slices."""
    released: Counts = field(default_factory=dict)
    """What let go of rows, over all slices."""
    seen: dict[str, Seen] = field(default_factory=dict)
    """The traffic of the streams."""
    ended: bool = False
    """The inputs were exhausted and that was taken as their end."""

    def to_json(self) -> str:
        def part(p: Part) -> list[int]:
            return [p.slice, p.rows]

        return json.dumps(
            {
                "slice": self.slice,
                "tables": {
                    name: {
                        "base": version.base and part(version.base),
                        "deltas": [part(d) for d in version.deltas],
                        "spans": version.spans,
                        "ranges": version.ranges,
                    }
                    for name, version in self.tables.items()
                },
                "promised": {name: asdict(promised) for name, promised in self.promised.items()},
                "quarantined": self.quarantined,
                "released": self.released,
                "seen": {name: asdict(seen) for name, seen in self.seen.items()},
                "ended": self.ended,
            },
            indent=1,
        )

    @staticmethod
    def from_json(text: str) -> Manifest:
        given: dict[str, Any] = json.loads(text)
        return Manifest(
            given["slice"],
            {
                name: TableVersion(
                    version["base"] and Part(*version["base"]),
                    tuple(Part(*delta) for delta in version["deltas"]),
                    tuple((low, high) for low, high in version["spans"]),
                    {column: (least, greatest) for column, (least, greatest) in version["ranges"].items()},
                )
                for name, version in given["tables"].items()
            },
            {name: Promised(**promised) for name, promised in given["promised"].items()},
            given["quarantined"],
            given["released"],
            {name: _seen(**seen) for name, seen in given["seen"].items()},
            given["ended"],
        )


def _seen(open: dict[str, list[int]], **given: Any) -> Seen:
    return Seen(**given, open={column: (times, total) for column, (times, total) in open.items()})


def last_manifest(storage: Storage) -> Manifest:
    """The state to continue from: of the last slice that was committed, or none."""
    names = [name for name in storage.names(_FOLDER) if name.endswith(".json") and not name.startswith(".")]
    return Manifest.from_json(storage.read(_FOLDER, names[-1])) if names else Manifest()


def commit(storage: Storage, manifest: Manifest) -> None:
    storage.write(manifest.to_json(), _FOLDER, _name(manifest.slice))
    storage.delete(_FOLDER, _name(manifest.slice - 2))


def _name(slice: int) -> str:
    return f"{slice:010d}.json"
