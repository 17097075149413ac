"""A few hundred cases for each reader; `make fuzz` tries as many as minutes allow."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from caesura.checkpoint.sealed import FORMAT
from caesura.diagnostics import CaesuraError
from tests.fuzz.readers import Reader, readers

READERS = {reader.name: reader for reader in readers()}
FOUND = sorted((Path(__file__).parent / "found").glob("*.txt"))
"""What once was neither read nor refused: <reader>-<what>.txt."""


def attempt(reader: Reader, text: str) -> bool:
    """Whether it is read."""
    try:
        reader.read(text)
    except CaesuraError:
        return False
    return True


@pytest.mark.parametrize("name", READERS)
def test_what_is_right_is_read(name: str) -> None:
    for text in READERS[name].corpus[:20]:
        assert attempt(READERS[name], text) or name == "sql"


@pytest.mark.parametrize("name", READERS)
def test_whatever_comes_is_read_or_refused(name: str) -> None:
    reader, random = READERS[name], Random(name)
    for _ in range(150):
        attempt(reader, reader.case(random))


@pytest.mark.parametrize("file", FOUND, ids=lambda file: file.stem)
def test_what_was_found_stays_mended(file: Path) -> None:
    text = file.read_bytes().decode(errors="surrogatepass")
    now = re.sub(r'"format": \d+', f'"format": {FORMAT}', text)
    attempt(READERS[file.stem.split("-")[0]], now)
