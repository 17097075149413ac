"""Everything that reads what somebody else wrote: whatever the text, it is read or refused, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from caesura import punctuation_json
from caesura.checkpoint.claim import Wish, claimed, keep_claim
from caesura.checkpoint.contents import contents, lines
from caesura.checkpoint.lease import Lease
from caesura.checkpoint.manifest import Manifest, Part, Promised, Result, Seen, TableVersion, manifest_name
from caesura.checkpoint.sealed import seal
from caesura.checkpoint.storage import File, LocalStorage
from caesura.checkpoint.tables import TableFiles, keep_tables
from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.render import render
from caesura.explain.document import document
from caesura.explain.text import lines as explained
from caesura.planning.statistics import Statistics
from caesura.planning.statistics_json import from_json, read_statistics
from caesura.safety.diagnose import diagnose
from caesura.safety.report import lines as report_lines
from caesura.safety.report import report
from caesura.safety.verdict import check_all
from caesura.sql.bind import bind
from caesura.types import Type
from tests.fuzz import mutations

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"


@dataclass(frozen=True)
class Reader:
    """`corpus`: texts that it reads. `read` raises a CaesuraError, or nothing."""

    name: str
    corpus: tuple[str, ...]
    read: Callable[[str], None]
    mutate: Callable[[str, Random, tuple[str, ...]], str] = mutations.text
    words: tuple[str, ...] = ()

    def case(self, random: Random) -> str:
        return self.mutate(random.choice(self.corpus), random, self.words)


def _read_sql(text: str) -> None:
    try:
        pipeline = bind(Source("fuzz.sql", text))
        verdicts = check_all(pipeline.queries)
        json.dumps(report(verdicts))
        for verdict in verdicts:
            report_lines(verdict)
            for diagnostic in diagnose(verdict):
                render(diagnostic)
        for query in document(verdicts, Statistics())["queries"]:
            list(explained(query))
    except CaesuraError as error:
        for diagnostic in error.diagnostics:
            render(diagnostic)
        raise


COLUMNS = {
    name: Type(sql)
    for name, sql in {
        "i": "INT",
        "l": "BIGINT",
        "t": "TINYINT",
        "d": "DOUBLE",
        "f": "FLOAT",
        "c": "DECIMAL(9,3)",
        "s": "STRING",
        "b": "BOOLEAN",
        "day": "DATE",
        "at": "TIMESTAMP",
        "zone": "TIMESTAMP_NTZ",
        "many": "ARRAY<INT>",
    }.items()
}
PUNCTUATIONS = (
    '{"i": 1}',
    '{"l": [1, 2, null], "s": "x"}',
    '{"d": {"gt": 1.5}, "b": true}',
    '{"at": {"le": "2024-01-01T00:00:00Z"}, "day": "2024-02-29"}',
    '{"c": 1.125, "zone": "2024-01-01 00:00", "f": 0.5, "t": -128}',
    '{"i": {"lt": 5}, "l": {"ge": 1, "lt": 9}, "many": [1]}',
    "{}",
)


def _read_punctuation(text: str) -> None:
    try:
        found = punctuation_json.read(text, COLUMNS)
    except punctuation_json.Unreadable:
        return
    assert punctuation_json.read(punctuation_json.write(found), COLUMNS) == found


DECLARED = """
CREATE STREAM a (k BIGINT, x BIGINT, PUNCTUATED BY (k)) USING json LOCATION 'a';
CREATE STREAM b (k BIGINT, y BIGINT, PUNCTUATED BY (k)) USING json LOCATION 'b';
SELECT a.k, x, y FROM a JOIN b ON a.k = b.k;
"""
STATISTICS = '{"a": {"rate": 10, "distinct": {"k": 4.5, "x": 1e3}, "closes": {"k": 2}}, "b": {"rate": 0.5}}'


def _read_statistics(text: str) -> None:
    from_json(Source("statistics.json", text))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "statistics.json"
        file.write_bytes(text.encode(errors="surrogatepass"))
        read_statistics(file, [query.plan for query in bind(Source("fuzz.sql", DECLARED)).queries])


MANIFEST = Manifest(
    slice=3,
    tables={
        "join: a": TableVersion(
            Part(1, 4, (File("x.parquet", 10, 20),), "w"), (Part(3, 1, (), "w"),), (("1", None),)
        ),
        "a: closed(k)": TableVersion(ranges={"k": (1, 5)}),
    },
    promised={"a": Promised()},
    quarantined={"a": {"unreadable": 2}},
    released={"join: a": {"purge": 3}},
    seen={"a": Seen()},
    writer="w",
    aside=("0000000001-w",),
    results={"out": Result(2, (File("y.parquet", 1, 2),))},
    examples={"a": {"unreadable": ("x", "y")}},
    log={"spark/offsets/3": File("3", 5, 6)},
)


@dataclass(frozen=True)
class Checkpoint:
    """One in which a file has a content, sealed as if it were right."""

    file: str

    def read(self, text: str) -> None:
        with TemporaryDirectory() as folder:
            for name, written in _files().items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes((text if name == self.file else written).encode(errors="surrogatepass"))
            storage = LocalStorage(folder)
            list(lines(contents(storage)))
            claimed(storage, Wish(bind(Source("fuzz.sql", DECLARED)), Statistics()))


@cache
def _files() -> dict[str, str]:
    """Of a checkpoint that is right."""
    with TemporaryDirectory() as folder:
        storage = LocalStorage(folder)
        claim, _ = claimed(storage, Wish(bind(Source("fuzz.sql", DECLARED)), Statistics()))
        keep_claim(storage, claim)
        storage.make("manifests")
        storage.write(MANIFEST.to_json(), "manifests", manifest_name(3))
        tables = {
            name: TableFiles(f"t{n}", "rows", "k BIGINT", {"k": "k"}) for n, name in enumerate(MANIFEST.tables)
        }
        keep_tables(storage, tables)
        lease, root = Lease.take(storage, "the checkpoint"), Path(folder)
        found = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}
        lease.release()
    return found


def _resealed(text: str, random: Random, words: tuple[str, ...]) -> str:
    """Half of them as a program would write them that has another idea of the content."""
    if random.random() < 0.3:
        return mutations.text(text, random, words)
    sealed: dict[str, Any] = json.loads(text)
    content = mutations.tree(sealed["content"], random)
    return seal(sealed["caesura"], content)


def _checkpoint_reader(kind: str, file: str) -> Reader:
    return Reader(kind, (_files()[file],), Checkpoint(file).read, _resealed)


def readers() -> tuple[Reader, ...]:
    sql = tuple(
        path.read_text(encoding="utf-8")
        for folder in (GOLDEN, ROOT / "examples")
        for path in sorted(folder.rglob("*.sql"))
    )
    words = tuple(sorted({word for text in sql for word in re.findall(r"\w+|[^\w\s]", text)}))
    return (
        Reader("sql", sql, _read_sql, words=words),
        Reader("punctuation", PUNCTUATIONS, _read_punctuation, _json),
        Reader("statistics", (STATISTICS,), _read_statistics, _json),
        _checkpoint_reader("manifest", f"manifests/{manifest_name(3)}"),
        _checkpoint_reader("pipeline", "pipeline.json"),
        _checkpoint_reader("tables", "tables.json"),
        _checkpoint_reader("lease", "lease/holder.json"),
    )


def _json(text: str, random: Random, words: tuple[str, ...]) -> str:
    if random.random() < 0.5:
        return mutations.text(text, random, words)
    return json.dumps(mutations.tree(json.loads(text), random))
