"""The command line, as the language's contract fixes it: commands, output and exit status."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote

import click

from caesura.checkpoint.storage import LocalStorage, Storage
from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code
from caesura.planning.statistics import Statistics
from caesura.planning.statistics_json import read_statistics
from caesura.safety.diagnose import diagnose
from caesura.safety.report import lines, report
from caesura.safety.verdict import Verdict, check_all
from caesura.sql.bind import bind
from caesura.sql.source import read_source

if TYPE_CHECKING:
    from caesura.explain.measured import MeasuredRun
    from caesura.spark.query import ContinuousQuery

SAFE, UNSAFE, UNREADABLE = 0, 1, 2
FAILED = 1
SAFETY_CODES = "CAE01"
"""How the codes of verdicts begin."""

_STATISTICS = click.option(
    "--statistics",
    metavar="FILE",
    type=click.Path(),
    help="Choose join plans by what a run has measured.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="caesura")
def main() -> None:
    """Continuous SQL on Apache Spark, with state that is proven to stay bounded before a query starts."""


@main.command("check")
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check_command(files: tuple[str, ...], as_json: bool) -> None:
    """Decide whether the state of every query stays bounded; explain, and suggest repairs. Starts no JVM."""
    from caesura.terminal import print_diagnostics, stdout

    verdicts = _verdicts(files)
    if as_json:
        click.echo(json.dumps(report(verdicts), indent=2))
    else:
        for verdict in verdicts:
            stdout.out("\n".join(lines(verdict)))
            print_diagnostics(diagnose(verdict))
    sys.exit(SAFE if all(verdict.safe for verdict in verdicts) else UNSAFE)


@main.command("explain")
@click.argument("subject", metavar="FILE | CODE", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--html", "page", metavar="OUT", type=click.Path(), help="Write one page with the graphs drawn.")
@click.option("--run", "rehearse", is_flag=True, help="Run to the end of the inputs, deliver nothing, and count.")
@click.option("--measure", "measures", metavar="OUT", type=click.Path(), help="As --run; write statistics here.")
@_STATISTICS
def explain_command(
    subject: str,
    as_json: bool,
    page: str | None,
    rehearse: bool,
    measures: str | None,
    statistics: str | None,
) -> None:
    """Show the plan of every query, the proof of each state and the punctuation graph; or what a code means."""
    from caesura.explain.document import document
    from caesura.explain.measured import lines as shown
    from caesura.explain.text import lines as explained
    from caesura.terminal import print_diagnostics, stdout

    if subject.upper() in set(Code):
        stdout.out(Code(subject.upper()).page.rstrip())
        return
    verdicts = _verdicts((subject,))
    found = document(verdicts, _statistics(statistics, verdicts))
    if page is not None:
        from caesura.explain.page import page as page_of

        _write(Path(page), page_of(Path(subject).name, found))
    if rehearse or measures is not None:
        run = found["run"] = _rehearsed(subject, statistics)
        if measures is not None:
            _write(Path(measures), json.dumps(run["streams"], indent=1))
    if as_json:
        click.echo(json.dumps(found, indent=2))
    elif page is None:
        for verdict, query in zip(verdicts, found["queries"], strict=True):
            stdout.out("\n".join(explained(query)))
            print_diagnostics(diagnose(verdict))
        if "run" in found:
            stdout.out("\n".join(shown(found["run"])))
    sys.exit(SAFE if all(verdict.safe for verdict in verdicts) else UNSAFE)


def _rehearsed(file: str, statistics: str | None) -> MeasuredRun:
    from caesura.explain.measured import measured
    from caesura.session import Session
    from caesura.terminal import print_diagnostics

    try:
        prepared = Session().file(file)
        prepared.require_safe()  # before a JVM is started for nothing

        from caesura.spark.session import running

        with running() as spark:
            return measured(Session(spark).file(file).rehearse(statistics=statistics))
    except CaesuraError as error:
        print_diagnostics(error.diagnostics)
        sys.exit(FAILED)


@main.command("witness")
@click.argument("file", type=click.Path())
@click.option("--query", "name", metavar="NAME", required=True, help="The query, as `caesura check` calls it.")
@click.option(
    "--rows", default=10, show_default=True, type=click.IntRange(min=1), help="How many rows shall stay."
)
@click.option(
    "--out", metavar="DIR", type=click.Path(), help="Write DIR/STREAM/witness.json, as USING json reads it."
)
def witness_command(file: str, name: str, rows: int, out: str | None) -> None:
    """Print rows and punctuations, one JSON object per line, that make the state of an unsafe query grow."""
    from caesura.safety.witness import witness
    from caesura.terminal import stderr

    verdicts = {verdict.query.name: verdict for verdict in _verdicts((file,))}
    if name not in verdicts:
        _fail(Diagnostic(Code.NO_QUERY, f"`{file}` has no query `{name}`", because=(_listing(verdicts),)))
    found = witness(verdicts[name].query.plan, rows)
    if found is None:
        stderr.out(f"{name} is safe: no stream makes its state grow for ever")
        return
    for doubt in found.doubts:
        stderr.out(f"fewer rows may stay, because this was not taken into account: {doubt}")
    if out is None:
        for item in found.items:
            click.echo(json.dumps(item.described))
    else:
        for stream in dict.fromkeys(item.stream for item in found.items):
            items = (json.dumps(item.in_band) for item in found.items if item.stream == stream)
            _write(Path(out) / quote(stream.name, safe=" ") / "witness.json", "\n".join(items) + "\n")


@main.command("run")
@click.argument("file", type=click.Path())
@click.option(
    "--until-end", is_flag=True, help="Stop when the inputs are exhausted; that is the end of the streams."
)
@click.option(
    "--allow-unbounded", is_flag=True, help="Run even if the state may grow for ever, and keep saying so."
)
@click.option("--checkpoint", metavar="DIR", help="Keep progress and state here, and continue from it.")
@click.option("--take-over", is_flag=True, help="Take checkpoint and sinks from a run that is gone.")
@click.option("--add-queries", is_flag=True, help="Let queries that the checkpoint does not have begin now.")
@_STATISTICS
@click.option("--every-order", is_flag=True, help="Let rows of joins in a circle go sooner, for more work.")
@click.option("--fewest-schemes", is_flag=True, help="Let rows of joins go by as few schemes as can be.")
@click.option(
    "--eager-rows",
    type=click.IntRange(min=0),
    metavar="N",
    help="Purge states of up to N rows (100,000) at every slice, larger ones now and then.",
)
@click.option(
    "--max-quarantined",
    type=click.FloatRange(0, 1),
    metavar="RATIO",
    default=1.0,
    help="Fail if more of what a stream brings in a slice is set aside.",
)
@click.option(
    "--keep-quarantined",
    type=click.IntRange(min=1),
    metavar="N",
    default=1_000,
    help="Keep what the last N (1,000) slices have set aside, of those that did.",
)
@click.option("--master", metavar="URL", help="A Spark cluster; all cores of this machine without it.")
@click.option("--jars", metavar="FILE", multiple=True, help="A jar with a driver or a connector; may come again.")
@click.option("--ui", is_flag=True, help="Serve Spark's web page on 127.0.0.1.")
def run_command(
    file: str,
    until_end: bool,
    allow_unbounded: bool,
    checkpoint: str | None,
    take_over: bool,
    add_queries: bool,
    statistics: str | None,
    every_order: bool,
    fewest_schemes: bool,
    eager_rows: int | None,
    max_quarantined: float,
    keep_quarantined: int,
    master: str | None,
    jars: tuple[str, ...],
    ui: bool,
) -> None:
    """Run every INSERT and SELECT of a file."""
    from caesura.session import Session
    from caesura.signals import Stopped, stoppable
    from caesura.terminal import ProgressLine, print_diagnostics, stderr

    try:
        prepared = Session().file(file)
        prepared.read_statistics(statistics)  # before a JVM is started for nothing
        if not allow_unbounded:
            prepared.require_safe()
    except CaesuraError as error:
        print_diagnostics(error.diagnostics)
        unsafe = all(diagnostic.code.startswith(SAFETY_CODES) for diagnostic in error.diagnostics)
        sys.exit(FAILED if unsafe else UNREADABLE)

    from caesura.spark.session import running

    query: ContinuousQuery | None = None
    try:
        with stoppable(), running(master, ui=ui, jars=jars) as spark, ProgressLine() as line:
            try:
                query = (
                    Session(spark)
                    .file(file)
                    .start(
                        checkpoint=checkpoint,
                        take_over=take_over,
                        add_queries=add_queries,
                        until_end=until_end,
                        allow_unbounded=allow_unbounded,
                        statistics=statistics,
                        every_order=every_order,
                        fewest_schemes=fewest_schemes,
                        eager_rows=eager_rows,
                        max_quarantined=max_quarantined,
                        keep_quarantined=keep_quarantined,
                        on_progress=line.update,
                    )
                )
                query.awaitTermination()
            except Stopped:
                if query is not None:
                    query.stop()
                raise
        if query.lastProgress is None:
            stderr.out("nothing to do: there is no new input, or the streams of this checkpoint have ended")
        _report(query)
    except Stopped as signal:
        stderr.out(_where_stopped(query, checkpoint))
        _report(query)
        sys.exit(signal.status)
    except CaesuraError as error:
        _report(query)
        print_diagnostics(error.diagnostics)
        sys.exit(FAILED)


def _where_stopped(query: ContinuousQuery | None, checkpoint: str | None) -> str:
    last = None if query is None else query.lastProgress
    where = "without a new slice" if last is None else f"after slice {last.slice}"
    return f"stopped {where}{'; a new start continues there' if checkpoint else ''}"


def _report(query: ContinuousQuery | None) -> None:
    """What of the rows of a run is to be said at its end, however it ended."""
    from caesura.terminal import stderr

    if query is None or (last := query.lastProgress) is None:
        return
    if given_up := last.given_up_total:
        stderr.out(f"{given_up:,} rows given up by OPTIONS (release …): results may be missing")
    if last.quarantined_total:
        stderr.out(f"{last.quarantined_total:,} quarantined: {query.quarantine_path}")
        for stream, reasons in last.set_aside_total.items():
            for reason, number in reasons.items():
                stderr.out(f"  {number:,} of {stream}: {reason}")
                for example in last.examples.get(stream, {}).get(reason, ()):
                    stderr.out(f"    {example}")


@main.command("state")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--table", "name", metavar="NAME", help="Print the rows of one table, one JSON object per line.")
@click.option("--quarantine", is_flag=True, help="Print what was set aside, one JSON object per line.")
def state_command(folder: str, as_json: bool, name: str | None, quarantine: bool) -> None:
    """Show what a checkpoint holds. Starts no JVM unless rows are asked for."""
    from caesura.checkpoint.contents import contents, lines
    from caesura.terminal import stdout

    try:
        with _checkpoint(folder) as storage:
            found = contents(storage)
            if name is not None or quarantine:
                _print_rows(storage, name, quarantine=quarantine)
            elif as_json:
                click.echo(json.dumps(found, indent=2))
            else:
                stdout.out("\n".join(lines(found)))
    except CaesuraError as error:
        _fail(*error.diagnostics)
    except OSError as error:
        why = str(error.strerror or error)
        _fail(Diagnostic(Code.CHECKPOINT, f"`{folder}` cannot be read", because=(why,)))


@contextmanager
def _checkpoint(folder: str) -> Iterator[Storage]:
    """Only Spark reaches what is not on this machine."""
    local = re.sub("^file:(//)?(?=/)", "", folder)
    if "://" not in local:
        yield LocalStorage(local)
        return
    from caesura.spark.session import running
    from caesura.spark.storage import storage_at

    with running() as spark:
        yield storage_at(spark, folder)


def _print_rows(storage: Storage, name: str | None, *, quarantine: bool) -> None:
    from caesura.spark.contents import quarantined_rows, rows_of
    from caesura.spark.session import running

    with running() as spark:
        for row in () if name is None else rows_of(spark, storage, name):
            click.echo(row)
        for row in quarantined_rows(spark, storage) if quarantine else ():
            click.echo(row)


@main.command("demo")
@click.argument("name", default="auction", type=click.Choice(["auction"]))
def demo_command(name: str) -> None:
    """A guided example."""
    from caesura.demo import auction
    from caesura.terminal import print_diagnostics

    try:
        auction()
    except CaesuraError as error:
        print_diagnostics(error.diagnostics)
        sys.exit(FAILED)


def _verdicts(files: tuple[str, ...]) -> list[Verdict]:
    """What the safety check says of every query; the end of the command if a file cannot be read or bound."""
    try:
        return [each for file in files for each in check_all(bind(read_source(file)).queries)]
    except CaesuraError as error:
        _fail(*error.diagnostics)
    except RecursionError:
        _fail(Diagnostic(Code.TOO_DEEP, "a query is nested too deeply", because=("views and streams stack up",)))


def _statistics(file: str | None, verdicts: Iterable[Verdict]) -> Statistics:
    try:
        return read_statistics(file, (each.query.plan for each in verdicts))
    except CaesuraError as error:
        _fail(*error.diagnostics)


def _fail(*diagnostics: Diagnostic) -> NoReturn:
    from caesura.terminal import print_diagnostics

    print_diagnostics(diagnostics)
    sys.exit(UNREADABLE)


def _listing(verdicts: dict[str, Verdict]) -> str:
    return f"its queries are {', '.join(f'`{name}`' for name in verdicts)}" if verdicts else "it has no queries"


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        _fail(Diagnostic(Code.NO_FILE, f"`{path}` cannot be written", because=(str(error.strerror),)))
