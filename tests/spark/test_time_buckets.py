"""What closes with time: buckets, cut times, shifted times; and groups that are told whenever they change."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from caesura.testing.script import Script


def at(second: int) -> str:
    return f"2026-01-01 00:{second // 60:02}:{second % 60:02}"


def bids(*seconds: int) -> list[dict[str, object]]:
    return [{"auction": second % 2, "price": float(second), "at": at(second)} for second in seconds]


def test_groups_close_when_time_has_passed_them(spark: SparkSession, tmp_path: Path) -> None:
    """The newest time less five seconds is the bound: a group comes out once all its times lie below."""
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM bid (auction BIGINT, price DOUBLE, at TIMESTAMP, ORDERED BY (at WITHIN INTERVAL 5 SECONDS))
          FROM FILES bid;
        CREATE SINK buckets USING parquet LOCATION 'buckets';
        CREATE SINK hops USING parquet LOCATION 'hops';
        CREATE SINK minutes USING parquet LOCATION 'minutes';
        CREATE SINK changes USING parquet LOCATION 'changes';
        INSERT INTO buckets
          SELECT CAST(window.start AS STRING) AS s, CAST(window.end AS STRING) AS e, auction, COUNT(*) AS n
          FROM bid GROUP BY window(at, '10 seconds'), auction;
        INSERT INTO hops
          SELECT CAST(window(at, '10 seconds', '4 seconds').start AS STRING) AS w, COUNT(*) AS n
          FROM bid GROUP BY window(at, '10 seconds', '4 seconds');
        INSERT INTO minutes SELECT DISTINCT date_trunc('minute', at + INTERVAL 1 HOUR) AS minute FROM bid;
        INSERT INTO changes SELECT date_trunc('hour', at) AS hour, COUNT(*) AS n, MAX(price) AS most FROM bid
          GROUP BY date_trunc('hour', at) HAVING MAX(price) > 9 EMIT CHANGES;
        """,
    )
    script.slice(bid=[*bids(1, 4, 9), {"auction": 1, "price": 0.0, "at": None}])
    script.slice(bid=bids(7, 12, 19))
    script.slice(bid=bids(66))
    script.slice(bid=[])
    script.run()
    counts = [p.output for p in script.progress]
    assert [(c["buckets"], c["hops"], c["minutes"], c["changes"]) for c in counts] == [
        (0, 1, 2, 0),
        (2, 3, 0, 1),
        (2, 3, 1, 1),
        (0, 0, 0, 0),
    ]
    assert {tuple(row.values()) for row in script.rows("buckets")} == {
        (at(0), at(10), 0, 1),
        (at(0), at(10), 1, 3),
        (at(10), at(20), 0, 1),
        (at(10), at(20), 1, 1),
    }
    hops = {tuple(row.values()) for row in script.rows("hops")}
    before = "2025-12-31 23:59:5{}".format
    assert hops == {(before(2), 1), (before(6), 2), (at(0), 4), (at(4), 4), (at(8), 2), (at(12), 2), (at(16), 1)}
    assert {(r["n"], r["most"]) for r in script.rows("changes")} == {(6, 19.0), (7, 66.0)}
    assert script.progress[-1].state["group"] == 1


def test_buckets_that_overlap_hold_what_is_in_each(spark: SparkSession, tmp_path: Path) -> None:
    """Rows are grouped by panes first, pieces of two seconds here: with a start, several keys, in several slices,
    some closed by their key and some by the time; and without panes where they would be of a millisecond."""
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM bid (
          auction BIGINT NOT NULL, price DOUBLE, at TIMESTAMP, PUNCTUATED BY (auction), ORDERED BY (at)
        ) FROM FILES bid;
        CREATE SINK hops USING parquet LOCATION 'hops';
        CREATE SINK odd USING parquet LOCATION 'odd';
        INSERT INTO hops
          SELECT unix_seconds(window.start) AS start, auction, COUNT(*) AS n, AVG(price) AS mean, MAX(price) most
          FROM bid GROUP BY auction, window(at, '10 seconds', '4 seconds', '1 second');
        INSERT INTO odd SELECT unix_millis(window.start) AS start, COUNT(DISTINCT auction) AS n
          FROM bid GROUP BY window(at, '10 seconds', '3333 milliseconds');
        """,
    )
    slices = [(0, 1, 2, 3), (3, 5, 8, 9, 9, 11, 16), (16, 17, 30, 41)]
    for i, seconds in enumerate(slices):
        script.slice(bid=[*bids(*seconds), *([{"_punctuation": '{"auction": 1}'}] if i == 1 else [])])
    script.slice(bid=bids(100))  # which passes all the others, and stays
    script.run()
    rows = [(second % 2, second) for i, each in enumerate(slices) for second in each if i < 2 or second % 2 == 0]
    zero, groups = 1_767_225_600, dict[tuple[int, int], list[int]]()
    for auction, second in rows:
        for start in range(-7, 50, 4):
            if start <= second < start + 10:
                groups.setdefault((zero + start, auction), []).append(second)
    hops = {(r["start"], r["auction"]): (r["n"], r["mean"], r["most"]) for r in script.rows("hops")}
    assert hops == {key: (len(each), sum(each) / len(each), max(each)) for key, each in groups.items()}
    odd: dict[int, set[int]] = {}
    for auction, second in rows:
        for start in range(-20 * 3333 + -zero * 1000 % 3333, 60_000, 3333):
            if start <= second * 1000 < start + 10_000:
                odd.setdefault(zero * 1000 + start, set()).add(auction)
    assert {r["start"]: r["n"] for r in script.rows("odd")} == {start: len(each) for start, each in odd.items()}


def test_days_as_texts_close_when_time_has_passed_them(spark: SparkSession, tmp_path: Path) -> None:
    """And their state goes: what is written with a sign, or not at all, stays until the end."""
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM bid (auction BIGINT, at TIMESTAMP, ORDERED BY (at)) FROM FILES bid;
        CREATE SINK days USING parquet LOCATION 'days';
        CREATE SINK hours USING parquet LOCATION 'hours';
        INSERT INTO days SELECT date_format(at, 'yyyy-MM-dd') AS day, COUNT(*) AS n FROM bid
          GROUP BY date_format(at, 'yyyy-MM-dd');
        INSERT INTO hours SELECT unix_timestamp(at) DIV 3600 AS hour, year(at) AS year, COUNT(*) AS n FROM bid
          GROUP BY unix_timestamp(at) DIV 3600, year(at);
        """,
    )
    script.slice(bid=[{"auction": n, "at": f"2026-01-01 {n:02}:30:00"} for n in (1, 1, 2, 23)])
    script.slice(bid=[{"auction": 1, "at": "2026-01-01 23:59:59"}, {"auction": 1, "at": "2026-01-02 00:00:00"}])
    script.slice(bid=[{"auction": 1, "at": "2026-01-03 00:00:00"}, {"auction": 2, "at": None}])
    script.slice(bid=[{"auction": 1, "at": "+10000-01-01 00:00:00"}])
    script.run()
    days = [[(row["day"], row["n"]) for row in script.rows("days", slice)] for slice in range(4)]
    assert days == [[], [("2026-01-01", 5)], [("2026-01-02", 1)], []]
    hours = [[(row["hour"], row["n"]) for row in script.rows("hours", slice)] for slice in range(3)]
    first = 490_896  # since 1970
    assert hours == [[(first + 1, 2), (first + 2, 1)], [(first + 23, 2)], [(first + 24, 1)]]
    assert [each.state["group"] for each in script.progress] == [1, 1, 2, 3]
    script.run_to_end()
    assert [row["day"] for row in script.rows("days")] == [
        None,
        "+10000-01-01",
        "2026-01-01",
        "2026-01-02",
        "2026-01-03",
    ]


def test_a_range_on_a_key_that_no_reader_asks_for_is_not_remembered(spark: SparkSession, tmp_path: Path) -> None:
    """The join asks the groups for closed buckets, not for closed auctions."""
    counts = "SELECT auction, window.start AS s, COUNT(*) AS n FROM bid GROUP BY auction, window(at, '10 seconds')"
    script = Script(
        spark,
        tmp_path,
        f"""
        CREATE STREAM bid (auction BIGINT, at TIMESTAMP, PUNCTUATED BY (auction), ORDERED BY (at)) FROM FILES bid;
        CREATE SINK most USING parquet LOCATION 'most';
        INSERT INTO most SELECT c.auction, c.n FROM ({counts}) AS c
          JOIN (SELECT MAX(each.n) AS n, each.s FROM ({counts}) AS each GROUP BY each.s) AS m
          ON c.s = m.s AND c.n >= m.n;
        """,
    )
    script.slice(bid=[*bids(1, 3, 4), '{"auction": {"lt": 1}}'])
    script.slice(bid=bids(11, 21))
    script.run_to_end()
    assert [tuple(row.values()) for row in script.rows("most")] == [(1, 1), (1, 1), (1, 2)]
    assert script.progress[-1].state_rows == 0
    remembered = {name: rows for name, rows in script.progress[1].state.items() if "passed on" in name}
    assert sorted(remembered.values()) == [0, 0, 1, 1], "closed buckets are one range, however many were closed"
