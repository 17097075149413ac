"""Bad input is set aside with its reason and counted; everything else goes on as if it had not come."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.diagnostics import CaesuraError
from caesura.diagnostics.code import Code
from caesura.testing.script import CORRUPT, Script

JOIN = """
CREATE STREAM auction (id BIGINT, category INT, UNIQUE (id), CHECK (category BETWEEN 10 AND 14))
FROM FILES auction;
CREATE STREAM bid (auction BIGINT, price DOUBLE, PUNCTUATED BY (auction)) FROM FILES bid;
CREATE SINK out USING parquet LOCATION 'out';
INSERT INTO out SELECT a.id, a.category, b.price FROM auction AS a JOIN bid AS b ON a.id = b.auction;
"""
LATE = "it matches an earlier punctuation of its stream"
REPEATED = "it repeats UNIQUE (id) in its slice"


def test_a_number_that_repeats_is_found_wherever_it_lies(spark: SparkSession, tmp_path: Path) -> None:
    """Keys are counted in blocks of 64: about the ends of blocks, below zero, at the ends of the type."""
    numbers = [-(2**63), -65, -64, -1, 0, 63, 64, 2**63 - 1]
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM n (id BIGINT, UNIQUE (id)) FROM FILES n;
        CREATE STREAM d (day DATE, UNIQUE (day)) FROM FILES d;
        CREATE SINK out USING parquet LOCATION 'out';
        INSERT INTO out
          SELECT id FROM n WHERE id IS NOT NULL UNION ALL SELECT CAST(unix_date(day) AS BIGINT) AS id FROM d;
        """,
    )
    script.slice(n=[{"id": n} for n in (*numbers, None, None)], d=[{"day": "1969-12-31"}, {"day": "2026-01-01"}])
    script.slice(n=[{"id": n} for n in (7, 8, 1000, 7)], d=[{"day": "1969-12-30"}, {"day": "1969-12-30"}])
    query = script.run_to_end()
    assert [each.quarantined for each in script.progress][:2] == [0, 2]
    assert sorted(row for _, _, _, row in script.quarantine(query)) == ['{"day":"1969-12-30"}', '{"id":7}']


def test_what_breaks_the_contract_is_set_aside_and_the_query_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, JOIN)
    script.slice(
        auction=[
            {"id": 1, "category": 10},
            {"id": 2, "category": 12},
            {"id": 2, "category": 11},
            {"id": 3, "category": 99},
            {"id": 4, "category": None},
            {"id": None, "category": 10},
            {"id": None, "category": 10},
            CORRUPT,
        ],
        bid=[{"auction": 1, "price": 5.0}, '{"auction": 9}', "{bad", '{"nope": 1}', {"auction": 3, "price": 1.0}],
    )
    script.slice(
        auction=[{"id": 1, "category": 13}, {"id": 9, "category": 14}],
        bid=[{"auction": 9, "price": 5.0}, {"auction": 2, "price": 6.0}, '{"auction": "x"}', CORRUPT],
    )
    script.slice(bid=[{"auction": 1, "price": 7.0}, {"auction": 4, "price": 8.0}, '{"auction": [1, 2]}'])
    script.slice(bid=[{"auction": 2, "price": 9.0}, "{}"])
    script.slice(bid=[{"auction": 4, "price": 10.0}])
    query = script.run_to_end()

    assert query.exception() is None
    assert [tuple(row.values()) for row in script.rows("out")] == [
        (1, 10, 5.0),
        (1, 10, 7.0),
        (2, 11, 6.0),
        (4, None, 8.0),
    ]
    quarantined = script.quarantine(query)
    reasons = {row: (slice, stream, reason) for slice, stream, reason, row in quarantined}
    assert len(reasons) == len(quarantined) - 1  # the same unreadable line came twice
    assert reasons.pop(CORRUPT)[2] == "the row cannot be parsed: it is no JSON object"
    broken = reasons.pop('{"id":3,"category":99}')
    assert broken[:2] == (0, "auction")
    assert broken[2].startswith("it breaks CHECK (")
    assert reasons == {
        '{"id":2,"category":12}': (0, "auction", REPEATED),
        "{bad": (0, "bid", "the punctuation cannot be read: it is not JSON"),
        '{"nope": 1}': (0, "bid", "the punctuation cannot be read: there is no column `nope`"),
        '{"id":1,"category":13}': (1, "auction", LATE),
        '{"auction":9,"price":5.0}': (1, "bid", LATE),
        '{"auction": "x"}': (1, "bid", "the punctuation cannot be read: `auction` has no such pattern"),
        '{"auction":2,"price":9.0}': (3, "bid", LATE),
        '{"auction":4,"price":10.0}': (4, "bid", LATE),
    }

    assert [progress.quarantined for progress in script.progress] == [5, 4, 0, 1, 1, 0]
    assert [progress.quarantined_total for progress in script.progress] == [5, 9, 9, 10, 11, 11]
    assert query.lastProgress is not None
    assert query.lastProgress.state_rows == 0
    assert "11 quarantined" in query.lastProgress.line()
    again = spark.read.parquet(query.quarantine_path)
    assert again.count() == 11


def test_a_quarantine_without_rows_can_be_read(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, JOIN)
    script.slice(auction=[{"id": 1, "category": 10}], bid=[{"auction": 1, "price": 5.0}])
    query = script.run_to_end()
    assert script.quarantine(query) == []
    assert query.quarantine().columns == ["slice", "stream", "reason", "row", "file"]


def test_columns_may_have_any_name(spark: SparkSession, tmp_path: Path) -> None:
    """Among them those that Caesura's own tables use."""
    names = ["table", "nth", "count", "entries", "kind", "text", "reason", "row", "stream", "low", "box id", "one"]
    columns = ", ".join(f"`{name}` BIGINT" for name in names)
    script = Script(
        spark,
        tmp_path,
        f"""
        CREATE STREAM odd ({columns}, UNIQUE (`count`), UNIQUE (nth), PUNCTUATED BY (`table`),
            PUNCTUATED BY (entries, kind, text, `row`)) FROM FILES odd;
        CREATE SINK out USING parquet LOCATION 'out';
        INSERT INTO out SELECT `table`, COUNT(*) AS `count`, MAX(`box id`) AS `low` FROM odd GROUP BY `table`;
        """,
    )
    rows = [dict.fromkeys(names, number) for number in (1, 1, 2)]
    script.slice(odd=[*rows, '{"entries": 7, "kind": 7, "text": [7, 8], "row": 7}', '{"table": 1}'])
    script.slice(odd=[dict.fromkeys(names, 3), {**dict.fromkeys(names, 7), "table": 5}, '{"box id": {"gt": 9}}'])
    query = script.run_to_end()
    assert [tuple(row.values()) for row in script.rows("out")] == [(1, 1, 1), (2, 1, 2), (3, 1, 3)]
    assert [reason for _, _, reason, _ in script.quarantine(query)] == [
        "it repeats UNIQUE (count) in its slice",
        LATE,
    ]


@pytest.mark.parametrize("relation", ["auction", "category"])
def test_a_missing_path_is_named(spark: SparkSession, tmp_path: Path, relation: str) -> None:
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM auction (id BIGINT, category INT, UNIQUE (id)) FROM FILES auction;
        CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category';
        SELECT a.id, c.name FROM auction AS a JOIN category AS c ON a.category = c.id;
        """,
    )
    (tmp_path / {"auction": "category", "category": "auction"}[relation]).mkdir()
    with pytest.raises(CaesuraError) as error:
        script.start()
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == Code.SOURCE
    assert diagnostic.message == f"`{relation}` cannot be read"
    assert diagnostic.labels
    assert str(tmp_path / relation) in diagnostic.because[0]


def test_a_table_that_cannot_be_parsed_stops_the_query_before_its_first_slice(
    spark: SparkSession, tmp_path: Path
) -> None:
    script = Script(
        spark,
        tmp_path,
        """
        CREATE TABLE category (id INT, name STRING) USING csv LOCATION 'category.csv';
        CREATE SINK out USING parquet LOCATION 'out';
        INSERT INTO out SELECT id, name FROM category;
        """,
    )
    (tmp_path / "category.csv").write_text("10,books\nx,y\n", encoding="utf-8")
    with pytest.raises(CaesuraError):
        script.run_to_end()
    assert script.rows("out") == []


def test_a_row_that_breaks_a_check_is_set_aside_before_an_expression_fails_on_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The first slice is clean, so the second is planned as if it were, too."""
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM s (id BIGINT, n INT, d INT, CHECK (d <> 0)) FROM FILES s;
        CREATE SINK out USING parquet LOCATION 'out';
        INSERT INTO out SELECT id, n / d AS q FROM s;
        """,
    )
    script.slice(s=[{"id": 1, "n": 4, "d": 2}])
    script.slice(s=[{"id": 2, "n": 4, "d": 0}, {"id": 3, "n": 6, "d": 2}])
    query = script.run()
    assert [tuple(row.values()) for row in script.rows("out")] == [(1, 2.0), (3, 3.0)]
    assert [(slice, stream) for slice, stream, _, _ in script.quarantine(query)] == [(1, "s")]
