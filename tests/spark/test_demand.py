"""Trees of joins that make partial results on demand: the model's tables, DuckDB's rows, each in its slice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import mean

import duckdb
import pytest
from pyspark.sql import SparkSession

from caesura.catalog import PunctuatedBy
from caesura.plan import Tree
from caesura.safety.tree import on_demand
from caesura.spark.purge import PurgePolicy
from caesura.testing.script import Item, Script
from tests.plans import join, scan, stream
from tests.spark.against_model import LAZY, Trace, compare_all
from tests.spark.test_join_shapes import columns, pairs

START = datetime(2026, 1, 1)
WINDOW = 3
"""Slices, and so seconds."""


def test_its_tables_are_those_of_the_model(spark: SparkSession, tmp_path: Path) -> None:
    r, s, t = (stream(name, "x y", PunctuatedBy(("x",)), PunctuatedBy(("y",))) for name in "rst")
    cycle = join(scan(r), scan(s), scan(t), on="r.y = s.x, s.y = t.x, t.y = r.x")
    trace: Trace = [
        {"r": [(1, 2), (1, 2), (5, 2), (None, 2)], "s": [(2, 3), (2, 4), (6, 3)]},
        {"t": [(3, 9), (4, 5)], "s": ['{"x": 6}']},  # each wanted, but not together
        {"t": [(3, 1)], "r": [(1, 2), (3, 2)], "s": [(2, 3)]},  # and late, and what came with it
        {"r": ['{"y": 2}'], "t": ['{"x": 4}', '{"y": [1, 5]}'], "s": ['{"y": {"ge": 3}}']},
        {"r": [(7, 7)], "s": [(7, 1)], "t": [(1, 7)]},
        {"r": ["{}"], "s": ["{}"], "t": ["{}"]},
    ]
    tree = on_demand(cycle, ((0, 1), 2))
    compare_all(spark, tmp_path, {tree: ("r.x", "s.y")}, PurgePolicy(), trace, "- 1 2 3 4 5 7 9")


@dataclass(frozen=True)
class Streams:
    """So many streams, of which some pairs are compared, each on columns of their own."""

    inputs: int
    compared: list[tuple[int, int]]
    windows: bool

    @property
    def keys(self) -> dict[str, list[str]]:
        return {f"s{i}": [*columns(i, self.compared)] for i in range(self.inputs)}

    def text(self, hint: str) -> str:
        window = f" [RANGE INTERVAL {WINDOW} SECONDS]" if self.windows else ""
        inputs = ", ".join(f"{name}{window} AS {name}" for name in self.keys)
        selected = ", ".join(f"{name}.id AS {name}" for name in self.keys)
        into = "CREATE SINK out USING parquet LOCATION 'out'; INSERT INTO out"
        return (
            f"{' '.join(self._declared())} {into} SELECT /*+ {hint} */ {selected} FROM {inputs} WHERE {self._on}"
        )

    @property
    def _on(self) -> str:
        return " AND ".join(f"s{a}.k{a}{b} = s{b}.k{a}{b}" for a, b in self.compared)

    def _declared(self) -> Iterator[str]:
        for name, keys in self.keys.items():
            promises = ["ORDERED BY (t)"] if self.windows else [f"PUNCTUATED BY ({key})" for key in keys]
            typed = ", ".join(f"{key} BIGINT" for key in keys)
            columns = f"id BIGINT, t TIMESTAMP, {typed}, {', '.join(promises)}"
            yield f"CREATE STREAM {name} ({columns}) FROM FILES {name};"

    def slice(self, rng: Random, number: int, rows: int, values: int) -> dict[str, list[dict[str, object]]]:
        """Values rise from slice to slice, if they are to be closed. Some are NULL, and some rows come twice."""
        first, time = (0, number) if self.windows else (number // 2, number)
        found: dict[str, list[dict[str, object]]] = {}
        for name, keys in self.keys.items():
            found[name] = [
                {
                    "id": number * rows + i,
                    "t": str(START + timedelta(seconds=time)),
                    **{key: None if rng.random() < 0.05 else rng.randrange(first, first + values) for key in keys},
                }
                for i in range(rng.randrange(rows + 1))
            ]
            found[name] += (row for row in found[name][:] if rng.random() < 0.2)
        return found

    def closed(self, below: int) -> dict[str, list[str]]:
        """All values below."""
        said = {} if self.windows else self.keys
        return {name: [f'{{"{key}": {{"lt": {below}}}}}' for key in keys] for name, keys in said.items()}

    def wanted(self, slices: list[dict[str, list[dict[str, object]]]]) -> Counter[tuple[object, ...]]:
        """DuckDB's rows, each with the slice in which its last row came."""
        database = duckdb.connect()
        for name, keys in self.keys.items():
            database.execute(
                f"CREATE TABLE {name} (slice INT, id BIGINT, {', '.join(f'{k} BIGINT' for k in keys)})"
            )
            for number, rows in enumerate(each[name] for each in slices):
                values = [[number, row["id"], *(row[key] for key in keys)] for row in rows]
                if values:
                    database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * (2 + len(keys)))})", values)
        near = [f"abs({a}.slice - {b}.slice) <= {WINDOW}" for a, b in combinations(self.keys, 2)]
        where = " AND ".join([self._on, *(near if self.windows else ())])
        came = f"greatest({', '.join(f'{name}.slice' for name in self.keys)})"
        selected = ", ".join(f"{name}.id" for name in self.keys)
        found = database.execute(f"SELECT {came}, {selected} FROM {', '.join(self.keys)} WHERE {where}")
        return Counter(found.fetchall())


def spelled(tree: Tree) -> str:
    return f"s{tree}" if isinstance(tree, int) else f"({', '.join(map(spelled, tree))})"


def run(
    spark: SparkSession, folder: Path, streams: Streams, tree: Tree, *, rows: int, values: int, slices: int = 6
) -> Script:
    """Random slices, to the end of the streams; the rows are DuckDB's, each in its slice. With windows tables are
    purged now and then, some sooner and some later; with punctuations at once."""
    policy = LAZY if streams.windows else PurgePolicy()
    script = Script(spark, folder, streams.text(f"TREE{spelled(tree)}, DEMAND"), purge=policy)
    rng = Random(streams.inputs)
    came = [streams.slice(rng, number, rows, values) for number in range(slices)]
    for number, arriving in enumerate(came):
        said = streams.closed((number + 1) // 2)
        items: dict[str, list[Item]] = {name: [*each, *said.get(name, ())] for name, each in arriving.items()}
        script.slice(**items)
        if number == slices // 2:
            script.run()  # and start again
    if not streams.windows:
        last: dict[str, list[Item]] = {name: [*said] for name, said in streams.closed(slices + values).items()}
        script.slice(**last)
    script.run_to_end()
    found = Counter((n, *row.values()) for n in range(slices + 1) for row in script.rows("out", n))
    wanted = streams.wanted(came)
    assert wanted
    assert found == wanted
    closed = script.progress[-1 if streams.windows else -2]
    assert (closed.state_rows, closed.on_demand("suspended")) == (0, 0)
    return script


def test_rows_come_back_in_the_slice_of_their_partner(spark: SparkSession, tmp_path: Path) -> None:
    """A bushy tree in windows, stopped and started in the middle."""
    streams = Streams(4, pairs("clique", 4), windows=True)
    last = run(spark, tmp_path, streams, ((0, 1), (2, 3)), rows=6, values=3).progress[-1]
    assert last.on_demand("suspended") == 0
    assert last.on_demand("resumed") > 0
    assert last.on_demand("made") > 0


@pytest.mark.long
def test_inputs_that_nothing_compares_are_asked_one_by_one(spark: SparkSession, tmp_path: Path) -> None:
    """The star's centre is joined with one of its points; the others have nothing in common."""
    streams = Streams(4, pairs("star", 4), windows=False)
    run(spark, tmp_path, streams, ((0, 1), 2, 3), rows=4, values=2, slices=2)


def test_a_table_in_the_tree_and_rows_that_are_given_up(spark: SparkSession, tmp_path: Path) -> None:
    """An old row goes although a younger one of its key stays; what no table wants is not kept."""
    text = """
    CREATE STREAM a (k BIGINT, t TIMESTAMP, PUNCTUATED BY (k), ORDERED BY (t)) USING json LOCATION 'a'
      OPTIONS (maxFilesPerTrigger 1, release 'INTERVAL 1 HOUR');
    CREATE STREAM b (k BIGINT, v BIGINT, PUNCTUATED BY (k)) FROM FILES b;
    CREATE STREAM c (k BIGINT, PUNCTUATED BY (k)) FROM FILES c;
    CREATE TABLE f (v BIGINT) USING json LOCATION 'f';
    CREATE SINK out USING parquet LOCATION 'out';
    INSERT INTO out SELECT /*+ TREE((a, b, f), c), DEMAND */ a.k, a.t, b.v
    FROM a JOIN b ON a.k = b.k JOIN c ON a.k = c.k JOIN f ON b.v = f.v;
    """
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "f.json").write_text('{"v": 1}\n', encoding="utf-8")
    script = Script(spark, tmp_path, text)
    script.slice(a=[{"k": 1, "t": "2026-01-01 00:00:00"}], b=[{"k": 1, "v": 1}, {"k": 1, "v": 2}])
    script.slice(a=[{"k": 1, "t": "2026-01-01 05:00:00"}])
    script.slice(c=[{"k": 1}])
    script.run()
    assert [row["t"] for row in script.rows("out")] == [datetime(2026, 1, 1, 5)]
    given_up = [sum(rules.get("release", 0) for rules in each.released.values()) for each in script.progress]
    assert given_up == [0, 1, 0]


def test_what_was_never_made_is_counted_on_request(spark: SparkSession, tmp_path: Path) -> None:
    text = """
    CREATE STREAM a (x BIGINT, y BIGINT, PUNCTUATED BY (x), PUNCTUATED BY (y)) FROM FILES a;
    CREATE STREAM b (x BIGINT, PUNCTUATED BY (x)) FROM FILES b;
    CREATE STREAM c (y BIGINT, PUNCTUATED BY (y)) FROM FILES c;
    CREATE SINK out USING parquet LOCATION 'out';
    INSERT INTO out SELECT /*+ TREE((a, b), c), DEMAND */ a.x, a.y FROM a JOIN b ON a.x = b.x JOIN c ON a.y = c.y;
    """
    script = Script(spark, tmp_path, text, every_rule=True)
    script.slice(a=[{"x": 1, "y": 1}, {"x": 1, "y": 2}], b=[{"x": 1}, {"x": 1}], c=[{"y": 9}])
    script.slice(c=[{"y": 1}])
    script.run()
    before, after = script.progress
    assert (before.on_demand("suspended"), before.on_demand("made"), before.on_demand("never made")) == (2, 0, 4)
    assert (after.on_demand("suspended"), after.on_demand("resumed")) == (1, 1)
    assert (after.on_demand("made"), after.on_demand("never made")) == (2, 2)
    assert "1 suspended, 1 resumed · 2 partial results, 2 never made" in after.line()
    assert len(script.rows("out", 1)) == 2
    assert script.rows("out", 0) == []


LEFT_DEEP: dict[int, Tree] = {
    3: ((0, 1), 2),
    4: (((0, 1), 2), 3),
    5: ((((0, 1), 2), 3), 4),
    6: (((((0, 1), 2), 3), 4), 5),
}
BUSHY: dict[int, Tree] = {4: ((0, 1), (2, 3)), 5: (((0, 1), (2, 3)), 4), 6: (((0, 1), (2, 3)), (4, 5))}


@pytest.mark.long
def test_two_hundred_slices_leave_the_state_as_it_is(spark: SparkSession, tmp_path: Path) -> None:
    """Rows are suspended and come back all the time; stopped and started in the middle."""
    streams = Streams(3, pairs("clique", 3), windows=True)
    progress = run(spark, tmp_path, streams, ((0, 1), 2), rows=6, values=6, slices=200).progress
    second, last = progress[50:100], progress[150:200]
    assert mean(each.state_rows for each in last) <= 1.1 * mean(each.state_rows for each in second)
    assert all(sum(each.on_demand("suspended") for each in some) > 0 for some in (second, last))
    assert last[-1].on_demand("resumed") > 100


@pytest.mark.long
@pytest.mark.parametrize("windows", [True, False], ids=["windows", "punctuations"])
@pytest.mark.parametrize("tree", [*LEFT_DEEP.values(), *BUSHY.values(), ((0, 1, 2), 3), (0, 1, 2, 3)], ids=spelled)
@pytest.mark.parametrize("shape", ["chain", "star", "clique"])
def test_trees_on_demand(spark: SparkSession, tmp_path: Path, shape: str, tree: Tree, windows: bool) -> None:
    inputs = 1 + max(map(int, filter(str.isdigit, spelled(tree))))
    streams = Streams(inputs, pairs(shape, inputs), windows)
    run(spark, tmp_path, streams, tree, rows=5, values=2 if shape == "clique" and inputs > 3 else 4)
