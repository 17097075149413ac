"""Punctuations that grow together in the store cover what they covered before: no more, no less."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.checkpoint.manifest import TableVersion
from caesura.operators.closed import Closed, covered, uncovered
from caesura.operators.rows import leaf, union
from caesura.operators.store import Store
from caesura.punctuation import Punctuation, set_match
from caesura.punctuation_json import read
from caesura.spark.punctuations import Reader
from caesura.spark.purge import PurgePolicy
from caesura.spark.run import work_session
from caesura.spark.state import StateFiles
from caesura.spark.storage import storage_at
from caesura.types import Type

TYPES = {
    "id": Type("BIGINT"),
    "tiny": Type("TINYINT"),
    "day": Type("DATE"),
    "name": Type("STRING"),
    "weight": Type("DOUBLE"),
    "at": Type("TIMESTAMP"),
    "x": Type("INT"),
    "y": Type("INT"),
}
KEYS = (("id",), ("tiny",), ("day",), ("name",), ("weight",), ("at",), ("x",), ("x", "y"))
LEAST, GREATEST = -(2**63), 2**63 - 1

SLICES = [
    [
        '{"id": [1, 2, 3, 5, 7, 8]}',
        '{"id": {"ge": 100, "lt": 5000}}',
        f'{{"id": [{GREATEST}, {GREATEST - 10}]}}',
        f'{{"id": {{"ge": {LEAST}, "le": {LEAST + 3}}}}}',
        '{"tiny": [-128, 127, 0]}',
        '{"day": ["2024-02-28", "2024-03-01"]}',
        '{"name": ["a", "o\'brien", "back\\\\slash"]}',
        '{"name": {"ge": "c", "lt": "e"}}',
        '{"weight": {"ge": 1, "lt": 2}}',
        '{"weight": {"gt": 5, "lt": 6}}',
        '{"at": {"lt": "2024-01-01T00:00:00Z"}}',
        '{"x": 1, "y": [1, 2]}',
        '{"x": {"ge": 10, "lt": 20}, "y": {"le": 5}}',
    ],
    [
        '{"id": [4, 9, 10]}',
        '{"id": {"gt": 4999, "le": 6000}}',
        f'{{"id": {{"ge": {GREATEST - 2}, "lt": {GREATEST}}}}}',
        f'{{"id": {GREATEST - 11}}}',
        '{"id": {"lt": -1000000000000}}',
        '{"tiny": {"ge": 100}}',
        '{"tiny": {"lt": -100}}',
        '{"tiny": {"gt": 127}}',
        '{"tiny": {"lt": -128}}',
        '{"day": "2024-02-29"}',
        '{"day": {"ge": "2024-06-01", "lt": "2024-07-01"}}',
        '{"name": {"ge": "e", "le": "f"}}',
        '{"weight": {"ge": 2, "le": 3}}',
        '{"weight": {"gt": 6, "le": 7}}',
        '{"at": {"ge": "2024-01-01T00:00:00Z", "lt": "2024-01-02T00:00:00.000001Z"}}',
        '{"at": "2024-05-05T05:05:05.5Z"}',
        '{"x": 1, "y": 3}',
        '{"x": 2}',
        '{"x": {"ge": 20, "lt": 30}, "y": {"le": 5}}',
    ],
    [
        '{"id": 6}',
        '{"id": {"ge": 5500, "lt": 5400}}',
        '{"id": {"gt": 7, "lt": 8}}',
        '{"day": {"gt": "2024-06-30", "le": "2024-07-02"}}',
        '{"name": {"ge": "o\'", "le": "o\'z"}}',
        '{"name": {"gt": "x"}}',
        '{"weight": 6}',
        '{"weight": {"ge": 100}}',
        '{"weight": {"ge": 9, "lt": 9}}',
        '{"weight": {"ge": 12, "lt": 11}}',
        '{"at": {"gt": "2024-01-02T00:00:00.000001Z", "lt": "2024-01-03T00:00:00Z"}}',
        '{"x": [2, 3], "y": 1}',
    ],
    ['{"id": 11}', '{"tiny": 1}', '{"weight": 4}'],
]

DAY = date(2024, 2, 27)
NOON = datetime(2024, 1, 2, tzinfo=UTC)
PROBES: dict[str, list[object]] = {
    "id": [
        *range(-1, 13),
        *(99, 100, 101, 4998, 4999, 5000, 5001, 5450, 6000, 6001, -(10**12), -(10**12) - 1),
        *(LEAST, LEAST + 3, LEAST + 4),
        *(GREATEST - back for back in range(13)),
    ],
    "tiny": [-128, -127, -101, -100, -99, -1, 0, 1, 2, 99, 100, 126, 127],
    "day": [DAY + timedelta(days) for days in (0, 1, 2, 3, 4, 94, 95, 124, 125, 126, 127)],
    "name": [
        *("", "a", "aa", "b", "c", "d", "e", "ee", "f", "fa", "x", "xa", "é"),
        *("o", "o'", "o'brien", "o'z", "o'zz", "back\\slash"),
    ],
    "weight": [
        *(0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.1, 4.0, 5.0, 5.5, 6.0, 6.5, 7.0, 7.1, 9.0, 11.5, 99.9, 100.0),
        *map(float, ("inf", "-inf", "nan")),
    ],
    "at": [
        *(NOON + timedelta(microseconds=us) for us in (-1, 0, 1, 2)),
        *(NOON + timedelta(days) for days in (-1000, -1, 1)),
        *(NOON + timedelta(1, microseconds=-1), datetime(2024, 5, 5, 5, 5, 5, 500_000, tzinfo=UTC)),
    ],
}
PAIRS: list[tuple[int | None, int | None]] = [
    (x, y) for x in (None, 0, 1, 2, 3, 9, 10, 15, 19, 20, 29, 30) for y in (None, 1, 2, 3, 5, 6)
]
INTERVALS = {"(id)": 5, "(tiny)": 3, "(day)": 2, "(name)": 5, "(weight)": 4, "(at)": 3}
"""The fewest intervals that hold all of SLICES, per attribute."""


def probes() -> list[dict[str, object]]:
    """Rows with a value in one attribute, or in x and y; NULL elsewhere is matched by the wildcard alone."""
    nothing: dict[str, object] = dict.fromkeys(TYPES)
    single = [{**nothing, name: value} for name, values in PROBES.items() for value in values]
    return single + [{**nothing, "x": x, "y": y} for x, y in PAIRS]


class Stored:
    """A store on disk, fed with texts slice by slice."""

    def __init__(self, spark: SparkSession, folder: Path, policy: PurgePolicy) -> None:
        self.spark = spark
        self.store = Store("closed", TYPES, KEYS)
        self.files = StateFiles(spark, storage_at(spark, str(folder)), self.store.tables, policy)
        self.versions: dict[str, TableVersion] = {}
        self.slices = 0

    def append(self, texts: Sequence[str]) -> None:
        reader = Reader(TYPES, KEYS)
        given = self.spark.sql("SELECT explode(:texts) AS text", {"texts": list(texts)})
        frame = reader.parse(leaf(given), "text").frame(self.spark).localCheckpoint()
        counts = {row["kind"]: row["count"] for row in frame.groupBy("kind").count().collect()}
        closed = reader.closed(leaf(frame), counts).mapped(
            lambda rows, what: leaf(rows.frame(self.spark).localCheckpoint())
        )
        changes = self.store.append(self.files.open(self.versions), closed)
        written = self.files.write(self.slices, changes)
        self.versions = self.files.versions(self.versions, changes, self.slices, written)
        self.slices += 1

    def closed(self) -> Closed:
        return self.store.read(self.files.open(self.versions))


@pytest.mark.parametrize("policy", [PurgePolicy(eager_rows=0, max_deltas=2)], ids=["appended, and written anew"])
def test_a_store_covers_what_its_punctuations_cover(
    spark: SparkSession, tmp_path: Path, policy: PurgePolicy
) -> None:
    spark = work_session(spark)
    rows = probes()
    types = ", ".join(f"`{name}` {type}" for name, type in TYPES.items())
    frame = spark.createDataFrame([(i, *row.values()) for i, row in enumerate(rows)], f"i INT, {types}").cache()
    probed = leaf(frame)
    stored = Stored(spark, tmp_path, policy)
    punctuations: list[Punctuation] = []
    for texts in SLICES if policy == PurgePolicy() else SLICES[:2]:
        stored.append(texts)
        punctuations += [read(text, TYPES) for text in texts]
        closed = stored.closed()
        inside, outside = covered(probed, closed), uncovered(probed, closed)
        assert inside is not None
        assert outside is not None
        both = union((inside.project({"i": "i", "is": "true"}), outside.project({"i": "i", "is": "false"})))
        assert both is not None
        answers = both.frame(spark).collect()
        found, missed = (sorted(row["i"] for row in answers if row["is"] is which) for which in (True, False))
        wanted = [i for i, row in enumerate(rows) if set_match(row, punctuations)]
        assert [rows[i] for i in found if i not in wanted] == []
        assert [rows[i] for i in wanted if i not in found] == []
        assert len(found) == len(set(found))
        assert sorted(found + missed) == list(range(len(rows)))
    if policy == PurgePolicy():
        sizes = {name: version.rows for name, version in stored.versions.items()}
        assert {name: sizes[f"closed{name}"] for name in INTERVALS} == INTERVALS
