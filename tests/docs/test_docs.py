"""What the pages show is what happens. `tests/spark/test_readme.py` runs what needs Spark."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from caesura.catalog import Stream
from caesura.cli import main
from caesura.diagnostics import CaesuraError, Source
from caesura.plan import Pipeline
from caesura.planning.statistics_json import read_statistics
from caesura.punctuation_json import read
from caesura.safety.verdict import check
from caesura.sql.bind import bind
from tests.docs.fences import LANGUAGE, README, ROOT, TESTING, Block, Page

PAGES = sorted(str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")))


def bound(block: Block) -> Pipeline:
    return bind(Source(str(block), block.sql))


def outcome(block: Block) -> str:
    """What becomes of a block, in the words of the info strings."""
    try:
        pipeline = bound(block)
    except CaesuraError as error:
        return f"refused {' '.join(sorted({each.code for each in error.diagnostics}))}"
    verdicts = [check(query) for query in pipeline.queries]
    if not all(verdict.safe for verdict in verdicts):
        return "unsafe"
    return "blocked" if any(verdict.blocked for verdict in verdicts) else ""


@pytest.mark.parametrize("block", [*README.of("sql"), *LANGUAGE.of("sql"), *TESTING.of("sql")], ids=str)
def test_an_example_in_sql_has_the_outcome_that_is_written_above_it(block: Block) -> None:
    assert outcome(block) == " ".join(word for word in block.words if word != "catalog")


@pytest.mark.parametrize(("sql", "output"), list(README.outputs()), ids=str)
def test_the_readme_shows_what_check_prints(
    sql: Block, output: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, file = output.words
    monkeypatch.chdir(tmp_path)
    Path(file).write_text(sql.text, encoding="utf-8")
    result = CliRunner().invoke(main, ["check", file])
    printed = {"verdict": result.stdout, "diagnostics": result.stderr}[kind]
    assert output.text.strip() == printed.strip()


def test_the_fix_on_the_first_screen_makes_its_query_safe() -> None:
    unsafe, fix, *_ = README.of("sql")
    start = fix.text.split("(")[0]
    lines = (fix.text if line.startswith(start) else line for line in unsafe.text.splitlines(keepends=True))
    pipeline = bind(Source("bids.sql", "".join(lines)))
    assert [check(query).safe for query in pipeline.queries] == [True]


def test_the_first_screen_ends_with_the_two_commands() -> None:
    first_screen = README.text.split("\n## ")[0]
    assert "make demo" in first_screen
    assert "make test" in first_screen


@pytest.mark.parametrize("block", README.of("python"), ids=str)
def test_an_example_in_python_compiles(block: Block) -> None:
    compile(block.text, str(block), "exec")


@pytest.mark.parametrize("page", [README, LANGUAGE], ids=lambda page: page.name)
def test_every_punctuation_that_is_shown_can_be_read(page: Page) -> None:
    (shown,) = (block for block in page.of("json") if block.words == ("punctuations",))
    stream = next(s for block in page.of("sql") for s in bound(block).catalog.values() if s.name == "bid")
    columns = {column.name: column.type for column in stream.columns}
    for line in shown.text.splitlines():
        read(line, columns)


def test_the_statistics_that_are_shown_can_be_read_for_the_streams_above_them(tmp_path: Path) -> None:
    (shown,) = (block for block in LANGUAGE.of("json") if block.words == ("statistics",))
    above = [block for block in LANGUAGE.of("sql") if block.line < shown.line][-1]
    (tmp_path / "statistics.json").write_text(shown.text, encoding="utf-8")
    found = read_statistics(tmp_path / "statistics.json", (query.plan for query in bound(above).queries))
    assert set(found.streams) == set(json.loads(shown.text))


def test_the_rows_of_the_readme_carry_a_punctuation_that_can_be_read() -> None:
    (shown,) = (block for block in README.of("json") if block.words == ("bid",))
    (bid,) = (s for s in bound(README.of("sql")[2]).catalog.values() if isinstance(s, Stream) and s.name == "bid")
    rows = [json.loads(line) for line in shown.text.splitlines()]
    texts = [row[bid.punctuation_column] for row in rows if bid.punctuation_column in row]
    assert texts
    for text in texts:
        read(text, {column.name: column.type for column in bid.columns})


def test_the_files_in_the_table_of_the_theory_exist() -> None:
    table = [line for line in Page("docs/theory.md").text.splitlines() if line.startswith("| ")]
    named = [name for line in table for name in re.findall(r"`([\w/]+\.py)`", line)]
    assert len(named) > 10
    folders = (ROOT, ROOT / "src" / "caesura")
    assert [name for name in named if not any((folder / name).is_file() for folder in folders)] == []


@pytest.mark.parametrize("name", PAGES)
def test_links_between_pages_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", Page(name).text)
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []
