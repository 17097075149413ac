"""What a run has shown: how large each state became, what let go of its rows, and the traffic of its streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

from caesura.planning.statistics_json import WrittenTraffic, written
from caesura.progress import Progress


class MeasuredState(TypedDict):
    """`released`: rule → rows. Only the state of joins is told apart by rule."""

    most: int
    at_the_end: int
    released: dict[str, int]


class MeasuredRun(TypedDict):
    slices: int
    rows_in: int
    rows_out: int
    states: dict[str, MeasuredState]
    streams: dict[str, WrittenTraffic]


def measured(slices: Sequence[Progress]) -> MeasuredRun:
    last = slices[-1] if slices else None
    names = dict.fromkeys(name for each in slices for name in each.state)
    released = last.released_total if last is not None else {}
    return {
        "slices": len(slices),
        "rows_in": sum(each.rows_in for each in slices),
        "rows_out": sum(each.rows_out for each in slices),
        "states": {
            name: {
                "most": max(each.state.get(name, 0) for each in slices),
                "at_the_end": slices[-1].state.get(name, 0),
                "released": dict(released.get(name, {})),
            }
            for name in (*names, *(name for name in released if name not in names))
        },
        "streams": {} if last is None else written(last.statistics),
    }


def lines(run: MeasuredRun) -> Iterator[str]:
    yield f"run: {run['slices']:,} slices, {run['rows_in']:,} rows in, {run['rows_out']:,} out"
    for name, state in run["states"].items():
        rules = ", ".join(f"{number:,} {rule}" for rule, number in state["released"].items())
        size = f"at most {state['most']:,}, {state['at_the_end']:,} at the end"
        yield f"  {name}: {size}" + (f"; released: {rules}" if rules else "")
    for name, stream in run["streams"].items():
        rate = (f"{stream['rate']:,.4g} rows a second",) if "rate" in stream else ()
        values = (
            f"{number:,.4g} open values of {column}" for column, number in stream.get("distinct", {}).items()
        )
        yield f"  {name}: {', '.join((*rate, *values))}"
