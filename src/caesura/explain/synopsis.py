"""What is kept of each combination of values, where few of them are all that a state has to know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from caesura.aggregates import FUNCTIONS
from caesura.plan import Frame, Group, Rank, Session
from caesura.safety.because import first_rows, reached, text
from caesura.safety.closing import Closing
from caesura.safety.names import bare, listed
from caesura.safety.synopsis import Key, Synopsis


class SynopsisReport(TypedDict):
    """`key`: the columns whose combinations are told apart. `keeps`: what is known of each. `bound`: how many
    there can be; null if that cannot be told."""

    key: list[str]
    keeps: list[str]
    bound: int | None


def of_join(synopsis: Synopsis) -> SynopsisReport:
    orders = (f"which of {bare(x)} and {bare(y)} is less" for x, y in synopsis.ordered)
    key = [*map(_key, synopsis.keys), *orders]
    return {"key": key, "keeps": list(_kept(synopsis)), "bound": synopsis.bound}


def of_entries(closing: Closing) -> SynopsisReport:
    """Of groups, sessions or distinct rows."""
    keeps = ["the row"]
    if isinstance(closing.node, Group | Session):
        functions = (FUNCTIONS[each.function] for each in closing.node.aggregates)
        keeps = list(dict.fromkeys(f"{each.shown}: {each.keeps.what}" for each in functions))
    if isinstance(closing.node, Rank):
        keeps = [first_rows(closing.node)]
    if isinstance(closing.node, Frame):
        keeps = [reached(closing.node)]
    return {"key": list(map(bare, closing.keys)), "keeps": keeps, "bound": closing.bound}


def _key(key: Key) -> str:
    low = f", up to {key.low} as one" if key.low is not None else ""
    high = f", from {key.high} on as one" if key.high is not None else ""
    return f"{bare(key.column)}{low}{high}"


def _kept(synopsis: Synopsis) -> Iterator[str]:
    if synopsis.empty:
        return
    for word, side in (("greatest", synopsis.greatest), ("least", synopsis.least)):
        if side:
            yield f"the row with the {word} {listed(tuple(each.column for each in side))}"
    if synopsis.duplicates:
        yield "the number of rows"
    elif not synopsis.greatest and not synopsis.least:
        yield "that there was a row"
    for each in synopsis.pushed:
        yield f"{FUNCTIONS[each.aggregate.function].shown}({', '.join(map(text, each.over))})"


def kept(report: SynopsisReport) -> str:
    """For the terminal and the page."""
    key = f"for each {'; '.join(report['key'])}" if report["key"] else "for all rows"
    bound = "" if report["bound"] is None else f"; at most {report['bound']:,}"
    return f"{key}: {', '.join(report['keeps']) or 'nothing'}{bound}"
