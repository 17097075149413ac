"""`.sql` in, plan or diagnostic out: what the binder makes of a file; a refused query beside each bound one.

`python -m tests.golden.test_bind` writes the expected files anew; read the difference before you keep it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.render import render
from caesura.explain.describe import describe
from caesura.plan import Query
from caesura.sql.bind import bind

FILES = sorted((Path(__file__).parent / "bind").glob("*.sql"))


def answer(path: Path) -> str:
    try:
        pipeline = bind(Source(path.name, path.read_text(encoding="utf-8")))
    except CaesuraError as error:
        return "\n\n".join(map(render, error.diagnostics)) + "\n"
    return "\n\n".join(map(shown, pipeline.queries)) + "\n"


def shown(query: Query) -> str:
    columns = ", ".join(f"{column.name} {column.type}" for column in query.plan.columns)
    return f"{query.kind} {query.name} ({columns})\n{describe(query.plan)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_bind(path: Path) -> None:
    assert answer(path) == path.with_suffix(".txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    for path in FILES:
        path.with_suffix(".txt").write_text(answer(path), encoding="utf-8")
