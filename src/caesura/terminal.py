"""What a person sees while a pipeline runs: result rows, one live line of progress, diagnostics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from caesura.diagnostics import Diagnostic
from caesura.diagnostics.render import render
from caesura.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROWS_SHOWN = 20
_WIDTH = 40
stdout = Console(soft_wrap=True, highlight=False)
stderr = Console(stderr=True, soft_wrap=True, highlight=False)


def print_rows(name: str, slice: int, rows: DataFrame, count: int) -> None:
    """The first rows of a slice's results, and how many more there are."""
    more = count - _ROWS_SHOWN
    table: str = rows._jdf.showString(_ROWS_SHOWN, _WIDTH, False)
    stdout.print(Text(f"{name}, slice {slice}: {count:,} row{'' if count == 1 else 's'}", style="bold"))
    stdout.print(Text(table.split("only showing")[0].rstrip()))
    if more > 0:
        stdout.print(Text(f"… and {more:,} more"))


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        stderr.out(render(diagnostic, color=stderr.is_terminal))
        stderr.out("")


class ProgressLine:
    """One line that is rewritten at every slice in a terminal; elsewhere a line per slice on standard error.

    In a terminal it shares the console that result rows are printed to, which keeps it below them.
    """

    def __init__(self) -> None:
        self._live = Live(Text(""), console=stdout, transient=True, auto_refresh=False)

    def __enter__(self) -> ProgressLine:
        if stdout.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def update(self, progress: Progress) -> None:
        if self._live.is_started:
            self._live.update(Text(progress.line(), no_wrap=True, overflow="ellipsis"), refresh=True)
        else:
            stderr.out(progress.line())
