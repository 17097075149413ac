"""The manifest of a slice: written last, it makes everything the slice wrote visible at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from typing import TypeAlias

from caesura.checkpoint.damage import damaged
from caesura.checkpoint.failpoints import reach
from caesura.checkpoint.sealed import read_sealed, seal
from caesura.checkpoint.storage import File, Storage

MANIFESTS = "manifests"
_KIND = "manifest"

Counts: TypeAlias = Mapping[str, Mapping[str, int]]
"""Of some things, by kind: such as stream → reason → how many rows were set aside."""

Examples: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Stream → reason → texts."""


@dataclass(frozen=True)
class Part:
    """The rows that one slice wrote to a state table, and the files they are in. Their folder is that of the slice
    and of who wrote it: nobody else writes there."""

    slice: int
    rows: int
    files: tuple[File, ...] = ()
    writer: str = ""

    @property
    def folder(self) -> str:
        return written_by(self.slice, self.writer)


@dataclass(frozen=True)
class Result:
    """The rows of a query that a slice made, and the files they are in, if they are in files."""

    rows: int = 0
    files: tuple[File, ...] = ()


@dataclass(frozen=True)
class TableVersion:
    """A state table after a slice: a base and the deltas since."""

    base: Part | None = None
    deltas: tuple[Part, ...] = ()
    spans: tuple[tuple[str | None, str | None], ...] = ()
    """In a table of intervals: the widest of the base, by their ends. If they are all of it, no file is read, and
    there may be none."""
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
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
    writer: str = ""
    """Who committed it."""
    aside: tuple[str, ...] = ()
    """The folders of slices that set something aside, as many as are kept."""
    ended: bool = False
    """The inputs were exhausted and that was taken as their end."""
    results: dict[str, Result] = field(default_factory=dict)
    """What the slice gives, by query."""
    examples: Examples = field(default_factory=dict)
    """The first of what was set aside."""
    log: dict[str, File] = field(default_factory=dict)
    """The files in which Spark has what was read so far: by their path in the checkpoint."""

    def to_json(self) -> str:
        tables = {name: _version(version) for name, version in self.tables.items()}
        return seal(_KIND, asdict(replace(self, tables={})) | {"tables": tables})


def _version(version: TableVersion) -> dict[str, object]:
    """Files of state are many: shorter."""
    parts = (None if part is None else astuple(part) for part in (version.base, *version.deltas))
    base, *deltas = parts
    return {"base": base, "deltas": deltas, "spans": version.spans, "ranges": version.ranges}


def slice_name(slice: int) -> str:
    return f"{slice:010d}"


def written_by(slice: int, writer: str) -> str:
    return f"{slice_name(slice)}-{writer}"


def last_manifest(storage: Storage) -> Manifest:
    """The state to continue from: of the last slice that was committed, or none."""
    slices = committed(storage)
    if not slices:
        return Manifest()
    place = MANIFESTS, manifest_name(slices[-1])
    manifest: Manifest = read_sealed(storage, _KIND, Manifest, *place)
    if manifest.slice != slices[-1]:
        raise damaged(storage.path(*place), f"it is the manifest of slice {manifest.slice}")
    return manifest


def committed(storage: Storage) -> list[int]:
    """The slices whose manifests are there, in order."""
    names = (name.removesuffix(".json") for name in storage.names(MANIFESTS) if name.endswith(".json"))
    return sorted(int(name) for name in names if len(name) == 10 and name.isascii() and name.isdigit())


def commit(storage: Storage, manifest: Manifest, desk: tuple[str, ...]) -> None:
    """`desk`: a folder that only the writer has who may commit."""
    name = manifest_name(manifest.slice)
    storage.write(manifest.to_json(), *desk, name)
    reach("prepared")
    storage.move((*desk, name), (MANIFESTS, name))


def forget_manifest(storage: Storage, slice: int) -> None:
    storage.delete(MANIFESTS, manifest_name(slice))


def forget_manifests(storage: Storage, last: Manifest) -> None:
    """Delete those that a process did not get to."""
    for slice in committed(storage):
        if slice < last.slice - 1:
            forget_manifest(storage, slice)


def manifest_name(slice: int) -> str:
    return f"{slice_name(slice)}.json"
