"""The rows that Flink's operators hold for a query of NEXMark, by construction: counted in the streams by DuckDB.

A join without a window keeps every row that passes its filters, and so do the joins above it; an aggregate keeps
a row per group and one per distinct value, shared by the filters on it; a ranking keeps what it may still show.
None of it is ever dropped. Windows are dropped when they end: their rows are those of one window.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from bench.baselines.nexmark import streams_of
from caesura.testing.nexmark import SIDE_KEYS

_MATCHED = """
    SELECT DISTINCT id FROM auction JOIN bid
    ON id = auction AND bid.date_time BETWEEN auction.date_time AND expires"""
_BIDS, _AUCTIONS, _PERSONS = "SELECT * FROM bid", "SELECT * FROM auction", "SELECT * FROM person"
_DAY = "CAST(date_time AS DATE)"

GROWING: dict[str, tuple[str, ...]] = {
    "q3": (f"{_AUCTIONS} WHERE category = 10", f"{_PERSONS} WHERE state IN ('OR', 'ID', 'CA')"),
    "q4": (_AUCTIONS, _BIDS, _MATCHED, "SELECT DISTINCT category FROM auction"),
    "q7": (_BIDS, "SELECT DISTINCT epoch_us(date_time) // 10_000_000 FROM bid"),
    "q9": (_AUCTIONS, _BIDS, _MATCHED),
    "q13": (f"SELECT * FROM range({SIDE_KEYS})",),
    "q15": tuple(f"SELECT DISTINCT {_DAY}{column} FROM bid" for column in ("", ", bidder", ", auction")),
    "q16": tuple(f"SELECT DISTINCT channel, {_DAY}{column} FROM bid" for column in ("", ", bidder", ", auction")),
    "q17": (f"SELECT DISTINCT auction, {_DAY} FROM bid",),
    "q18": ("SELECT DISTINCT bidder, auction FROM bid",),
    "q19": ("SELECT * FROM bid QUALIFY row_number() OVER (PARTITION BY auction ORDER BY price DESC) <= 10",),
    "q20": (_BIDS, f"{_AUCTIONS} WHERE category = 10"),
    "q23": (_BIDS, _PERSONS, "SELECT * FROM bid JOIN person ON id = bidder", _AUCTIONS),
}
"""What is kept, all of it to the end."""

WINDOWS: dict[str, str] = {
    "q5": """
        SELECT pane AS time, sum(count(DISTINCT auction)) OVER (ORDER BY pane RANGE 4 PRECEDING) AS rows
        FROM (SELECT epoch_us(date_time) // 2_000_000 AS pane, auction FROM bid) GROUP BY pane""",
    "q8": """
        SELECT time, count(*) AS rows FROM (
          SELECT DISTINCT epoch_us(date_time) // 10_000_000 AS time, id, 'person' FROM person
          UNION ALL SELECT DISTINCT epoch_us(date_time) // 10_000_000, seller, 'auction' FROM auction
        ) GROUP BY time""",
    "q12": """
        SELECT epoch_us(date_time) // 10_000_000 AS time, count(DISTINCT bidder) AS rows FROM bid GROUP BY time""",
    "q11": """
        WITH bids AS (
          SELECT epoch_us(date_time) AS time, lag(time) OVER every AS before, lead(time) OVER every AS after
          FROM bid WINDOW every AS (PARTITION BY bidder ORDER BY date_time)
        )
        SELECT time, sum(sum(change)) OVER (ORDER BY time) AS rows FROM (
          SELECT time, 1 AS change FROM bids WHERE before IS NULL OR time - before >= 10_000_000
          UNION ALL SELECT time + 10_000_000, -1 FROM bids WHERE after IS NULL OR after - time >= 10_000_000
        ) GROUP BY time""",
}
"""The rows at a time."""

STATEFUL = frozenset((*GROWING, *WINDOWS, "q6"))
"""q6, which Flink refuses, would have a join and a ranking."""


def state_of(query: str, streams: Path) -> tuple[int, int]:
    """The rows when the last row has been read, and the most at any time."""
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        for stream in streams_of(query):
            files = streams / stream / "*.parquet"
            database.execute(f"CREATE VIEW {stream} AS SELECT * FROM '{files}' WHERE _punctuation IS NULL")
        if query in WINDOWS:
            times = " UNION ALL ".join(f"SELECT date_time FROM {stream}" for stream in streams_of(query))
            end = f"(SELECT max(epoch_us(date_time)) FROM ({times}))"
            [(at_end, most)] = database.execute(
                f"SELECT arg_max(rows, time) FILTER (WHERE time <= {end}), max(rows) FROM ({WINDOWS[query]})"
            ).fetchall()
            return int(at_end), int(most)
        kept = 0
        for rows in GROWING.get(query, ()):
            [(count,)] = database.execute(f"SELECT count(*) FROM ({rows})").fetchall()
            kept += int(count)
        return kept, kept
