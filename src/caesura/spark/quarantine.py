"""What breaks a stream's contract is set aside with the reason, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from caesura.catalog import Column, Stream
from caesura.checkpoint.manifest import Counts, Examples
from caesura.diagnostics import CaesuraError, Diagnostic, Label
from caesura.diagnostics.code import Code
from caesura.operators.operator import StateTable
from caesura.operators.rows import Rows, text, union
from caesura.types import STRING

QUARANTINE = StateTable("quarantine", tuple(Column(name, STRING) for name in ("stream", "reason", "row", "file")))
_EXAMPLE, _EXAMPLES = 200, 3


@dataclass(frozen=True)
class Aside:
    """Rows or punctuations of one stream, set aside for one reason.

    `found` has the row as a text and the file it came from, and may have a column `detail`, which says more of the
    reason in that case.
    """

    stream: str
    reason: str
    found: Rows

    @property
    def rows(self) -> Rows:
        """As rows of the quarantine."""
        reason = text(self.reason)
        if "detail" in self.found.columns:
            reason = f"concat({reason}, coalesce(concat(': ', detail), ''))"
        return self.found.project({"stream": text(self.stream), "reason": reason, "row": "row", "file": "file"})

    @property
    def example(self) -> str:
        """One of these, over all rows of the quarantine: why, and the row."""
        return f"min(IF({self.condition}, concat(reason, ': ', left(row, {_EXAMPLE})), NULL))"

    @property
    def condition(self) -> str:
        """That a row of the quarantine is one of these."""
        return f"stream = {text(self.stream)} AND startswith(reason, {text(self.reason)})"


def counts(found: Iterable[tuple[Aside, int]]) -> Counts:
    """How many were set aside: stream → reason → number."""
    numbers: dict[str, dict[str, int]] = {}
    for aside, number in found:
        if number:
            numbers.setdefault(aside.stream, {})[aside.reason] = number
    return numbers


def examples(found: Iterable[tuple[Aside, str | None]]) -> Examples:
    """One for each reason."""
    texts: dict[str, dict[str, tuple[str, ...]]] = {}
    for aside, example in found:
        if example is not None:
            texts.setdefault(aside.stream, {})[aside.reason] = (example,)
    return texts


def more_examples(known: Examples, new: Examples) -> Examples:
    """The first few."""
    streams = dict.fromkeys((*known, *new))
    return {
        name: {
            reason: (*known.get(name, {}).get(reason, ()), *new.get(name, {}).get(reason, ()))[:_EXAMPLES]
            for reason in dict.fromkeys((*known.get(name, {}), *new.get(name, {})))
        }
        for name in streams
    }


def too_many(
    stream: Stream, slice: int, aside: int, arrived: int, shown: Mapping[str, tuple[str, ...]], most: float
) -> Diagnostic:
    """That more than this part of what came is set aside; `shown` are examples by reason."""
    return Diagnostic(
        Code.TOO_MANY_ASIDE,
        f"{aside:,} of {arrived:,} rows of `{stream.name}` would be set aside in slice {slice}",
        () if stream.span is None else (Label(stream.span, "as it is declared here"),),
        because=(
            f"that is more than {most:.0%}, and nothing of the slice was committed",
            *(f"for example, {text}" for texts in shown.values() for text in texts),
        ),
        help=(
            "declare the stream as it is, or repair what the source sends; "
            "a new start with the same --checkpoint continues at this slice",
        ),
    )


def added(one: Counts, other: Counts) -> Counts:
    """Both together."""
    streams = dict.fromkeys((*one, *other))
    return {name: dict(Counter(one.get(name, {})) + Counter(other.get(name, {}))) for name in streams}


def require_kept(spark: SparkSession, streams: Iterable[Stream], aside: Iterable[Aside], slice: int) -> None:
    """Stop before anything is written, if a stream that is to fail has something to set aside."""
    strict = {stream.name: stream for stream in streams if stream.on_violation == "fail"}
    example = {"number": "count(*)", "example": "min(struct(row, reason))"}
    found = union(
        each.rows.summary({"stream": text(each.stream), **example}) for each in aside if each.stream in strict
    )
    if found is None:
        return
    broken: dict[str, list[str]] = {}
    for stream, number, (row, reason) in found.where("number > 0").frame(spark).collect():
        times = "once" if number == 1 else f"{number:,} times"
        broken.setdefault(stream, []).append(f"{times}: {reason}, for example {_short(row)}")
    if broken:
        raise CaesuraError(*(_violation(strict[name], slice, why) for name, why in broken.items()))


def _violation(stream: Stream, slice: int, because: Iterable[str]) -> Diagnostic:
    return Diagnostic(
        Code.VIOLATION,
        f"`{stream.name}` broke its contract in slice {slice}, nothing of it was committed",
        () if stream.span is None else (Label(stream.span, "it is declared ON VIOLATION FAIL"),),
        because=tuple(because),
        help=(
            "repair what the source sends; a new start with the same --checkpoint continues at this slice",
            "or declare ON VIOLATION QUARANTINE: what breaks the contract is set aside, and the rest goes on",
        ),
    )


def _short(row: str) -> str:
    return row if len(row) <= _EXAMPLE else f"{row[:_EXAMPLE]}…"
