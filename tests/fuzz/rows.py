"""Rows as Spark reads them: each line is a row, a punctuation, or set aside. None is lost, and no slice fails."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from caesura.session import Session
from caesura.spark.query import ContinuousQuery
from caesura.spark.session import embedded
from tests.fuzz import mutations
from tests.fuzz.readers import COLUMNS, PUNCTUATIONS, Reader

LINES = 1000
logging.getLogger("caesura").setLevel(logging.ERROR)  # most is set aside
_DECLARED = ", ".join(f"{name} {type}" for name, type in COLUMNS.items())
_SCALAR = ", ".join(f"{name} {type}" for name, type in COLUMNS.items() if type.scalar)
_JSON = f"CREATE STREAM a ({_DECLARED}, PUNCTUATED BY (i), PUNCTUATED BY (at)) USING json LOCATION 'a';"
_CSV = f"CREATE STREAM a ({_SCALAR}) USING csv LOCATION 'a' OPTIONS (header 'false');"
_ROW = {
    "i": 1,
    "l": 2**40,
    "t": -3,
    "d": 1.5,
    "f": 0.25,
    "c": 12.125,
    "s": "text",
    "b": True,
    "day": "2024-02-29",
    "at": "2024-02-29T12:00:00Z",
    "zone": "2024-02-29 12:00:00",
    "many": [1, 2],
}
_CELLS = ",".join(str(value) for name, value in _ROW.items() if name != "many")


class Slices:
    """A query that is given one file after the other."""

    def __init__(self, declared: str) -> None:
        self._declared = declared
        self._query: ContinuousQuery | None = None
        self._begin()

    def _begin(self) -> None:
        self._folder, self._files = Path(mkdtemp(prefix="caesura-fuzz-")), 0
        (self._folder / "a").mkdir()
        file = self._folder / "pipeline.sql"
        sink = "CREATE SINK out USING noop; INSERT INTO out SELECT * FROM a;"
        file.write_text(f"{self._declared} {sink}", encoding="utf-8")
        self._query = None

    def read(self, text: str) -> None:
        content = text.encode(errors="surrogatepass")
        (self._folder / "a" / f".{self._files}").write_bytes(content)
        (self._folder / "a" / f".{self._files}").rename(self._folder / "a" / f"{self._files}.txt")
        self._files += 1
        try:
            if self._query is None:
                checkpoint = str(self._folder / "checkpoint")
                self._query = Session(embedded()).file(self._folder / "pipeline.sql").start(checkpoint=checkpoint)
            self._query.processAllAvailable()
            progress = self._query.lastProgress
            assert progress is not None
            aside = progress.set_aside.get("a", {})
            unread = sum(number for reason, number in aside.items() if reason.startswith("the punctuation"))
            found = progress.output["out"] + progress.punctuations - unread + sum(aside.values())
            lines = sum(bool(line.strip(b" \t")) for line in re.split(rb"\r\n|\n|\r", content))
            assert found == lines, f"{lines} lines, of which {found} were found: {aside}"
        except BaseException:
            self._begin()
            raise


def _json_line(random: Random) -> str:
    if random.random() < 0.2:
        said = random.choice(PUNCTUATIONS[:-1])  # the last one ends the stream
        mutated = mutations.text(said, random) if random.random() < 0.5 else said
        return json.dumps({"_punctuation": mutated})
    row = {name: value for name, value in _ROW.items() if random.random() < 0.9} | {"i": random.randrange(100)}
    match random.randrange(4):
        case 0:
            return json.dumps(mutations.tree(row, random))
        case 1 | 2:
            return mutations.text(json.dumps(row), random)
    return json.dumps(row)


def _json_lines(_: str, random: Random, __: tuple[str, ...]) -> str:
    return "\n".join(_json_line(random) for _ in range(LINES))


def _csv_lines(text: str, random: Random, words: tuple[str, ...]) -> str:
    return "\n".join(mutations.text(text, random, words) for _ in range(LINES))


class _Lazily:
    """Spark is started for who reads."""

    def __init__(self, declared: str) -> None:
        self._declared = declared
        self._slices: Slices | None = None

    def __call__(self, text: str) -> None:
        self._slices = self._slices or Slices(self._declared)
        self._slices.read(text)


ROWS = (
    Reader("json", ("",), _Lazily(_JSON), _json_lines),
    Reader("csv", (_CELLS,), _Lazily(_CSV), _csv_lines),
)
