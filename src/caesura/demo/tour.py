"""The auction query from end to end: the SQL, what the check says, a run, and the state it needed."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from textwrap import fill, indent

from rich.console import Console
from rich.text import Text

from caesura.demo.chart import SHADE, SOLID, chart
from caesura.diagnostics import CaesuraError
from caesura.diagnostics.render import render
from caesura.progress import Progress
from caesura.safety.report import lines
from caesura.session import Session

SQL = files(__package__).joinpath("auction.sql").read_text(encoding="utf-8")
PROMISE = "UNIQUE (id)"
EVENTS = 120_000
SLICES = 8
_JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"
"""In a run of less than a minute the JVM's second compiler costs more than it gains."""
_WIDEST = 100
_CHART_HEIGHT = 10
_WINNERS_SHOWN = 3


def auction() -> None:
    console = Console(highlight=False)
    console.width = min(console.width, _WIDEST)
    _introduce(console)
    _check(console)
    with tempfile.TemporaryDirectory(prefix="caesura-demo-") as folder:
        history = _run(console, Path(folder))
    _conclude(console, history)


def _introduce(console: Console) -> None:
    _heading(console, "Auctions and bids")
    _say(
        console,
        "An auction opens, gets bids, and closes. We want the number of bids and the highest price of every "
        "auction: one row, as soon as it is final. The streams never end, so the state of the query must not "
        "grow with them.",
    )
    console.print(Text(indent(SQL.rstrip(), "  ")), soft_wrap=True)


def _check(console: Console) -> None:
    """The safe query, and how it fares without one of its promises. No Spark is needed for that."""
    session = Session()
    _heading(console, "caesura check")
    for verdict in session.sql(SQL).check():
        for line in lines(verdict):
            _print_hanging(console, Text(line), indent=4)
    console.print()
    _say(console, f"A promise backs each state. Without {PROMISE} the query is refused:")
    try:
        session.sql(without(SQL, PROMISE)).require_safe()
    except CaesuraError as refusal:
        for each in Text.from_ansi(render(refusal.diagnostics[0], color=True)).split():
            _print_hanging(console, each, indent=12)


def without(sql: str, promise: str) -> str:
    """The declaration without the last of its constraints."""
    before, after = sql.split(promise)
    return before.rstrip().removesuffix(",") + after


def _run(console: Console, folder: Path) -> list[Progress]:
    """Run the query over a generated stream; what each slice did."""
    from caesura.testing.auction import write_auction_streams

    _heading(console, "caesura run")
    os.environ.setdefault("SPARK_SUBMIT_OPTS", _JVM)
    session = Session()
    with console.status("starting Spark on this machine"):
        spark = session.spark
    with console.status("generating the streams"):
        streams = write_auction_streams(spark, folder, EVENTS, SLICES, format="json")
    _say(
        console,
        f"{streams.auctions:,} auctions and {streams.bids:,} bids come in {SLICES} slices. "
        "The close of an auction is a punctuation among the bids:",
    )
    for line in excerpt(streams.auction, streams.bid):
        console.print(Text(line), no_wrap=True, overflow="ellipsis")
    console.print()

    pipeline = folder / "auction.sql"
    pipeline.write_text(SQL, encoding="utf-8")
    winners = Winners(folder / "winners")
    history: list[Progress] = []
    with console.status(f"slice 1 of {SLICES}") as status:

        def show(progress: Progress) -> None:
            if progress.rows_in:
                history.append(progress)
                status.update(f"slice {len(history) + 1} of {SLICES}" if len(history) < SLICES else "ending")
                _show_slice(console, progress, winners.new())

        checkpoint = str(folder / "checkpoint")
        query = session.file(pipeline).start(checkpoint=checkpoint, until_end=True, on_progress=show)
        try:
            query.awaitTermination()
        finally:
            query.stop()
    return history


def excerpt(auction: Path, bid: Path) -> Iterator[str]:
    """A row of each stream, and the first punctuation."""
    with min(auction.iterdir()).open(encoding="utf-8") as rows:
        yield f"  auction  {next(rows).rstrip()}"
    with min(bid.iterdir()).open(encoding="utf-8") as rows:
        yield f"  bid      {next(rows).rstrip()}"
        yield "           …"
        yield next(f"  bid      {row.rstrip()}" for row in rows if "_punctuation" in row)


@dataclass
class Winners:
    """The rows in a sink's folder, as they come."""

    folder: Path
    seen: set[Path] = field(default_factory=set)

    def new(self) -> list[str]:
        files = set(self.folder.glob("*.json")) - self.seen
        self.seen |= files
        rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        return [
            f"auction {row['id']} closed: {row['bids']} bids, highest {row['price']:,.2f}"
            for row in sorted(rows, key=lambda row: int(row["id"]))
        ]


def _show_slice(console: Console, progress: Progress, closed: list[str]) -> None:
    figures = (
        f"{progress.rows_in:,} rows in, {len(closed):,} auctions closed, {progress.state_rows:,} rows in state"
    )
    console.print(f"[bold]slice {progress.slice + 1}[/]: {figures}")
    for line in closed[:_WINNERS_SHOWN]:
        console.print(f"  {line}")
    if len(closed) > _WINNERS_SHOWN:
        console.print(f"  … and {len(closed) - _WINNERS_SHOWN:,} more", style="dim")


def _conclude(console: Console, history: list[Progress]) -> None:
    held = [progress.state_rows for progress in history]
    arrived = list(accumulate(progress.rows_in for progress in history))
    _heading(console, "State rows after each slice")
    for line in chart(held, arrived, width=console.width, height=_CHART_HEIGHT):
        text = Text(line)
        text.highlight_regex("[▁▂▃▄▅▆▇█]+", "green")
        text.highlight_regex(f"{SHADE}+", "red")
        console.print(text, no_wrap=True)
    console.print()
    console.print(f"{SOLID}{SOLID} with punctuations: {max(held):,} rows at most, {held[-1]:,} at the end")
    console.print(f"{SHADE}{SHADE} without them, every row would be held: {arrived[-1]:,}, and growing")
    console.print()
    _say(console, "Next: change and run examples/auction/pipeline.sql, a small version of this.")


def _print_hanging(console: Console, line: Text, indent: int) -> None:
    """A line that is too long goes on below, indented."""
    parts = [line] if line.cell_len <= console.width else line.wrap(console, console.width - indent)
    for number, part in enumerate(parts):
        part.rstrip()
        console.print(Text(" " * indent if number else "") + part)


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(text, style="bold underline")
    console.print()


def _say(console: Console, text: str) -> None:
    console.print(fill(text, console.width - 1), markup=False)
    console.print()
