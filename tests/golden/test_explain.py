"""`.sql` in, `caesura explain` out: its text, what it says of join plans as JSON, and the diagnostics.

`python -m tests.golden.test_explain` writes the expected files anew; read the difference before you keep it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from caesura.diagnostics import Source
from caesura.diagnostics.render import render
from caesura.explain.document import document
from caesura.explain.text import lines
from caesura.safety.diagnose import diagnose
from caesura.safety.verdict import check_all
from caesura.sql.bind import bind

QUERIES = sorted((Path(__file__).parent / "explain").glob("*.sql"))


def answer(path: Path) -> str:
    verdicts = check_all(bind(Source(path.name, path.read_text(encoding="utf-8"))).queries)
    queries = document(verdicts)["queries"]
    text = (line for query in queries for line in lines(query))
    plans = json.dumps([query["join_plans"] for query in queries], indent=2)
    said = (render(each) for verdict in verdicts for each in diagnose(verdict))
    return "\n".join((*text, "", plans, "", *said))


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_explain(path: Path) -> None:
    assert answer(path) == path.with_suffix(".txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    for path in QUERIES:
        path.with_suffix(".txt").write_text(answer(path), encoding="utf-8")
