"""Every way of punctuating a stream, and what becomes of those who break a promise."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.diagnostics import CaesuraError
from caesura.diagnostics.code import Code
from caesura.spark.inputs import Inputs
from caesura.spark.purge import PurgePolicy
from caesura.testing.script import Script

LATE = "it matches an earlier punctuation of its stream"

ALL = """
CREATE TABLE installed (Sensor INT, place STRING) USING csv LOCATION 'installed.csv';
CREATE STREAM visit (shop INT, pages INT, last BOOLEAN, CLOSED BY (shop) WHEN last) FROM FILES visit;
CREATE STREAM chapter (book INT, part STRING, word STRING, CLUSTERED BY (book, part)) FROM FILES chapter;
CREATE STREAM reading (sensor INT, hour INT, value INT, PUNCTUATED BY (sensor, hour),
  COMPLETE BY (hour) PER (sensor) IN installed) FROM FILES reading;
CREATE SINK visits USING parquet LOCATION 'visits';
CREATE SINK words USING parquet LOCATION 'words';
CREATE SINK readings USING parquet LOCATION 'readings';
INSERT INTO visits SELECT shop, SUM(pages) AS pages FROM visit GROUP BY shop;
INSERT INTO words SELECT book, part, COUNT(*) AS words FROM chapter GROUP BY book, part;
INSERT INTO readings SELECT hour, COUNT(value) AS n FROM reading GROUP BY hour;
"""


def visit(shop: int | None, pages: int, *, last: bool | None = False) -> dict[str, object]:
    return {"shop": shop, "pages": pages, "last": last}


def word(book: int | None, part: str | None = "a") -> dict[str, object]:
    return {"book": book, "part": part, "word": "x"}


def reading(sensor: int, hour: int) -> dict[str, object]:
    return {"sensor": sensor, "hour": hour, "value": 1}


def values(script: Script, sink: str, slice: int) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in script.rows(sink, slice)]


def test_rows_parts_and_neighbours_close_what_they_promise_to(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(spark, tmp_path, ALL)
    (tmp_path / "installed.csv").write_text("1,roof\n2,cellar\n2,cellar again\n,nowhere\n", encoding="utf-8")
    script.slice(
        visit=[visit(1, 2, last=True), visit(1, 3), visit(2, 1, last=None), visit(None, 9, last=True)],
        chapter=[word(1), word(2), word(None), word(1, None)],
        reading=[reading(1, 5), reading(2, 6), '{"sensor": 1, "hour": [5, 6]}', '{"sensor": 2, "hour": 6}'],
    )
    script.slice(
        visit=[visit(1, 1), visit(2, 4)],
        chapter=[word(2)],
        reading=[
            reading(1, 6),
            reading(2, 8),
            '{"sensor": 1, "hour": {"ge": 8, "lt": 12}}',
            '{"sensor": [2, 3], "hour": {"gt": 9, "le": 15}}',
        ],
    )
    script.slice(
        visit=[visit(2, 1, last=True)],
        chapter=[word(1), word(2), word(3), word(4)],
        reading=[reading(2, 5), reading(2, 9), reading(3, 11), '{"sensor": 2}'],
    )
    script.slice(
        visit=[visit(2, 1)],
        chapter=[word(None), word(2), word(4), word(5)],
        reading=[reading(3, 20), reading(1, 20), '{"sensor": 1}'],
    )
    script.slice(reading=[reading(4, 99)])
    query = script.run()

    assert [values(script, "visits", slice) for slice in range(4)] == [[(1, 5)], [], [(2, 6)], []]
    assert [values(script, "words", slice) for slice in range(4)] == [
        [],
        [(1, "a", 1)],
        [(2, "a", 3)],
        [(3, "a", 1), (4, "a", 2)],
    ]
    assert [values(script, "readings", slice) for slice in range(4)] == [
        [(6, 1)],
        [],
        [(5, 2), (8, 1), (9, 1)],
        [(20, 2)],
    ]
    late = [(slice, stream) for slice, stream, reason, _ in script.quarantine(query) if reason == LATE]
    assert late == [
        (1, "reading"),
        (1, "visit"),
        (2, "chapter"),
        (2, "reading"),
        (3, "chapter"),
        (3, "visit"),
        (4, "reading"),
    ]
    last = script.progress[-1]
    assert last.set_aside == {"reading": {LATE: 1}}
    assert {name: n for name, reasons in last.set_aside_total.items() for n in reasons.values()} == {
        "visit": 2,
        "chapter": 2,
        "reading": 3,
    }
    assert last.line().endswith("7 quarantined: 2 of visit, 3 of reading, 2 of chapter")
    assert last.state["chapter: open clusters(book, part)"] == 1
    assert last.state["reading: closed(hour)"] == 1
    assert last.state["reading: closed otherwise"] == 2  # both sensors have ended; what hours contain has gone


EXPIRING = """
CREATE STREAM job (id INT, host INT, at TIMESTAMP, UNIQUE (id) LIFESPAN INTERVAL 10 SECONDS,
  PUNCTUATED BY (host) LIFESPAN INTERVAL 10 SECONDS, ORDERED BY (at)) FROM FILES job;
CREATE STREAM ping (host INT, n INT, PUNCTUATED BY (host) LIFESPAN INTERVAL 1 HOUR,
  ORDERED BY (n) LIFESPAN INTERVAL 1 DAY) FROM FILES ping;
CREATE SINK jobs USING parquet LOCATION 'jobs';
CREATE SINK hosts USING parquet LOCATION 'hosts';
INSERT INTO jobs SELECT host, COUNT(*) AS n FROM job GROUP BY host;
INSERT INTO hosts SELECT DISTINCT host FROM ping;
"""


def job(id: int, host: int, second: int) -> dict[str, object]:
    return {"id": id, "host": host, "at": f"2026-01-01 00:00:{second:02}"}


def ping(host: int, n: int) -> dict[str, object]:
    return {"host": host, "n": n}


def test_what_comes_before_there_is_a_time_is_as_old_as_the_first(spark: SparkSession, tmp_path: Path) -> None:
    text = """
    CREATE STREAM job (host INT, at TIMESTAMP, PUNCTUATED BY (host) LIFESPAN INTERVAL 10 SECONDS, ORDERED BY (at))
      FROM FILES job;
    CREATE SINK jobs USING parquet LOCATION 'jobs';
    INSERT INTO jobs SELECT host, at FROM job;
    """
    script = Script(spark, tmp_path, text)
    script.slice(job=['{"host": 1}'])
    for host, second in ((2, 10), (1, 15), (2, 21), (1, 22)):
        script.slice(job=[{"host": host, "at": f"2026-01-01 00:00:{second:02}"}])
    query = script.run()
    assert [item[0] for item in script.quarantine(query)] == [2]
    assert [row["host"] for row in script.rows("jobs")] == [1, 2, 2]


def test_a_punctuation_is_forgotten_after_its_lifespan(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs have a time of their own; of pings only the time counts at which a slice comes."""
    minutes = iter((0, 30, 61, 62, 63, 24 * 60 + 64, 24 * 60 + 65))
    monkeypatch.setattr(Inputs, "time", lambda inputs, query: next(minutes) * 60_000_000)
    script = Script(spark, tmp_path, EXPIRING, purge=PurgePolicy(eager_rows=0, max_deltas=3))
    script.slice(job=[job(1, 1, 0), '{"host": 1}'], ping=[ping(1, 5), '{"host": 1}'])
    script.slice(job=[job(1, 2, 5), job(2, 1, 6), job(3, 2, 12)], ping=[ping(1, 6), ping(2, 7)])
    script.slice(job=[job(1, 1, 13), '{"host": {"ge": 1, "le": 2}}'], ping=[ping(1, 8), ping(3, 6)])
    script.slice(job=[job(4, 2, 14), job(5, 3, 14), job(9, 9, 1)], ping=[ping(1, 9), ping(2, 9)])
    script.slice(job=[job(6, 3, 30)])
    script.slice(job=[job(7, 2, 31)], ping=[ping(4, 1)])
    script.slice(job=['{"host": 2}'])
    query = script.run()

    assert [values(script, "jobs", slice) for slice in range(7)] == [
        [(1, 1)],
        [],
        [(1, 1), (2, 1)],
        [],
        [],
        [],
        [(2, 1)],
    ]
    assert [values(script, "hosts", slice) for slice in range(7)] == [[(1,)], [(2,)], [(1,)], [], [], [(4,)], []]
    below = "it is below the bound of ORDERED BY ({})"
    assert [item[:3] for item in script.quarantine(query)] == [
        (1, "job", LATE),
        (1, "job", LATE),
        (1, "ping", LATE),
        (2, "ping", below.format("n")),
        (3, "job", below.format("at")),
        (3, "job", LATE),
    ]


STRICT = """
CREATE STREAM s (id INT, n INT, UNIQUE (id), CHECK (n > 0)) FROM FILES s ON VIOLATION FAIL;
CREATE STREAM t (id INT, UNIQUE (id)) FROM FILES t;
CREATE SINK out USING parquet LOCATION 'out';
CREATE SINK others USING parquet LOCATION 'others';
INSERT INTO out SELECT id, n FROM s;
INSERT INTO others SELECT id FROM t;
"""


def row(id: int, n: int = 1) -> dict[str, object]:
    return {"id": id, "n": n}


def test_a_stream_that_is_to_fail_stops_before_anything_is_written_and_continues_when_it_is_repaired(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The first slice is clean, so the second is planned as if it were, too."""
    script = Script(spark, tmp_path, STRICT)
    script.slice(s=[row(1)], t=[{"id": 1}, {"id": 1}])
    script.slice(s=[row(2)], t=[{"id": 2}])
    script.slice(s=[row(1), row(3), row(4, 0), row(5, 0), "{"], t=[{"id": 3}, {"id": 3}])
    with pytest.raises(CaesuraError) as stopped:
        script.run()
    (diagnostic,) = stopped.value.diagnostics
    assert diagnostic.code == Code.VIOLATION
    assert diagnostic.message == "`s` broke its contract in slice 2, nothing of it was committed"
    assert sorted(diagnostic.because) == [
        '2 times: it breaks CHECK (`n` > 0), for example {"id":4,"n":0}',
        'once: it matches an earlier punctuation of its stream, for example {"id":1,"n":1}',
        "once: the punctuation cannot be read: it is not JSON, for example {",
    ]
    assert [progress.slice for progress in script.progress] == [0, 1]
    assert [each["id"] for each in script.rows("out")] == [1, 2]

    broken = tmp_path / "s" / "slice-00002.json"
    modified = broken.stat().st_mtime
    broken.write_text('{"id": 3, "n": 1}\n', encoding="utf-8")
    os.utime(broken, (modified, modified))  # else Spark takes the next, which a script makes older, for outdated
    query = script.run()
    assert [each["id"] for each in script.rows("out")] == [1, 2, 3]
    assert [each["id"] for each in script.rows("others")] == [1, 2, 3]
    assert [(slice, stream) for slice, stream, _, _ in script.quarantine(query)] == [(0, "t"), (2, "t")]

    script.slice(s=[row(3), row(6)])
    script.file.write_text(script.file.read_text().replace("FAIL", "QUARANTINE"), encoding="utf-8")
    script.run()
    assert [each["id"] for each in script.rows("out")] == [1, 2, 3, 6]
    assert script.progress[-1].set_aside == {"s": {LATE: 1}}
