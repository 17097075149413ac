"""What a punctuation must speak of to close a row: columns that are equal, or bounded, wherever rows meet."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from caesura import plan
from caesura.clocks import release
from caesura.expression import Expr
from caesura.operators.chain import Chain, Hop
from caesura.operators.conditions import Condition
from caesura.operators.rows import quote
from caesura.safety.bounds import Bound, never_null
from caesura.safety.equality import matching_classes
from caesura.safety.join_graph import JoinGraph
from caesura.safety.reach import Reach
from caesura.spark.clock import microseconds, timestamps


def chains(reach: Reach, orders: int, used: Collection[str]) -> tuple[Chain, ...]:
    """The proof's order and, up to this number, others. Each hop may use any punctuation on pinned attributes that
    are `used`, not only those of its scheme."""
    return tuple(_chain(reach, order, used) for order in islice(reach.orders(), orders))


def _chain(reach: Reach, order: tuple[int, ...], used: Collection[str]) -> Chain:
    join = reach.join
    own = [column.name for column in join.inputs[reach.start].columns]
    known = [*own, *(column.name for i in reach.static for column in join.inputs[i].columns)]
    hops: list[Hop] = []
    for i in order:
        alone = hop(reach.graph, i, own).most
        hops.append(replace(hop(reach.graph, i, known).confined(used), alone=alone))
        known += (column.name for column in join.inputs[i].columns)
    return tuple(hops)


def hop(graph: JoinGraph, asked: int, known: Sequence[str]) -> Hop:
    """The input that is asked, and what its columns must equal or are at most: constants, and columns known so
    far, of several that are equal the first."""
    mine = {column.name for column in graph.join.inputs[asked].columns}
    pins: dict[str, str] = {}
    constants: dict[str, str] = {}
    for each in matching_classes(graph.join):
        available = [name for name in known if name in each.columns]
        for name in each.columns:
            if name in mine and available:
                pins[name] = available[0]
            elif name in mine and each.constant is not None:
                constants[name] = each.constant.sql
    most = {
        name: bound
        for name in bounded(graph, asked)
        if name not in pins and name not in constants and (bound := _most(graph, name, known)) is not None
    }
    return Hop(asked, pins, constants, most)


def bounded(graph: JoinGraph, i: int) -> Iterator[str]:
    """The columns of an input whose bound will rise, and that something in the join bounds."""
    for scheme in graph.schemes[i]:
        if scheme.ordered and scheme.attributes[0] in graph.class_of:
            yield scheme.attributes[0]


def _most(graph: JoinGraph, name: str, known: Sequence[str]) -> Condition | None:
    """What a column is at most, given columns that are known; where several bound it, the least of them."""
    terms: list[Condition] = []
    times = timestamps(graph.join)
    for to, path in graph.paths(name).items():
        if to is not None:
            column = next((each for each in known if each in graph.classes[to].columns), None)
            if column is not None:
                shifted = _shifted(quote(column), path, time=column in times)
                terms.append(Condition(shifted, frozenset((column,))))
        elif path and isinstance(path[-1].by, Expr):
            terms.append(Condition(_shifted(path[-1].by.sql, path, time=False)))
    if len(terms) <= 1:
        return terms[0] if terms else None
    least = f"least({', '.join(term.sql for term in terms)})"
    return Condition(least, frozenset().union(*(term.columns for term in terms)))


def _shifted(sql: str, path: tuple[Bound, ...], *, time: bool) -> str:
    """Beyond the largest value of a type there is nothing: NULL, which no bound ever passes."""
    for shift in (shift for bound in path for shift in bound.shifts):
        moved = "try_add" if shift.added else "try_subtract"
        if time and (micros := microseconds(shift.amount.tree)) is not None:
            sql = f"timestamp_micros({moved}(unix_micros({sql}), {micros}L))"
        else:
            sql = f"{moved}({sql}, {shift.amount.sql})"
    return sql


def given_up(below: plan.Plan, i: int) -> Hop | None:
    """OPTIONS (release …) of a stream: when its own time has passed its rows in a join by so much, they go."""
    if (asked := release(below)) is None:
        return None
    time, after = asked
    return Hop(i, {}, most={time: Condition(f"try_add({quote(time)}, {after.sql})", frozenset((time,)))})


def able(join: plan.Join, below: plan.Plan) -> list[str]:
    """The conditions, as SQL, without which a row of an input meets nothing: no NULL where it is compared, and one
    value where there must be one."""
    compared = never_null(join)
    present = [f"{quote(column.name)} IS NOT NULL" for column in below.columns if column.name in compared]
    return [*present, *(f"{quote(one)} = {quote(other)}" for one, other in alike(join, below))]


def alike(join: plan.Join, below: plan.Plan) -> tuple[tuple[str, str], ...]:
    """The columns of one input that must be equal in every result."""
    pairs: list[tuple[str, str]] = []
    for each in matching_classes(join):
        first, *others = [column.name for column in below.columns if column.name in each.columns] or [""]
        pairs += ((first, other) for other in others)
    return tuple(pairs)
