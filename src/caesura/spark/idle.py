"""Streams that send nothing (ORDERED BY (t … IDLE AFTER interval)): they must not hold back the others for ever.

What they have not sent by then is given up: their bound follows that of the slowest stream that is awake and has
not ended or, if there is none, that of the ended stream that came farthest. Rows below it that come after all are
set aside like any other row that comes too late. How long a stream has been silent is measured by when
micro-batches come, which a slice that runs again finds as it was (decision 0011).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from caesura.spark.contract import Contract, Source


def caught_up(contracts: Mapping[str, Contract], sources: Mapping[str, Source], time: int) -> dict[str, Source]:
    """What the streams give in a slice that comes at this time, after the idle ones have followed the others."""
    timed = {name: contract.timed_by for name, contract in contracts.items() if contract.timed_by is not None}
    idle = {name for name in timed if contracts[name].idle(sources[name].promised, time)}
    ended = {name for name in timed if sources[name].promised.everything}  # whose time stands still for ever
    bounds = {name: sources[name].promised.bounds.get(timed[name].column) for name in timed}
    awake = [bounds[name] for name in timed.keys() - idle - ended]
    known = [bound for bound in awake if bound is not None]
    if len(known) < len(awake):
        return dict(sources)
    # As texts, which dates and times order as they are.
    followed = min(known) if awake else max((b for name in ended if (b := bounds[name]) is not None), default=None)
    if followed is None:
        return dict(sources)
    return {
        name: _up_to(followed, contracts[name], source) if name in idle - ended else source
        for name, source in sources.items()
    }


def _up_to(bound: str, contract: Contract, source: Source) -> Source:
    assert contract.timed_by is not None
    column, so_far = contract.timed_by.column, source.promised.bounds
    if bound <= so_far.get(column, ""):
        return source
    flow = replace(source.flow, new=source.flow.new | contract.below({column: bound}))
    return replace(source, flow=flow, promised=replace(source.promised, bounds={**so_far, column: bound}))
