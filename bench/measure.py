"""Where and with what a benchmark ran, and how its tables are printed and kept."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable

BENCH = Path(__file__).resolve().parent
RESULTS = BENCH / "results"
WIDTH = 130  # a figure that is cut is worse than a line that wraps


@dataclass(frozen=True)
class Table:
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        lines = [self.head, ("---", *("---:" for _ in self.head[1:])), *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def print(self) -> None:
        table = RichTable(self.head[0])
        for title in self.head[1:]:
            table.add_column(title, justify="right")
        for row in self.rows:
            table.add_row(*row)
        Console(width=WIDTH).print(table)


def circumstances(command: str, *others: str) -> dict[str, str]:
    """What a reader needs to run it again; no host name. `others` are versions of other systems."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    java = subprocess.run(["java", "-version"], stderr=subprocess.PIPE, text=True, check=True).stderr
    return {
        "command": command,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{os.cpu_count()} cores ({platform.machine()}), {memory / 2**30:.0f} GiB, {platform.system()}",
        "load when it began": f"{os.getloadavg()[0]:.1f}",
        "versions": ", ".join(
            (
                f"caesura {version('caesura')}",
                f"pyspark {version('pyspark')}",
                *others,
                f"Python {sys.version.split()[0]}",
                java.splitlines()[0].replace('"', ""),
            )
        ),
    }


def facts(about: Mapping[str, str]) -> str:
    return "\n".join(f"- {key}: {value}" for key, value in about.items())


def keep(name: str, data: object) -> None:
    """What was measured so far, should the rest be lost."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(data, indent=2) + "\n")


def write_results(name: str, markdown: str, data: object, plots: Mapping[str, str] | None = None) -> None:
    """`plots` are SVG texts by the file names that the markdown calls them by."""
    keep(name, data)
    (RESULTS / f"{name}.md").write_text(markdown)
    for file, svg in (plots or {}).items():
        (RESULTS / file).write_text(svg)
    files = ", ".join((f"{name}.md", f"{name}.json", *(plots or {})))
    Console().print(f"written to bench/results: {files}", highlight=False)
