"""Small files and directories below one root, and how they are known again."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import uuid4
from zlib import crc32

_CHUNK = 1 << 20
_TRIES = 3


@dataclass(frozen=True, order=True)
class File:
    """A file as it was written. `checksum`: CRC-32 of all its bytes."""

    name: str
    bytes: int
    checksum: int


class Storage(Protocol):
    """Paths below `root`. Writing a file is atomic: it is there whole or not at all."""

    @property
    def root(self) -> str: ...

    def path(self, *parts: str) -> str:
        return "/".join((self.root, *parts))

    def exists(self, *parts: str) -> bool: ...

    def is_file(self, *parts: str) -> bool: ...

    def names(self, *parts: str) -> list[str]:
        """What a directory holds, sorted; nothing if it does not exist."""

    def read(self, *parts: str) -> bytes: ...

    def write(self, text: str, *parts: str) -> None:
        """A file in a folder that is there, or in the place of one that is."""

    def create(self, text: str, *parts: str) -> bool:
        """The same if there is none yet: of several who try only one can. Whether it was done."""

    def file(self, *parts: str) -> File | None:
        """A file as it is now; None if there is none."""

    def move(self, source: tuple[str, ...], target: tuple[str, ...]) -> None: ...

    def make(self, *parts: str) -> None: ...

    def delete(self, *parts: str) -> None:
        """With all below; nothing happens if it is not there."""


def visible(name: str) -> bool:
    """Spark neither reads nor counts files with other names."""
    return not name.startswith(("_", "."))


def files_of(storage: Storage, *folder: str) -> tuple[File, ...]:
    """What Spark wrote to a folder."""
    found = (storage.file(*folder, name) for name in storage.names(*folder) if visible(name))
    return tuple(file for file in found if file is not None)


class LocalStorage(Storage):
    """A folder of this machine."""

    def __init__(self, root: str) -> None:
        self._root = Path(root)

    @property
    def root(self) -> str:
        return str(self._root)

    def _at(self, parts: tuple[str, ...]) -> Path:
        return self._root.joinpath(*parts)

    def exists(self, *parts: str) -> bool:
        return self._at(parts).exists()

    def is_file(self, *parts: str) -> bool:
        return self._at(parts).is_file()

    def names(self, *parts: str) -> list[str]:
        try:
            return sorted(os.listdir(self._at(parts)))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def read(self, *parts: str) -> bytes:
        return self._at(parts).read_bytes()

    def write(self, text: str, *parts: str) -> None:
        target = self._at(parts)
        temporary = target.with_name(f".{target.name}.tmp")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(target)

    def create(self, text: str, *parts: str) -> bool:
        target = self._at(parts)
        temporary = target.with_name(f".{target.name}.{uuid4().hex}.tmp")
        try:
            temporary.write_text(text, encoding="utf-8")
            os.link(temporary, target)  # whole, or not at all
        except FileExistsError:
            return False
        finally:
            temporary.unlink(missing_ok=True)
        return True

    def file(self, *parts: str) -> File | None:
        checksum = size = 0
        try:
            with self._at(parts).open("rb") as opened:
                while chunk := opened.read(_CHUNK):
                    checksum, size = crc32(chunk, checksum), size + len(chunk)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None
        return File(parts[-1], size, checksum)

    def move(self, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        self._at(source).replace(self._at(target))

    def make(self, *parts: str) -> None:
        self._at(parts).mkdir(parents=True, exist_ok=True)

    def delete(self, *parts: str) -> None:
        path = self._at(parts)
        if path.is_dir() and not path.is_symlink():
            for _ in range(_TRIES):  # somebody may be writing to it
                shutil.rmtree(path, ignore_errors=True)
                if not path.exists():
                    return
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
