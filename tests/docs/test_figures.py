"""The figures of the README are those of the last runs in bench/results."""

from __future__ import annotations

import json

from bench.measure import RESULTS
from bench.result import Result, median

from tests.docs.fences import ROOT

SYSTEMS = {
    "caesura": "Caesura",
    "spark": "Spark's stream-stream join",
    "flink": "Flink SQL's regular join",
    "batch": "one Spark batch join of all rows",
}


def test_the_table_of_the_auction_join() -> None:
    found = json.loads((RESULTS / "auction.json").read_text())["large"]
    lines = (ROOT / "README.md").read_text().splitlines()
    shown = {tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in lines if line.startswith("|")}
    for name, called in SYSTEMS.items():
        run = median([Result(**each) for each in found[name]])
        rate = f"{run.rate / 1e6:.1f} M" if run.rate >= 1e6 else f"{run.rate / 1e3:.0f} k"
        state = f"{run.state_rows / 1e6:.1f} M" if run.state_rows else "0"
        slowdown = "" if run.slowdown is None else f"{run.slowdown:.2f}"
        assert (called, rate, "" if name == "batch" else state, slowdown) in shown
