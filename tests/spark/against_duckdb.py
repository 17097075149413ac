"""DuckDB over the same rows: what the queries of a script give there, and what its sinks hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import duckdb
import sqlglot


class Database:
    """`streams` are folders of JSON with these columns, `queries` write to the sinks of the same names."""

    def __init__(
        self, folder: Path, streams: Mapping[str, str], queries: Mapping[str, str], given: tuple[str, ...] = ()
    ) -> None:
        self._folder = folder
        self._duckdb = duckdb.connect()
        for name, columns in streams.items():
            self._run(f"CREATE TABLE {name} ({columns}, _punctuation VARCHAR)")
            self._run(f"COPY {name} FROM '{folder}/{name}/*.json' (FORMAT json)")
            self._run(f"DELETE FROM {name} WHERE _punctuation IS NOT NULL")
            self._run(f"ALTER TABLE {name} DROP COLUMN _punctuation")
        for statement in given:
            self._run(statement)
        for name, query in queries.items():
            self._run(f"CREATE TABLE wanted_{name} AS {in_duckdb(query)}")

    def wanted(self, name: str) -> list[tuple[object, ...]]:
        return self._run(f"FROM wanted_{name}")

    def found(self, name: str) -> list[tuple[object, ...]]:
        """In the order in which it was written."""
        files = sorted(map(str, self._folder.glob(f"out/{name}/*.parquet")))
        return self._run(f"FROM read_parquet({files})") if files else []

    def _run(self, sql: str) -> list[tuple[object, ...]]:
        return self._duckdb.execute(sql).fetchall()


def in_duckdb(query: str) -> str:
    return sqlglot.transpile(query, read="spark", write="duckdb")[0]


def inserts(queries: Mapping[str, str]) -> str:
    return "\n".join(
        f"CREATE SINK {name} USING parquet LOCATION 'out/{name}'; INSERT INTO {name} {query};"
        for name, query in queries.items()
    )
