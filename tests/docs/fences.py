"""The fenced blocks of the pages, each with what its info string says about it.

- `sql`: binds, every query is safe, and this version runs it
- `sql catalog`: the same; the later blocks of the page build on it
- `sql blocked`: the same, and some query never emits before its input ends
- `sql not executed`: binds, and is refused by `caesura run` alone
- `sql unsafe`: binds, and some state grows without bound
- `sql refused CODE`: does not bind, for this reason
- `text verdict FILE`, `text diagnostics FILE`: what `caesura check` prints for the SQL before, saved as FILE
- `json punctuations`: a punctuation of `bid` in every line
- `json statistics`: a file for `--statistics`, of streams in the SQL before
- `json bid`: rows and punctuations of `bid`, as its source has them
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(?P<info>\S.*)\n(?P<text>(?:.*\n)*?)```$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    words: tuple[str, ...]
    text: str
    declarations: str = ""

    @property
    def sql(self) -> str:
        return self.declarations + self.text

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Page:
    name: str

    @property
    def text(self) -> str:
        return (ROOT / self.name).read_text(encoding="utf-8")

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(self._blocks())

    def of(self, language: str) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.language == language)

    def outputs(self) -> Iterator[tuple[Block, Block]]:
        """Each printed output, with the SQL that it is the output of."""
        for before, block in pairwise(block for block in self.blocks if block.language in ("sql", "text")):
            if block.language == "text":
                yield before, block

    def _blocks(self) -> Iterator[Block]:
        declarations = ""
        for fence in _FENCE.finditer(self.text):
            language, *words = fence["info"].split()
            line = self.text.count("\n", 0, fence.start()) + 1
            yield Block(self.name, line, language, tuple(words), fence["text"], declarations)
            if words == ["catalog"]:
                declarations += fence["text"]


README = Page("README.md")
LANGUAGE = Page("docs/language.md")
TESTING = Page("docs/testing.md")
