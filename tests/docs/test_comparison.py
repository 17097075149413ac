"""The comparison says of each query what the check says. What it says of other systems no test can hold."""

from __future__ import annotations

import re

import pytest

from caesura.diagnostics import Source
from caesura.plan import Pipeline
from caesura.safety.verdict import check
from caesura.sql.bind import bind
from tests.docs.fences import Block, Page

COMPARISON = Page("docs/comparison.md")
NUMBERS = range(1, 11)

_ROW = re.compile(
    r"^\| \[(?P<title>(?P<number>\d+)\. [^]]+)\]\(#(?P<anchor>[^)]+)\) \| (?P<verdict>[^|]+) \|",
    re.MULTILINE,
)
_SECTION = re.compile(r"^## (?P<title>(?P<number>\d+)\. .+)\n(?P<text>(?:(?!## ).*\n)*)", re.MULTILINE)

ROWS = {int(row["number"]): row for row in _ROW.finditer(COMPARISON.text)}
SECTIONS = {int(section["number"]): section for section in _SECTION.finditer(COMPARISON.text)}


def example(number: int) -> Block:
    """The one block of SQL in a section."""
    (block,) = (block for block in COMPARISON.of("sql") if block.text in SECTIONS[number]["text"])
    return block


def bound(number: int) -> Pipeline:
    block = example(number)
    return bind(Source(str(block), block.sql))


def verdict(number: int) -> str:
    """In the words of the table."""
    (query,) = bound(number).queries
    found = check(query)
    if not found.safe:
        return "unsafe"
    return "safe, blocked" if found.blocked else "safe"


def test_the_table_has_ten_rows_and_each_has_a_section() -> None:
    assert list(ROWS) == list(NUMBERS)
    assert [row["title"] for row in ROWS.values()] == [section["title"] for section in SECTIONS.values()]


def test_every_block_of_sql_is_the_example_of_one_section() -> None:
    assert [example(number) for number in NUMBERS] == list(COMPARISON.of("sql"))


@pytest.mark.parametrize("number", NUMBERS)
def test_a_row_links_to_its_section(number: int) -> None:
    heading = SECTIONS[number]["title"].lower()
    assert ROWS[number]["anchor"] == re.sub(r"[^\w -]", "", heading).replace(" ", "-")


@pytest.mark.parametrize("number", NUMBERS)
def test_the_check_says_what_the_table_says(number: int) -> None:
    assert verdict(number) == ROWS[number]["verdict"]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_section_has_one_entry_with_a_source_for_each_other_system(number: int) -> None:
    entries = re.findall(r"^- \*\*(.+?)\*\*: ((?:.+\n)(?:  .+\n)*)", SECTIONS[number]["text"], re.MULTILINE)
    assert [system for system, _ in entries] == ["Spark", "Flink SQL", "Feldera"]
    assert [system for system, said in entries if "][" not in said] == []


def test_the_sources_that_are_cited_are_listed() -> None:
    pages, sources = COMPARISON.text.split("\n## Sources\n")
    cited, listed = (set(re.findall(r"\]\[([\w-]+)\]", text)) for text in (pages, sources))
    defined = re.findall(r"^\[([\w-]+)\]: https://\S+$", sources, re.MULTILINE)
    assert cited == listed == set(defined)
