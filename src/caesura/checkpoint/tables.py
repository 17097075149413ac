"""Which tables a checkpoint has, and how their files are read: for whoever looks into it without its pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from caesura.checkpoint.damage import damaged
from caesura.checkpoint.sealed import read_sealed, seal
from caesura.checkpoint.storage import Storage

TABLES = "tables.json"
_KIND = "tables"


@dataclass(frozen=True)
class TableFiles:
    """`folder` in the folder of each slice; `schema` of the files, and `columns` as SQL over it."""

    folder: str
    holds: Literal["rows", "punctuations"]
    schema: str
    columns: Mapping[str, str]


def keep_tables(storage: Storage, tables: Mapping[str, TableFiles]) -> None:
    text = seal(_KIND, {name: asdict(table) for name, table in tables.items()})
    if not storage.exists(TABLES) or storage.read(TABLES) != text.encode():
        storage.write(text, TABLES)


def read_tables(storage: Storage) -> dict[str, TableFiles]:
    path = storage.path(TABLES)
    if not storage.exists(TABLES):
        raise damaged(path, "it is missing")
    found: dict[str, TableFiles] = read_sealed(storage, _KIND, dict[str, TableFiles], TABLES)
    return found
