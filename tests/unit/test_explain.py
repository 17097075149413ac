"""`caesura explain`: the document, its text and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from caesura.cli import main
from caesura.diagnostics.code import Code
from caesura.explain.document import Explanation, document
from caesura.explain.text import lines
from caesura.safety.verdict import check
from tests.plans import CATEGORY, join, query, scan, stream, where
from tests.unit.test_components import cycle

GOLDEN = Path(__file__).parent.parent / "golden" / "check"


def explain(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["explain", *arguments])


def figure(name: str) -> Explanation:
    result = explain(str(GOLDEN / f"paper_figure_{name}.sql"), "--json")
    found: list[Explanation] = json.loads(result.stdout)["queries"]
    return found[0]


def test_the_punctuation_graph_of_figure_5() -> None:
    (graph,) = figure("5")["graphs"]
    assert [(edge["sources"], edge["target"], edge["predicate"]) for edge in graph["edges"]] == [
        (["s2"], "s1", "s1.b = s2.b"),
        (["s3"], "s2", "s2.c = s3.c"),
        (["s1"], "s3", "s3.a = s1.a"),
    ]
    assert [node["purgeable"] for node in graph["nodes"]] == [True, True, True]


def test_the_generalised_edge_and_the_merging_of_figures_9_and_10() -> None:
    (graph,) = figure("8")["graphs"]
    assert {
        "sources": ["s1", "s2"],
        "target": "s3",
        "scheme": "PUNCTUATED BY (a, c)",
        "predicate": "s3.a = s1.a AND s3.c = s2.c",
    } in graph["edges"]
    assert graph["rounds"] == [[["s1"], ["s2"], ["s3"]], [["s1", "s2"], ["s3"]], [["s1", "s2", "s3"]]]


def test_a_proof_is_shown_hop_by_hop() -> None:
    (s1, *_) = figure("8")["states"]
    assert [(hop["input"], hop["pins"], hop["promises"]) for hop in s1["hops"]] == [
        ("s2", ["s2.b = s1.b"], ["s2 PUNCTUATED BY (b)"]),
        ("s3", ["s3.a = s1.a", "s3.c = s2.c"], ["s3 PUNCTUATED BY (a, c)"]),
    ]


def test_tables_and_constants_are_in_the_graph() -> None:
    fixed = where(scan(stream("r", "id kind")), "r.kind = 7")
    (found,) = document([check(query(join(fixed, scan(CATEGORY, "c"), on="r.id = c.id")))])["queries"]
    (graph,) = found["graphs"]
    assert [(node["input"], node["relation"], node["static"]) for node in graph["nodes"]] == [
        ("r", "r", False),
        ("c", "category", True),
    ]


def test_the_text_has_the_plan_the_proofs_and_the_graph() -> None:
    text = "\n".join(lines(figure("8_broken")))
    for part in ("plan", "states", "punctuation graph of join", "repairs", "{s1, s2} → s3", "reaches not all"):
        assert part in text


def test_the_exit_status_is_that_of_check(tmp_path: Path) -> None:
    assert explain(str(GOLDEN / "paper_figure_5.sql")).exit_code == 0
    assert explain(str(GOLDEN / "paper_figure_7.sql")).exit_code == 1
    assert explain(str(tmp_path / "nothing.sql")).exit_code == 2


def test_the_page_is_written(tmp_path: Path) -> None:
    result = explain(str(GOLDEN / "paper_figure_7.sql"), "--html", str(tmp_path / "out" / "page.html"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "<svg" in (tmp_path / "out" / "page.html").read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    result = explain(str(GOLDEN / "paper_figure_5.sql"), "--html", str(tmp_path))
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


@pytest.mark.parametrize("code", ["CAE0102", "cae0102"])
def test_a_code_is_explained(code: str) -> None:
    result = explain(code)
    assert result.exit_code == 0
    assert result.stdout.strip() == Code.JOIN_UNBOUNDED.page.strip()


def test_a_long_join_is_explained_in_full() -> None:
    (found,) = document([check(query(cycle(30)))])["queries"]
    assert [len(state["hops"]) for state in found["states"]] == [29] * 30
