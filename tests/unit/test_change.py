"""What of a pipeline may change while its checkpoint goes on, and what a refusal says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from caesura.checkpoint.canonical import fingerprint, place
from caesura.checkpoint.change import differences
from caesura.checkpoint.claim import Claim, Wish, claimed, keep_claim
from caesura.checkpoint.storage import LocalStorage
from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.plan import Pipeline, Scan, walk
from caesura.planning.statistics import Statistics
from caesura.sql.bind import bind
from caesura.sql.secrets import without_secrets

TEXT = """
CREATE STREAM a (k BIGINT, x BIGINT, PUNCTUATED BY (k))
USING json LOCATION 'a' OPTIONS (maxFilesPerTrigger 1, rate 10, password 'mine');
CREATE STREAM b (k BIGINT, y BIGINT, PUNCTUATED BY (k)) USING json LOCATION 'b';
CREATE SINK pairs USING parquet LOCATION 'pairs' OPTIONS (compression 'snappy');
CREATE SINK counts USING jdbc OPTIONS (url 'jdbc:x://host/db?password=mine', dbtable 'counts', user 'me');
CREATE VIEW large AS SELECT k, x FROM a WHERE x > 10;
INSERT INTO pairs SELECT l.k, x, y -- both
FROM large AS l JOIN b ON l.k = b.k;
INSERT INTO counts SELECT k, COUNT(*) AS n FROM b GROUP BY k;
"""


def pipeline(text: str = TEXT) -> Pipeline:
    return bind(Source("test.sql", text))


def changed(*changes: tuple[str, str]) -> str:
    text = TEXT
    for before, now in changes:
        assert before in text
        text = text.replace(before, now)
    return text


def fingerprints(text: str) -> list[str]:
    bound = pipeline(text)
    return [f"{fingerprint(query, bound.catalog)} {place(query.sink)}" for query in bound.queries]


@pytest.mark.parametrize(
    "changes",
    [
        [("-- both", "/* the two of them */")],
        [("large AS l", "large AS m"), ("l.k", "m.k")],
        [("FROM b GROUP", "FROM b AS c GROUP")],
        [("maxFilesPerTrigger 1", "maxFilesPerTrigger 20")],
        [("rate 10", "rate 99")],
        [("'mine'", "'another'")],
        [("snappy", "zstd")],
        [("password=mine", "password=another"), ("user 'me'", "user 'you'")],
        [("VIEW large", "VIEW big"), ("FROM large", "FROM big")],
    ],
)
def test_what_does_not_matter(changes: list[tuple[str, str]]) -> None:
    assert fingerprints(changed(*changes)) == fingerprints(TEXT)


@pytest.mark.parametrize(
    ("changes", "which"),
    [
        ([("x > 10", "x > 11")], [True, False]),
        ([("x, y", "y, x")], [True, False]),
        ([("x, y", "x, y AS z")], [True, False]),
        ([("LOCATION 'a'", "LOCATION 'c'")], [True, False]),
        ([("LOCATION 'pairs'", "LOCATION 'c'")], [True, False]),
        ([("dbtable 'counts'", "dbtable 'c'")], [False, True]),
        ([("host/db", "host/other")], [False, True]),
        ([("y BIGINT, PUNCTUATED BY (k)", "y BIGINT, PUNCTUATED BY (k), PUNCTUATED BY (y)")], [True, True]),
        ([("JOIN b ON l.k = b.k", "JOIN b ON l.k = b.k AND l.x = b.y")], [True, False]),
    ],
)
def test_what_matters(changes: list[tuple[str, str]], which: list[bool]) -> None:
    pairs = zip(fingerprints(changed(*changes)), fingerprints(TEXT), strict=True)
    assert [mine != theirs for mine, theirs in pairs] == which


def test_aliases_that_change_places_are_another_query() -> None:
    text = changed(("l.k, x, y", "l.k, c.y, b.y AS d"), ("JOIN b", "JOIN b AS c ON l.k = c.k JOIN b"))
    assert fingerprints(text)[0] == fingerprints(text.replace("c.", "d.").replace("AS c", "AS d"))[0]
    swapped = text.replace("ON l.k = c.k", "ON l.k = c.y")
    assert fingerprints(text)[0] != fingerprints(swapped)[0]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("SELECT c.k, c.SUM AS u FROM (SELECT k, SUM(x) AS SUM FROM a GROUP BY k) c", ("SUM", "MAX")),
        ("SELECT c.left AS u FROM (SELECT a.k AS left FROM a LEFT JOIN b ON a.k = b.k) c", ("left", "right")),
    ],
)
def test_a_column_that_is_called_like_a_function_or_a_join_hides_nothing(
    before: str, now: tuple[str, str]
) -> None:
    declared = TEXT[: TEXT.index("CREATE SINK")]
    changed = re.sub(*now, before, flags=re.IGNORECASE)
    assert fingerprints(f"{declared} {before};") != fingerprints(f"{declared} {changed};")


def test_the_parts_of_a_stream_that_is_complete_by_a_table_matter() -> None:
    text = """
    CREATE TABLE parts (p STRING) USING json LOCATION 'p1';
    CREATE STREAM c (p STRING, k BIGINT, PUNCTUATED BY (p, k), COMPLETE BY (k) PER (p) IN parts) USING json
    LOCATION 'c';
    SELECT k, COUNT(*) AS n FROM c GROUP BY k;
    """
    assert fingerprints(text) != fingerprints(text.replace("p1", "p2"))


def test_hints_do_not_matter() -> None:
    text = changed(("JOIN b ON", "JOIN b AS c ON l.k = c.k JOIN b ON"), ("x, y", "x, b.y"))
    assert fingerprints(text.replace("SELECT l.k", "SELECT /*+ MJOIN */ l.k")) == fingerprints(text)


def test_differences_line_by_line() -> None:
    now = changed(("x > 10", "x > 11"), ("FROM large AS l JOIN", "FROM large AS l\nJOIN"), ("snappy", "zstd"))
    assert list(differences(TEXT, now)) == [
        "sink `pairs` was changed:\n"
        "  - CREATE SINK pairs USING parquet LOCATION 'pairs' OPTIONS (compression 'snappy')\n"
        "  + CREATE SINK pairs USING parquet LOCATION 'pairs' OPTIONS (compression 'zstd')",
        "view `large` was changed:\n"
        "  - CREATE VIEW large AS SELECT k, x FROM a WHERE x > 10\n"
        "  + CREATE VIEW large AS SELECT k, x FROM a WHERE x > 11",
        "INSERT INTO `pairs` was changed:\n"
        "  - FROM large AS l JOIN b ON l.k = b.k\n"
        "  + FROM large AS l\n"
        "  + JOIN b ON l.k = b.k",
    ]
    fewer = TEXT[: TEXT.index("INSERT INTO counts")]
    assert list(differences(TEXT, fewer)) == ["INSERT INTO `counts` is missing"]
    assert list(differences(fewer, TEXT)) == ["INSERT INTO `counts` is new"]


def claim(
    folder: Path, text: str, *, add: bool = False, next: int = 0, ended: bool = False
) -> tuple[Claim, Pipeline]:
    storage = LocalStorage(str(folder))
    wish = Wish(pipeline(text), Statistics(), add_queries=add, next=next, ended=ended)
    claim, executed = claimed(storage, wish)
    keep_claim(storage, claim)
    return claim, executed


def refusal(folder: Path, text: str, **wish: bool) -> str:
    with pytest.raises(CaesuraError) as refused:
        claim(folder, text, **wish)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == Code.OTHER_PIPELINE
    return "\n".join((*diagnostic.because, *diagnostic.help))


def test_columns_keep_the_names_they_were_made_with(tmp_path: Path) -> None:
    _, before = claim(tmp_path, TEXT)
    text = changed(("FROM b GROUP", "FROM b AS c GROUP"), ("maxFilesPerTrigger 1", "maxFilesPerTrigger 20"))
    _, now = claim(tmp_path, text)
    scans = {node for query in now.queries for node in walk(query.plan) if isinstance(node, Scan)}
    assert {scan.alias for scan in scans} == {"a", "b"}
    assert {dict(scan.relation.origin.options).get("maxFilesPerTrigger") for scan in scans} == {"20", None}  # type: ignore[union-attr]
    assert [query.plan.columns for query in now.queries] == [query.plan.columns for query in before.queries]


def test_a_refusal_says_what_differs(tmp_path: Path) -> None:
    claim(tmp_path, TEXT)
    found = refusal(tmp_path, changed(("x > 10", "x > 11")))
    assert "  + CREATE VIEW large AS SELECT k, x FROM a WHERE x > 11" in found
    assert "mine" not in found
    assert "INSERT INTO `counts` is missing" in refusal(tmp_path, TEXT[: TEXT.index("INSERT INTO counts")])


def test_queries_are_added_if_that_is_asked_for(tmp_path: Path) -> None:
    claim(tmp_path, TEXT)
    more = "CREATE SINK first USING parquet LOCATION 'first'; INSERT INTO first SELECT DISTINCT k FROM a;" + TEXT
    assert "`first` is new\n--add-queries" in refusal(tmp_path, more)
    added, executed = claim(tmp_path, more, add=True, next=5)
    assert [(kept.name, kept.since) for kept in added.queries] == [("pairs", 0), ("counts", 0), ("first", 5)]
    assert claim(tmp_path, more) == (added, executed)
    assert [query.name for query in executed.queries] == ["pairs", "counts", "first"]
    assert "INSERT INTO `first` is missing" in refusal(tmp_path, TEXT)


def test_a_query_that_reads_a_new_stream_is_not_added(tmp_path: Path) -> None:
    claim(tmp_path, TEXT)
    more = f"{TEXT} CREATE STREAM c (k INT) USING json LOCATION 'c'; SELECT k FROM c;"
    assert "`select_1` would read `c`" in refusal(tmp_path, more, add=True)


def test_a_query_is_not_added_to_streams_that_have_ended(tmp_path: Path) -> None:
    claim(tmp_path, TEXT)
    assert "have ended" in refusal(tmp_path, f"{TEXT} SELECT k FROM a;", add=True, ended=True)


def test_a_sink_that_is_elsewhere_is_named(tmp_path: Path) -> None:
    claim(tmp_path, TEXT)
    found = refusal(tmp_path, changed(("dbtable 'counts'", "dbtable 'totals'")))
    assert (
        "`counts` was written to jdbc jdbc:x://host/db counts, and would be to jdbc jdbc:x://host/db totals"
        in found
    )


def test_secrets_are_not_kept(tmp_path: Path) -> None:
    claim(tmp_path, TEXT)
    kept = (tmp_path / "pipeline.json").read_text()
    assert "mine" not in kept
    assert "password" in kept
    assert json.loads(kept)


def test_texts_are_kept_without_comments_and_without_what_urls_say_about_who_may() -> None:
    text = """-- the password is mine
    CREATE TABLE t (k INT) USING jdbc OPTIONS (url 'jdbc:x://me:mine@host/db?ssl=1&password=mine', pwd 'mine');
    CREATE STREAM s (k INT) USING parquet LOCATION 's3a://me:mine@bucket/s' OPTIONS (header 'it\\'s');"""
    assert without_secrets(Source("test.sql", text)) == (
        "CREATE TABLE t (k INT) USING jdbc OPTIONS ('url' 'jdbc:x://host/db?ssl=1', 'pwd' '');\n"
        "CREATE STREAM s (k INT) USING parquet LOCATION 's3a://bucket/s' OPTIONS (header 'it\\'s');\n"
    )
