"""What a checkpoint holds, as `caesura state` shows it. All of it is in small files: no Spark is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from caesura.checkpoint.lease import holder_of
from caesura.checkpoint.manifest import MANIFESTS, Manifest, TableVersion, last_manifest
from caesura.checkpoint.storage import Storage
from caesura.checkpoint.tables import TableFiles, read_tables
from caesura.checkpoint.verify import SPARK, require_log
from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code

PIPELINE = "pipeline.json"


class TableReport(TypedDict):
    """`oldest`: the slice that wrote the oldest part; what a slice writes anew is its own."""

    name: str
    holds: str
    rows: int
    bytes: int
    files: int
    oldest: int | None


class PromiseReport(TypedDict):
    """How far a stream has come: the bounds of its ordered columns, and whether it has ended."""

    stream: str
    bounds: dict[str, str]
    ended: bool


class AsideReport(TypedDict):
    stream: str
    reason: str
    rows: int
    examples: list[str]


class Contents(TypedDict):
    checkpoint: str
    slice: int | None
    """The last that was committed."""
    ended: bool
    in_use: str | None
    tables: list[TableReport]
    promises: list[PromiseReport]
    quarantine: list[AsideReport]
    results: dict[str, int]
    """Of the last slice, by query."""


def contents(storage: Storage) -> Contents:
    last = opened(storage)
    tables = read_tables(storage) if last.slice >= 0 else {}
    holder = holder_of(storage)
    return {
        "checkpoint": storage.root,
        "slice": last.slice if last.slice >= 0 else None,
        "ended": last.ended,
        "in_use": None if holder is None or holder.gone else str(holder),
        "tables": [_table(name, tables, version) for name, version in last.tables.items()],
        "promises": [
            {"stream": name, "bounds": promised.bounds, "ended": promised.everything}
            for name, promised in last.promised.items()
        ],
        "quarantine": [
            {
                "stream": stream,
                "reason": reason,
                "rows": rows,
                "examples": [*last.examples.get(stream, {}).get(reason, ())],
            }
            for stream, reasons in last.quarantined.items()
            for reason, rows in reasons.items()
        ],
        "results": {name: result.rows for name, result in last.results.items()},
    }


def opened(storage: Storage) -> Manifest:
    """The last manifest of what is a checkpoint."""
    if not storage.exists(PIPELINE) and not storage.exists(MANIFESTS):
        raise CaesuraError(
            Diagnostic(
                Code.CHECKPOINT,
                f"`{storage.root}` is no checkpoint",
                because=("there is no such folder",) if not storage.exists() else (f"it has no {PIPELINE}",),
                help=("name the folder that `caesura run --checkpoint` was given",),
            )
        )
    committed = storage.names(SPARK, "commits")  # before the manifest, which is written before them
    last = last_manifest(storage)
    if committed and last.slice < 0:
        require_log(storage, last)
    return last


def _table(name: str, tables: dict[str, TableFiles], version: TableVersion) -> TableReport:
    files = [file for part in version.parts for file in part.files]
    return {
        "name": name,
        "holds": tables[name].holds if name in tables else "rows",
        "rows": version.rows,
        "bytes": sum(file.bytes for file in files),
        "files": len(files),
        "oldest": min((part.slice for part in version.parts), default=None),
    }


def lines(found: Contents) -> Iterator[str]:
    """For people."""
    if found["slice"] is None:
        yield f"{found['checkpoint']}: no slice was committed yet"
    else:
        end = ", and the streams have ended" if found["ended"] else ""
        yield f"{found['checkpoint']}: committed up to slice {found['slice']}{end}"
    if found["in_use"] is not None:
        yield f"in use: {found['in_use']}"
    for title, holds in (("state", "rows"), ("punctuations", "punctuations")):
        several = [table for table in found["tables"] if table["holds"] == holds and table["rows"]]
        empty = sum(table["holds"] == holds and not table["rows"] for table in found["tables"])
        total = sum(table["rows"] for table in several)
        also = f", {empty} empty" if empty else ""
        yield f"{title}: {_counted(total, 'row')} in {_counted(len(several), 'table')}{also}"
        for table in several:
            where = "in the manifest" if not table["files"] else f"{table['bytes']:,} bytes"
            yield f"  {table['name']}: {_counted(table['rows'], 'row')}, {where}, since slice {table['oldest']}"
    for promise in found["promises"]:
        bounds = [f"{column} up to {value}" for column, value in promise["bounds"].items()]
        said = [*bounds, *(["ended"] if promise["ended"] else [])]
        if said:
            yield f"stream {promise['stream']}: {', '.join(said)}"
    total = sum(aside["rows"] for aside in found["quarantine"])
    yield f"quarantine: {_counted(total, 'row')}"
    for aside in found["quarantine"]:
        yield f"  {aside['rows']:,} of {aside['stream']}: {aside['reason']}"
        yield from (f"    {example}" for example in aside["examples"])


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
