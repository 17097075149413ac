"""The NEXMark examples: what their README says of each is what the check finds, and they declare what is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from caesura.diagnostics import Source
from caesura.safety.verdict import check
from caesura.sql.bind import bind
from caesura.testing.nexmark import nexmark_declarations

EXAMPLES = Path(__file__).parents[2] / "examples" / "nexmark"
QUERIES = [f"q{number}" for number in range(24)]
ROW = re.compile(r"\| \[(?P<query>q\d+)\]\((?P=query)\.sql\) [^|]+ \| (?P<verdict>[^|]+) \| (?P<by>[^|]+) \|")


def text(query: str) -> str:
    return (EXAMPLES / f"{query}.sql").read_text(encoding="utf-8")


def readme() -> dict[str, tuple[str, str]]:
    """By query: the verdict, and by which proofs."""
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    return {found["query"]: (found["verdict"], found["by"]) for found in ROW.finditer(page)}


def test_every_query_is_in_the_readme() -> None:
    assert list(readme()) == QUERIES


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_has_the_verdict_of_the_readme(query: str) -> None:
    (found,) = bind(Source(query, text(query))).queries
    verdict = check(found)
    by = ", ".join(sorted({state.by or "unbounded" for state in verdict.states})) or "stateless"
    assert ("safe" if verdict.safe else "unsafe", by) == readme()[query]
    assert not verdict.blocked


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_declares_the_streams_as_the_generator_does(query: str) -> None:
    declared = re.findall(r"CREATE STREAM .*?;\n", text(query), re.DOTALL)
    generated = re.findall(r"CREATE STREAM .*?;\n", nexmark_declarations(), re.DOTALL)
    assert declared == [each for each in generated if each in declared]
