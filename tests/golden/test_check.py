"""`.sql` in, verdict out: what `caesura check` prints, as text and as JSON; an unsafe query beside each safe one.

`python -m tests.golden.test_check` writes the expected files anew; read the difference before you keep it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from caesura.diagnostics import Source
from caesura.safety.report import lines, report
from caesura.safety.verdict import check_all
from caesura.sql.bind import bind

QUERIES = sorted((Path(__file__).parent / "check").glob("*.sql"))


def answer(path: Path) -> str:
    pipeline = bind(Source(path.name, path.read_text(encoding="utf-8")))
    verdicts = check_all(pipeline.queries)
    text = (line for verdict in verdicts for line in lines(verdict))
    return "\n".join((*text, "", json.dumps(report(verdicts), indent=2), ""))


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_check(path: Path) -> None:
    assert answer(path) == path.with_suffix(".txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    for path in QUERIES:
        path.with_suffix(".txt").write_text(answer(path), encoding="utf-8")
