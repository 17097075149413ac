"""The figures of the README are those of the last run in bench/results."""

from __future__ import annotations

import json
from statistics import geometric_mean, median
from typing import Any

import pytest
from bench.measure import RESULTS
from bench.result import Result
from bench.result import median as median_run

from tests.docs.fences import ROOT

SYSTEMS = {
    "caesura": "Caesura",
    "spark": "Spark's stream-stream join",
    "flink": "Flink SQL's regular join",
    "batch": "one Spark batch join of all rows",
}


@pytest.fixture(scope="module")
def found() -> Any:
    return json.loads((RESULTS / "slices.json").read_text())


@pytest.fixture(scope="module")
def shown() -> set[tuple[str, ...]]:
    """The rows of all tables."""
    lines = (ROOT / "README.md").read_text().splitlines()
    return {tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in lines if line.startswith("|")}


def brief(number: float) -> str:
    return f"{number / 1e6:.1f} M" if number >= 1e6 else f"{number / 1e3:.0f} k"


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_auction_join(found: Any, shown: set[tuple[str, ...]], name: str) -> None:
    small, large = (Result(**found["large"][size][name]) for size in ("1 M", "4 M"))
    state = "" if name == "batch" else brief(large.state_rows) if large.state_rows else "0"
    assert (SYSTEMS[name], brief(small.rate), brief(large.rate), state) in shown


def test_what_a_slice_costs(found: Any, shown: set[tuple[str, ...]]) -> None:
    small = {name: f"{Result(**each).seconds_per_slice:.2f}" for name, each in found["small"].items()}
    queries, sparks = found["queries"]["16"], found["queries of Spark"]
    assert ("slices of 2,000 rows", small["caesura"], small["spark"]) in shown
    row = "16 queries over the same two streams, slices of 2,000 rows"
    assert (row, f"{queries:.2f}", f"{sparks:.2f}") in shown
    assert ("a state of 10 M rows, the median slice", f"{median(found['state']):.2f}", "") in shown
    assert ("the longest of them", f"{max(found['state']):.2f}", "") in shown


@pytest.fixture(scope="module")
def nexmark() -> Any:
    return json.loads((RESULTS / "nexmark.json").read_text())


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("flink", "of the {} that both answer, {:.2f} times in the geometric mean"),
        ("spark", "of {}, {:.2f} times in the geometric mean"),
    ],
)
def test_nexmark_beside_others(nexmark: Any, other: str, said: str) -> None:
    rates = {
        query: [median_run([Result(**run["result"]) for run in of[system]]).rate for system in ("caesura", other)]
        for query, of in nexmark["runs"].items()
        if all("result" in each for each in of[other])
    }
    ratios = [ours / theirs for ours, theirs in rates.values()]
    faster = "all" if min(ratios) >= 1 else f"{sum(1 for ratio in ratios if ratio >= 1)}"
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert f"{faster} {said.format(len(ratios), geometric_mean(ratios))}" in readme


def test_all_queries_of_nexmark_as_one_pipeline(nexmark: Any, shown: set[tuple[str, ...]]) -> None:
    for both in nexmark["one pipeline"]:
        pipeline = median_run([Result(**run["result"]) for run in both["pipeline"]]).seconds
        row = f"all queries of NEXMark, slices of {both['events of a slice']:,} events"
        assert (row, f"{pipeline:.1f}", f"{sum(both['alone'].values()):.1f}") in shown
