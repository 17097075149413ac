"""Whether a checkpoint is as its last manifest left it.

A slice is committed by its manifest, and Spark notes that only afterwards. So what Spark knows of slices after the
last manifest is a plan that nothing has come of, and what it must know is named in the manifest.
"""

from __future__ import annotations

from caesura.checkpoint.damage import damaged
from caesura.checkpoint.manifest import MANIFESTS, Manifest
from caesura.checkpoint.storage import File, Storage, visible

SPARK = "spark"
"""The folder of Structured Streaming."""
STATE = "state"


def require(storage: Storage, file: File, *path: str) -> None:
    """That a file is as it was written."""
    found = storage.file(*path)
    if found == file:
        return
    if found is None:
        why = "it is missing"
    elif found.bytes != file.bytes:
        why = f"it has {found.bytes:,} bytes, and had {file.bytes:,}"
    else:
        why = "its bytes do not fit the checksum in the manifest"
    raise damaged(storage.path(*path), why)


def require_log(storage: Storage, last: Manifest) -> None:
    """That Spark goes on after the last manifest: that it has noted what was read until then, and no more."""
    noted = [number for number, _ in _numbered(storage, SPARK, "commits")]
    if noted and max(noted) > last.slice:
        manifests = storage.path(MANIFESTS)
        where = f"the last manifest is of slice {last.slice}" if last.slice >= 0 else "there is no manifest"
        raise damaged(manifests, f"{where}, and slice {max(noted)} was committed")
    for path, file in last.log.items():
        require(storage, file, *path.split("/"))


def forget_plans(storage: Storage, last: Manifest) -> None:
    """Delete what Spark has planned after the last manifest, so that nothing need be trusted."""
    for number, name in _numbered(storage, SPARK, "offsets"):
        if number > last.slice:
            storage.delete(SPARK, "offsets", name)
    for source in storage.names(SPARK, "sources"):
        folder = SPARK, "sources", source
        noted = [path.split("/")[-1] for path in last.log if path.startswith("/".join(folder) + "/")]
        latest = max((_number(name) for name in noted), default=-1)
        for number, name in _numbered(storage, *folder):
            # Other sources than files keep there where they began, which is no plan.
            if number > latest and b'"batchId"' in storage.read(*folder, name):
                storage.delete(*folder, name)


def spark_log(storage: Storage, before: Manifest, slice: int) -> dict[str, File]:
    """The files of Spark that say what was read until now: its own name for the run, the offsets of the slice, and
    of each source what was noted since all that came before was put into one file."""
    log: dict[str, File] = {}
    folders = [(SPARK, "sources", source) for source in storage.names(SPARK, "sources")]
    for folder in folders:
        for _, name in reversed(_numbered(storage, *folder)):
            _note(storage, before, log, *folder, name)
            if name.endswith(_COMPACT):
                break
    _note(storage, before, log, SPARK, "metadata")
    _note(storage, before, log, SPARK, "offsets", str(slice))
    return log


_COMPACT = ".compact"


def _note(storage: Storage, before: Manifest, log: dict[str, File], *path: str) -> None:
    name = "/".join(path)
    file = before.log.get(name) or storage.file(*path)
    if file is not None:
        log[name] = file


def _numbered(storage: Storage, *folder: str) -> list[tuple[int, str]]:
    names = (name for name in storage.names(*folder) if visible(name))
    return sorted((_number(name), name) for name in names if name.removesuffix(_COMPACT).isdigit())


def _number(name: str) -> int:
    return int(name.removesuffix(_COMPACT))


def require_state(storage: Storage, folders: dict[str, str], last: Manifest) -> None:
    """That the state tables are as they were written. `folders`: of each table."""
    for name, version in last.tables.items():
        for part in version.parts:
            for file in part.files:
                require(storage, file, STATE, part.folder, folders[name], file.name)
