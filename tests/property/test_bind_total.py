"""Binding is total: whatever the text, a pipeline or a CaesuraError whose places lie in the text."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caesura.diagnostics import CaesuraError, Diagnostic, Source
from caesura.diagnostics.code import Code
from caesura.diagnostics.render import render
from caesura.sql.bind import bind
from caesura.sql.dialect import CaesuraParser

GOLDEN = Path(__file__).parent.parent / "golden" / "bind"
WORDS = [re.findall(r"\w+|\s+|[^\w\s]", path.read_text(encoding="utf-8")) for path in sorted(GOLDEN.glob("*.sql"))]
WORDS_OF_SQL = """
SELECT FROM WHERE HAVING LIMIT LEFT USING AS ( ) [ ] { } , ; . * = ' " ` CASE END NULL 1 2.5 'x' INTERVAL
LATERAL OVER DISTINCT INSERT VALUES EXISTS NOT IS CREATE STREAM SINK VIEW UNIQUE WITH RECURSIVE PIVOT TABLESAMPLE
: :: -> => ? @x EMIT CHANGES WITHIN PER LIFESPAN RANGE AND OR BEGIN WHILE DECLARE SET MERGE CALL DESCRIBE CACHE
FOR IN ALL CUBE ROLLUP STRUCT ARRAY MAP COUNT() sum( RANK() QUALIFY PARTITION BY /* */ -- é \0
"""
FOREIGN = WORDS_OF_SQL.split()
OPERATIONS = ("remove", "double", "exchange", "insert")


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A golden file with a few words removed, doubled, exchanged or foreign."""
    words = list(draw(st.sampled_from(WORDS)))
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(words) - 1))
        match draw(st.sampled_from(OPERATIONS)):
            case "remove":
                words[place] = ""
            case "double":
                words[place] *= 2
            case "exchange":
                words[place] = draw(st.sampled_from(words))
            case _:
                words[place] += f" {draw(st.sampled_from(FOREIGN))} "
    return "".join(words)


def diagnostics(text: str) -> tuple[Diagnostic, ...]:
    try:
        bind(Source("damaged.sql", text))
    except CaesuraError as error:
        return error.diagnostics or (Diagnostic(Code.SYNTAX, "an error that says nothing"),)
    return ()


def check(text: str) -> None:
    for diagnostic in diagnostics(text):
        assert render(diagnostic)
        assert diagnostic.labels
        assert all(0 <= label.span.start <= label.span.end <= len(text) for label in diagnostic.labels)


@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_damaged_files(text: str) -> None:
    check(text)


@settings(max_examples=1000, deadline=None)
@given(
    st.sampled_from(sorted(CaesuraParser.FUNCTIONS) + sorted(CaesuraParser.FUNCTION_PARSERS)),
    st.lists(st.sampled_from(["i", "s", "ts", "a", "NULL", "1", "'x'", "*", "DISTINCT i"]), max_size=5),
)
def test_any_call_of_a_known_function(name: str, arguments: list[str]) -> None:
    table = "CREATE TABLE t (i INT, s STRING, ts TIMESTAMP, a ARRAY<INT>) USING parquet;"
    check(f"{table} SELECT {name}({', '.join(arguments)}) AS called FROM t")


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_text(text: str) -> None:
    check(text)
