"""Each code has a title and a page, and the example on the page is what it says."""

from __future__ import annotations

import re

import pytest

from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import TITLES, Code
from caesura.sql.bind import bind

# Found by the command line, the safety check or while running: binding their example would show nothing.
NOT_FOUND_BY_BINDING = {code for code in Code if code.startswith(("CAE01", "CAE05"))} | {
    Code.NO_FILE,
    Code.NOT_EXECUTED,
}


@pytest.mark.parametrize("code", Code)
def test_the_page_is_headed_by_the_code_and_its_title(code: Code) -> None:
    assert code.page.startswith(f"# {code}: {TITLES[code]}\n")


@pytest.mark.parametrize("code", Code)
def test_the_example_produces_the_code(code: Code) -> None:
    examples = re.findall(r"```sql\n(.*?)```", code.page, re.DOTALL)
    if code in NOT_FOUND_BY_BINDING:
        assert examples == []
        return
    (example,) = examples
    with pytest.raises(CaesuraError) as error:
        bind(Source(f"{code}.md", example))
    assert [diagnostic.code for diagnostic in error.value.diagnostics] == [code]
