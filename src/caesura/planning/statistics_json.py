"""Statistics in a file, as a run writes them and a later one reads them:

    {"bid": {"rate": 1000.0, "distinct": {"auction": 5000.0}, "closes": {"auction": 50.0}}}

Any of the figures of a stream may be missing. A file may speak of more streams than a pipeline reads, so that one
serves several; but of one that it reads it must know the columns, and of none it says nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypedDict

from caesura.catalog import Stream, Traffic
from caesura.diagnostics import CaesuraError, Diagnostic, Label, Source, Span
from caesura.diagnostics.code import Code
from caesura.plan import Plan, Scan, walk
from caesura.planning.statistics import Statistics
from caesura.sql.refusal import listing, nearest
from caesura.sql.source import read_source

_RATE, _DISTINCT, _CLOSES = "rate", "distinct", "closes"
_HELP = 'write {"stream": {"rate": 1000, "distinct": {"column": 5000}}}, or take a file that a run has written'


class WrittenTraffic(TypedDict, total=False):
    rate: float
    distinct: dict[str, float]
    closes: dict[str, float]


def to_json(statistics: Statistics) -> str:
    return json.dumps(written(statistics), indent=1)


def written(statistics: Statistics) -> dict[str, WrittenTraffic]:
    return {name: _written(each) for name, each in statistics.streams.items()}


def from_json(source: Source) -> Statistics:
    """What `to_json` wrote, or somebody else."""
    try:
        # Numbers as floats: one of a thousand digits is infinite, and refused as such.
        found = json.loads(source.text, parse_int=float, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        place = Span(source, error.pos, min(error.pos + 1, len(source.text)))
        raise _refused(source, "it is not JSON", Label(place, error.msg.lower())) from error
    except RecursionError as error:
        raise _refused(source, "it is nested too deeply") from error
    return Statistics({name: _traffic(source, name, each) for name, each in _object(source, "it", found).items()})


def read_statistics(file: str | Path | None, plans: Iterable[Plan]) -> Statistics:
    """What a file knows of the streams that these plans read, in the spelling of their declarations."""
    if file is None:
        return Statistics()
    source = read_source(str(file))
    known = {name.lower(): each for name, each in from_json(source).streams.items()}
    relations = (node.relation for plan in plans for node in walk(plan) if isinstance(node, Scan))
    streams = {each.name: each for each in relations if isinstance(each, Stream)}
    if known and not any(name.lower() in known for name in streams):
        raise _refused(
            source,
            f"it speaks of {listing(known)}, and the streams that are read are {listing(streams)}",
        )
    found = {name: known[name.lower()] for name in streams if name.lower() in known}
    return Statistics({name: _spelled(source, streams[name], each) for name, each in found.items()})


def _written(traffic: Traffic) -> WrittenTraffic:
    found: WrittenTraffic = {}
    if traffic.rate is not None:
        found["rate"] = traffic.rate
    if traffic.distinct:
        found["distinct"] = dict(traffic.distinct)
    if traffic.closes:
        found["closes"] = dict(traffic.closes)
    return found


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, of which two may have the same name."""


def _object(source: Source, what: str, found: object) -> Mapping[str, Any]:
    if not isinstance(found, _Pairs):
        raise _refused(source, f"{what} is not an object")
    members = dict(found)
    if len(members) < len(found):
        names = [name for name, _ in found]
        raise _refused(source, f"{what} names `{max(names, key=names.count)}` twice")
    return members


def _traffic(source: Source, stream: str, found: object) -> Traffic:
    members = _object(source, f"`{stream}`", found)
    if unknown := [name for name in members if name not in (_RATE, _DISTINCT, _CLOSES)]:
        allowed = f"`{_RATE}`, `{_DISTINCT}` and `{_CLOSES}`"
        raise _refused(source, f"`{stream}` has `{unknown[0]}`, and may have {allowed}")
    rate = members.get(_RATE)
    return Traffic(
        None if rate is None else _figure(source, f"`{_RATE}` of `{stream}`", rate),
        *(_by_column(source, stream, figure, members) for figure in (_DISTINCT, _CLOSES)),
    )


def _by_column(
    source: Source, stream: str, figure: str, members: Mapping[str, Any]
) -> tuple[tuple[str, float], ...]:
    found = _object(source, f"`{figure}` of `{stream}`", members.get(figure, _Pairs()))
    return tuple((name, _figure(source, f"`{stream}.{name}`", number)) for name, number in found.items())


def _figure(source: Source, what: str, found: object) -> float:
    if not isinstance(found, float) or not Traffic.figure(found):
        raise _refused(source, f"{what} is not a number from 1e-9 to 1e15")
    return found


def _spelled(source: Source, stream: Stream, traffic: Traffic) -> Traffic:
    spelling = {column.name.lower(): column.name for column in stream.columns}
    for name, _ in (*traffic.distinct, *traffic.closes):
        if name.lower() not in spelling:
            close = nearest(name, spelling.values())
            guess = f"did you mean `{close}`?" if close else None
            columns = listing(spelling.values())
            raise _refused(
                source, f"`{stream.name}` has no column `{name}`; its columns are {columns}", help=guess
            )
    distinct, closes = (
        tuple((spelling[name.lower()], number) for name, number in figures)
        for figures in (traffic.distinct, traffic.closes)
    )
    return Traffic(traffic.rate, distinct, closes)


def _refused(source: Source, because: str, *labels: Label, help: str | None = None) -> CaesuraError:
    message = f"`{source.name}` cannot be used as statistics"
    because = because.encode(errors="replace").decode()  # a name in JSON may be half a character
    return CaesuraError(Diagnostic(Code.STATISTICS, message, labels, (because,), (help or _HELP,)))
