"""Closed keys that follow one another: the driver knows them by the first and the last; nothing else changes."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.spark.purge import PurgePolicy
from caesura.testing.script import Script

PIPELINE = """
CREATE STREAM item (id INT, size INT, UNIQUE (id)) FROM FILES item;
CREATE STREAM bid (item INT, price INT, PUNCTUATED BY (item)) FROM FILES bid;
CREATE STREAM visit (day DATE, n INT, UNIQUE (day)) FROM FILES visit;
CREATE SINK bids USING parquet LOCATION 'bids';
CREATE SINK sizes USING parquet LOCATION 'sizes';
CREATE SINK days USING parquet LOCATION 'days';
INSERT INTO bids SELECT i.id, b.price FROM item AS i JOIN bid AS b ON i.id = b.item;
INSERT INTO sizes SELECT i.id, SUM(b.price) AS paid FROM item AS i JOIN bid AS b ON i.id = b.item GROUP BY i.id;
INSERT INTO days SELECT day, SUM(n) AS n FROM visit GROUP BY day;
"""
CLOSED = (("item", "id"), ("bid", "item"), ("visit", "day"))
LATE = "it matches an earlier punctuation of its stream"


def items(*ids: int) -> list[dict[str, object]]:
    return [{"id": id, "size": 10 * id} for id in ids]


def bid(item: int, price: int) -> dict[str, object]:
    return {"item": item, "price": price}


def closed(*items: int) -> list[str]:
    return [json.dumps({"item": item}) for item in items]


def visits(*days: str) -> list[dict[str, object]]:
    return [{"day": day, "n": 1} for day in days]


@pytest.mark.parametrize(
    "purge",
    [
        pytest.param(PurgePolicy(), id="eager", marks=pytest.mark.long),
        pytest.param(PurgePolicy(eager_rows=0, max_deltas=2), id="lazy"),
    ],
)
def test_keys_without_gaps_and_with_them(spark: SparkSession, tmp_path: Path, purge: PurgePolicy) -> None:
    script = Script(spark, tmp_path, PIPELINE, purge=purge)
    script.slice(
        item=items(1, 2, 3), bid=[bid(1, 10), bid(2, 11), *closed(1)], visit=visits("1969-12-31", "1970-01-01")
    )
    script.slice(
        item=items(4, 5), bid=[bid(3, 12), bid(1, 13), *closed(2, 3)], visit=visits("1970-01-02", "1970-01-01")
    )
    script.run()
    script.slice(item=items(7, 2), bid=[bid(5, 14), *closed(5, 5)], visit=visits("1969-12-29"))
    script.slice(item=items(6, 9), bid=[bid(4, 15), bid(3, 16), *closed(4, 9, 8)])
    query = script.run()

    def found(sink: str) -> list[list[tuple[object, ...]]]:
        return [[tuple(row.values()) for row in script.rows(sink, slice)] for slice in range(4)]

    assert found("bids") == [[(1, 10), (2, 11)], [(3, 12)], [(5, 14)], [(4, 15)]]
    assert found("sizes") == [[(1, 10)], [(2, 11), (3, 12)], [(5, 14)], [(4, 15)]]
    day = date.fromisoformat
    assert found("days") == [
        [(day("1969-12-31"), 1), (day("1970-01-01"), 1)],
        [(day("1970-01-02"), 1)],
        [(day("1969-12-29"), 1)],
        [],
    ]
    assert [item[:3] for item in script.quarantine(query)] == [
        (1, "bid", LATE),
        (1, "visit", LATE),
        (2, "item", LATE),
        (3, "bid", LATE),
    ]
    if purge == PurgePolicy():  # 1 to 7 and 9; 1 to 5 and 8 to 9; 29 December, and three days
        state = script.progress[-1].state
        assert [state[f"{name}: closed({key})"] for name, key in CLOSED] == [2, 2, 2]


def test_runs_are_in_the_manifest_alone(spark: SparkSession, tmp_path: Path) -> None:
    """And are found there by a run that continues."""
    script = Script(spark, tmp_path, PIPELINE)
    script.slice(item=items(*range(3000)), bid=closed(*range(2999)))
    script.run()
    manifest = json.loads((tmp_path / "checkpoint" / "manifests" / "0000000000.json").read_text(encoding="utf-8"))
    assert manifest["content"]["tables"]["item: closed(id)"]["spans"] == [["0", "2999"]]
    assert manifest["content"]["tables"]["bid: closed(item)"]["spans"] == [["0", "2998"]]
    written = list((tmp_path / "checkpoint" / "state").glob("0000000000-*/table=*"))
    holding = [name for name, rows in script.progress[0].state.items() if rows and ": closed" not in name]
    assert len(written) == len(holding)
    script.slice(item=items(5), bid=[bid(2999, 1), bid(2998, 1)])
    query = script.run()
    assert script.rows("bids") == [{"id": 2999, "price": 1}]
    assert [item[:3] for item in script.quarantine(query)] == [(1, "bid", LATE), (1, "item", LATE)]


ORDERED = """
CREATE STREAM item (id INT, at INT, UNIQUE (id), ORDERED BY (at)) FROM FILES item;
CREATE STREAM bid (item BIGINT, rows INT, UNIQUE (rows), PUNCTUATED BY (item)) FROM FILES bid;
CREATE SINK bids USING parquet LOCATION 'bids';
INSERT INTO bids SELECT i.id, b.rows FROM item AS i JOIN bid AS b ON i.id = b.item;
"""


def offer(id: int, at: int) -> dict[str, object]:
    return {"id": id, "at": at}


def test_rows_that_are_set_aside_close_nothing_and_give_no_result(spark: SparkSession, tmp_path: Path) -> None:
    """A glance takes 2, 3, 4 for a run, but 3 is late, and may come again. By then results were written."""
    script = Script(spark, tmp_path, ORDERED)
    script.slice(item=[offer(1, 10)], bid=[{"item": 1, "rows": 7}, {"item": 3, "rows": 8}])
    script.slice(item=[offer(2, 11), offer(3, 9), offer(4, 12)], bid=[{"item": 4, "rows": 9}])
    script.slice(item=[offer(3, 12)], bid=[{"item": 4, "rows": 8}, {"item": 2, "rows": 1}])
    query = script.run()
    found = [[tuple(row.values()) for row in script.rows("bids", slice)] for slice in range(3)]
    assert found == [[(1, 7)], [(4, 9)], [(2, 1), (3, 8)]]
    assert [item[:3] for item in script.quarantine(query)] == [
        (1, "item", "it is below the bound of ORDERED BY (at)"),
        (2, "bid", LATE),
    ]


def test_a_column_lacks_values_of_the_wider_one_it_is_compared_with(spark: SparkSession, tmp_path: Path) -> None:
    """The grouping asks for punctuations on an INT, and gets those of a BIGINT."""
    script = Script(
        spark,
        tmp_path,
        ORDERED.replace("SELECT i.id, b.rows FROM", "SELECT i.id, COUNT(*) AS n FROM").replace(
            "b.item;", "b.item GROUP BY i.id;"
        ),
    )
    script.slice(item=[offer(1, 10)], bid=[{"item": 1, "rows": 7}, *closed(2**40, 2**40 + 1)])
    script.slice(bid=[*closed(2**50, 2**51, 1)])
    script.slice(item=[offer(2, 11)], bid=[*closed(2)])
    script.run()
    assert script.rows("bids") == [{"id": 1, "n": 1}]


SPARSE = """
CREATE STREAM item (id INT, UNIQUE (id)) FROM FILES item;
CREATE STREAM bid (item BIGINT, at INT, PUNCTUATED BY (item), ORDERED BY (at) {more}) FROM FILES bid;
CREATE SINK bids USING parquet LOCATION 'bids';
INSERT INTO bids SELECT i.id, b.at FROM item AS i JOIN bid AS b ON i.id = b.item;
"""


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("", id="at a glance"),
        pytest.param(", CHECK (at > 0)", id="row by row", marks=pytest.mark.long),
    ],
)
def test_keys_that_were_closed_with_gaps_and_then_without(spark: SparkSession, tmp_path: Path, more: str) -> None:
    """After a slice with gaps different keys are not counted; the ends and the number are, and tell when to."""
    script = Script(spark, tmp_path, SPARSE.format(more=more))

    def slice(at: int, bids: tuple[int, ...], *keys: int) -> None:
        script.slice(bid=[*({"item": each, "at": at} for each in bids), *closed(*keys)])

    slice(1, (1, 5, 9), 20, 40, 40)
    slice(2, (30, 40), 60, 80, 60)
    slice(3, (50, 60), 90, 91, 90)  # three for two keys: they might be without gaps, and are
    slice(4, (70, 91, 93), 92, 94, 92, 94)  # four for three keys: they might be, and are not
    slice(5, (93, 94), 93, 95)
    query = script.run()
    tables = [each.state["bid: closed(item)"] for each in script.progress]
    assert tables == [2, 4, 5, 6, 5]
    assert script.progress[-1].punctuations == 2
    assert [(item[0], item[3]) for item in script.quarantine(query)] == [
        (1, '{"item":40,"at":2}'),
        (2, '{"item":60,"at":3}'),
        (3, '{"item":91,"at":4}'),
        (4, '{"item":94,"at":5}'),
    ]


def test_a_stream_that_has_ended_remembers_nothing_else(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, SPARSE.format(more=""))
    script.slice(item=items_of(1, 3), bid=[{"item": 1, "at": 1}, *closed(1, 20, 40)])
    script.slice(item=items_of(5), bid=[*closed(60), "{}"])
    script.slice(item=items_of(7), bid=[{"item": 7, "at": 2}, {"item": 40, "at": 2}, *closed(80)])
    query = script.run()
    assert [each.state["bid: closed(item)"] for each in script.progress[:2]] == [3, 0]
    assert [each.state_rows for each in script.progress[1:]] == [0, 0]
    assert [item[:3] for item in script.quarantine(query)] == [(2, "bid", LATE), (2, "bid", LATE)]
    script.run_to_end()
    assert script.progress[-1].punctuation_rows == 0


def items_of(*ids: int) -> list[dict[str, object]]:
    return [{"id": id} for id in ids]


CHAIN = """
CREATE STREAM a (x INT, v INT, m MAP<STRING, INT>, PUNCTUATED BY (x)) FROM FILES a;
CREATE STREAM b (x INT, y INT, v INT, PUNCTUATED BY (x), PUNCTUATED BY (y)) FROM FILES b;
CREATE STREAM c (y INT, z INT, v INT, PUNCTUATED BY (y), PUNCTUATED BY (z)) FROM FILES c;
CREATE STREAM d (z INT, PUNCTUATED BY (z)) FROM FILES d;
CREATE SINK met USING parquet LOCATION 'met';
INSERT INTO met SELECT a.v, d.z FROM a JOIN b ON a.x = b.x AND coalesce(a.v, 0) <= coalesce(b.v, a.m['w'], 0)
  JOIN c ON b.y = c.y AND coalesce(b.v, 0) <= coalesce(c.v, 0) JOIN d ON c.z = d.z;
"""


def test_null_in_a_column_of_another_condition_does_not_purge(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, CHAIN)
    script.slice(
        a=[{"x": 1, "v": None}, '{"x": 1}'],
        b=[{"x": 1, "y": 1, "v": None}, '{"x": 1}', '{"y": 1}'],
        c=[{"y": 1, "z": 1, "v": None}, '{"y": 1}'],
    )
    script.slice(d=[{"z": 1}, '{"z": 1}'], c=['{"z": 1}'])
    script.run()
    assert script.rows("met") == [{"v": None, "z": 1}]
    assert script.progress[0].state_rows == 3
    assert script.progress[-1].state_rows == 0


def test_ranges_below_a_number_are_in_the_manifest_alone(spark: SparkSession, tmp_path: Path) -> None:
    """However they are spelled they say the same; over a restart too."""
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM a (k BIGINT, x TINYINT, PUNCTUATED BY (k), PUNCTUATED BY (x)) FROM FILES a;
        CREATE SINK out USING parquet LOCATION 'out';
        INSERT INTO out SELECT k, COUNT(*) AS n FROM a GROUP BY k;
        """,
    )
    script.slice(a=[*({"k": k, "x": 1} for k in (-5, 1, 2, 3, 4)), '{"k": {"lt": 2}}', '{"k": {"lt": 1}}'])
    script.run()
    assert script.progress[0].punctuations == 2
    manifest = json.loads((tmp_path / "checkpoint" / "manifests" / "0000000000.json").read_text(encoding="utf-8"))
    assert manifest["content"]["tables"]["a: closed(k)"]["spans"] == [[None, "1"]]
    script.slice(a=['{"x": {"lt": -128}}', '{"k":{"lt":3}}', {"k": None, "x": 1}])  # below -128 there is nothing
    script.run()
    assert script.rows("out") == [{"k": -5, "n": 1}, {"k": 1, "n": 1}, {"k": 2, "n": 1}]
    script.slice(a=[{"k": 2, "x": 1}, {"k": -7, "x": 1}, {"k": 4, "x": -128}, '{"k": {"lt": 4}}', '{"k": 4}'])
    query = script.run()
    assert sorted(json.loads(row)["k"] for _, _, _, row in script.quarantine(query)) == [-7, 2]
    assert script.rows("out")[3:] == [{"k": 3, "n": 1}, {"k": 4, "n": 2}]
