"""Each code has a title and a page, and the example on the page is what it says."""

from __future__ import annotations

import re

import pytest

from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import TITLES, Code
from caesura.safety.diagnose import diagnose
from caesura.safety.verdict import check
from caesura.sql.bind import bind

# Found by the command line or while running: a text has no example of them.
RUNNING = {code for code in Code if code.startswith("CAE05")}
NOT_IN_A_TEXT = RUNNING | {Code.NO_FILE, Code.NO_QUERY}


def codes(sql: str) -> set[str]:
    """What binding refuses, or else what the safety check says of it."""
    try:
        pipeline = bind(Source("example", sql))
    except CaesuraError as error:
        return {diagnostic.code for diagnostic in error.diagnostics}
    return {diagnostic.code for query in pipeline.queries for diagnostic in diagnose(check(query))}


@pytest.mark.parametrize("code", Code)
def test_the_page_is_headed_by_the_code_and_its_title(code: Code) -> None:
    assert code.page.startswith(f"# {code}: {TITLES[code]}\n")


@pytest.mark.parametrize("code", Code)
def test_the_example_produces_the_code(code: Code) -> None:
    examples = re.findall(r"```sql\n(.*?)```", code.page, re.DOTALL)
    if code in NOT_IN_A_TEXT:
        assert examples == []
        return
    (example,) = examples
    assert code in codes(example)
