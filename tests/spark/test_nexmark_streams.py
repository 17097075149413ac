"""The NEXMark streams are what they are said to be: proportions, ids, times, hot keys, and true punctuations."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

import caesura
from caesura.testing import nexmark
from caesura.testing.nexmark import NexmarkStreams, live_nexmark_streams, write_nexmark_streams
from tests.docs.fences import TESTING

EVENTS = 60_000  # more than 1,000 persons, so that some are not active any more
SLICES = 7


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> NexmarkStreams:
    return write_nexmark_streams(spark, tmp_path_factory.mktemp("nexmark"), EVENTS, SLICES, seed=3)


@pytest.fixture(scope="module")
def database(written: NexmarkStreams) -> duckdb.DuckDBPyConnection:
    """Each stream as a table, with the number of the slice that a row is in."""
    found = duckdb.connect()
    found.execute("SET TimeZone = 'UTC'")
    for name in nexmark.STREAMS:
        files = f"read_parquet('{written.directory}/{name}/*.parquet', filename = true)"
        slice = "CAST(regexp_extract(filename, 'slice-([0-9]+)', 1) AS INT) AS slice"
        found.execute(f"CREATE TABLE items AS SELECT *, {slice} FROM {files}")
        if name == "person":
            found.execute("CREATE TABLE person AS SELECT * FROM items")
        else:
            found.execute(f"CREATE TABLE {name} AS SELECT * FROM items WHERE _punctuation IS NULL")
            found.execute(f"CREATE TABLE {name}_closed AS SELECT * FROM items WHERE _punctuation IS NOT NULL")
        found.execute("DROP TABLE items")
    return found


def one(database: duckdb.DuckDBPyConnection, sql: str) -> tuple[object, ...]:
    (row,) = database.sql(sql).fetchall()
    return tuple(row)


def test_persons_auctions_and_bids_are_one_to_three_to_forty_six(
    written: NexmarkStreams, database: duckdb.DuckDBPyConnection
) -> None:
    counts = tuple(
        one(database, f"SELECT count(*), count(DISTINCT date_time) FROM {name}") for name in nexmark.STREAMS
    )
    assert (written.persons, written.auctions, written.bids) == (1_200, 3_600, 55_200)
    assert counts == ((1_200, 1_200), (3_600, 3_600), (55_200, 55_200))
    assert one(database, "SELECT min(id), max(id), count(DISTINCT id) FROM person") == (1_000, 2_199, 1_200)
    assert one(database, "SELECT min(id), max(id), count(DISTINCT id) FROM auction") == (1_000, 4_599, 3_600)


def test_a_slice_comes_after_the_one_before_it(database: duckdb.DuckDBPyConnection) -> None:
    for name in nexmark.STREAMS:
        spans = f"SELECT slice, min(date_time) AS first, max(date_time) AS last FROM {name} GROUP BY slice"
        late = (
            f"SELECT count(*) FROM ({spans}) AS a JOIN ({spans}) AS b ON a.slice < b.slice AND a.last >= b.first"
        )
        assert one(database, late) == (0,)
        assert one(database, f"SELECT count(DISTINCT slice) FROM {name}") == (SLICES,)


@pytest.mark.parametrize(
    ("stream", "column", "slack"), [("bid", "auction", 3), ("bid", "bidder", 1), ("auction", "seller", 1)]
)
def test_a_punctuation_is_true_of_all_later_slices_and_not_of_much_more(
    database: duckdb.DuckDBPyConnection, stream: str, column: str, slack: int
) -> None:
    closed = f"""SELECT slice, CAST(_punctuation->'{column}'->>'lt' AS BIGINT) AS bound
        FROM {stream}_closed WHERE _punctuation LIKE '%"{column}"%'"""
    broken = (
        f"SELECT count(*) FROM {stream} AS s JOIN ({closed}) AS c ON s.slice > c.slice AND s.{column} < c.bound"
    )
    assert one(database, broken) == (0,)
    least = f"SELECT min({column}) AS least FROM {stream} WHERE slice > c.slice"
    (most, many) = one(database, f"SELECT max(({least}) - bound), count(*) FROM ({closed}) AS c")
    assert many == (SLICES if column == "auction" else 2)  # at first all persons are active
    assert isinstance(most, int)
    assert 0 <= most <= 100 * slack


def test_hot_keys_are_as_hot_as_the_public_ones(database: duckdb.DuckDBPyConnection) -> None:
    shares = one(
        database,
        """SELECT (SELECT avg(CAST(auction % 100 = 0 AS INT)) FROM bid),
                  (SELECT avg(CAST(bidder % 100 = 1 AS INT)) FROM bid),
                  (SELECT avg(CAST(seller % 100 = 0 AS INT)) FROM auction),
                  (SELECT avg(CAST(channel IN ('Google', 'Facebook', 'Baidu', 'Apple') AS INT)) FROM bid)""",
    )
    assert shares == pytest.approx((0.505, 0.7525, 0.7525, 0.5), abs=0.02)


def test_about_a_quarter_of_the_bids_come_after_their_auction_has_expired(
    database: duckdb.DuckDBPyConnection,
) -> None:
    late = "SELECT avg(CAST(b.date_time > a.expires AS INT)) FROM bid AS b JOIN auction AS a ON a.id = b.auction"
    (share,) = one(database, late)
    assert share == pytest.approx(0.25, abs=0.04)


def test_values_are_of_the_public_ranges(database: duckdb.DuckDBPyConnection) -> None:
    assert one(database, "SELECT min(price) >= 100, max(price) <= 100_000_000 FROM bid") == (True, True)
    assert one(database, "SELECT min(category), max(category), count(DISTINCT category) FROM auction") == (
        10,
        14,
        5,
    )
    assert one(database, "SELECT count(*) FROM auction WHERE expires <= date_time OR reserve <= initial_bid") == (
        0,
    )
    assert one(database, "SELECT avg(length(extra)) FROM bid") == pytest.approx((68,), abs=2)
    assert one(database, "SELECT count(DISTINCT url) FROM bid WHERE channel = 'Apple'") == (1,)
    assert one(database, "SELECT count(*) FROM person WHERE credit_card NOT SIMILAR TO '(\\d{4} ){3}\\d{4}'") == (
        0,
    )
    assert one(database, "SELECT count(*) FROM bid WHERE split_part(url, '/', 6) NOT SIMILAR TO '[a-p]{5}'") == (
        0,
    )


def test_where_a_stream_is_cut_does_not_change_it(
    spark: SparkSession, written: NexmarkStreams, tmp_path: Path
) -> None:
    again = write_nexmark_streams(spark, tmp_path, EVENTS, 2, seed=3)
    rows = (
        spark.read.parquet(str(each.directory / "auction")).where("_punctuation IS NULL")
        for each in (written, again)
    )
    one, other = rows
    assert one.exceptAll(other).isEmpty()
    assert other.exceptAll(one).isEmpty()


def test_the_page_writes_streams_that_a_query_is_safe_over(spark: SparkSession, tmp_path: Path) -> None:
    _, example = TESTING.of("python")
    exec(example.text.replace('"data"', f'"{tmp_path}"'), {"session": caesura.Session(spark), "Path": Path})


def test_live_streams_have_the_columns_of_the_files(spark: SparkSession, written: NexmarkStreams) -> None:
    for name, frame in live_nexmark_streams(spark, 100).items():
        assert frame.isStreaming
        assert frame.dtypes == spark.read.parquet(str(written.directory / name)).dtypes
