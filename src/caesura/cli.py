"""The command line, as the language's contract fixes it: commands, output and exit status."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from caesura.diagnostics import CaesuraError, Diagnostic, Source
from caesura.diagnostics.code import Code
from caesura.safety.diagnose import diagnose
from caesura.safety.report import lines, report
from caesura.safety.verdict import Verdict, check
from caesura.sql.bind import bind

SAFE, UNSAFE, UNREADABLE = 0, 1, 2
FAILED = 1
SAFETY_CODES = "CAE01"
"""How the codes of verdicts begin."""


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

    verdicts: list[Verdict] = []
    try:
        for file in files:
            verdicts += [check(query) for query in bind(_source(file)).queries]
    except CaesuraError as error:
        print_diagnostics(error.diagnostics)
        sys.exit(UNREADABLE)
    if as_json:
        click.echo(json.dumps(report(verdicts), indent=2))
    else:
        for verdict in verdicts:
            stdout.out("\n".join(lines(verdict)))
            print_diagnostics(diagnose(verdict))
    sys.exit(SAFE if all(verdict.safe for verdict in verdicts) else UNSAFE)


@main.command("run")
@click.argument("file", type=click.Path())
@click.option(
    "--until-end", is_flag=True, help="Stop when the inputs are exhausted; that is the end of the streams."
)
@click.option("--checkpoint", metavar="DIR", help="Keep progress and state here, and continue from it.")
@click.option("--master", metavar="URL", help="A Spark cluster; all cores of this machine without it.")
@click.option("--ui", is_flag=True, help="Serve Spark's web page on 127.0.0.1.")
def run_command(file: str, until_end: bool, checkpoint: str | None, master: str | None, ui: bool) -> None:
    """Run every INSERT and SELECT of a file."""
    from caesura.session import Session
    from caesura.terminal import ProgressLine, print_diagnostics, stderr

    try:
        _source(file)
        Session().file(file).require_safe()  # before a JVM is started for nothing
    except CaesuraError as error:
        print_diagnostics(error.diagnostics)
        unsafe = all(diagnostic.code.startswith(SAFETY_CODES) for diagnostic in error.diagnostics)
        sys.exit(FAILED if unsafe else UNREADABLE)

    from caesura.spark.session import embedded

    try:
        session = Session(embedded(master, ui=ui))
        with ProgressLine() as line:
            query = session.file(file).start(checkpoint=checkpoint, until_end=until_end, on_progress=line.update)
            try:
                query.awaitTermination()
            except KeyboardInterrupt:
                query.stop()
    except CaesuraError as error:
        print_diagnostics(error.diagnostics)
        sys.exit(FAILED)
    last = query.lastProgress
    if last is None:
        stderr.out("nothing to do: there is no new input, or the streams of this checkpoint have ended")
    elif last.quarantined_total:
        where = query.quarantine_path if checkpoint else "run with --checkpoint to keep them"
        stderr.out(f"{last.quarantined_total:,} quarantined: {where}")


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


def _source(file: str) -> Source:
    try:
        return Source(file, Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CaesuraError(Diagnostic(Code.NO_FILE, f"`{file}` cannot be read", because=(str(reason),))) from error
