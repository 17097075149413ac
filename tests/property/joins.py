"""Small joins by chance: inputs, their schemes, equalities, constants and tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, product

from hypothesis import strategies as st

from caesura.catalog import Constraint, OrderedBy, PunctuatedBy
from caesura.plan import Join, Plan
from caesura.punctuation import Scheme
from caesura.safety.join_graph import JoinGraph
from tests.plans import join, scan, stream, table, where


@dataclass(frozen=True)
class Instance:
    """Columns of each input, its schemes, the equalities, the columns fixed to 0, the inputs that are tables; the
    columns that streams are ordered by, and bounds: (x, y, c) for x <= y + c."""

    columns: tuple[tuple[str, ...], ...]
    schemes: tuple[tuple[tuple[str, ...], ...], ...]
    equalities: tuple[tuple[str, str], ...]
    fixed: frozenset[str]
    tables: frozenset[int]
    ordered: frozenset[str] = frozenset()
    bounds: tuple[tuple[str, str, int], ...] = ()


@st.composite
def instances(draw: st.DrawFn, inputs: int, columns: int, *, bounded: bool = False) -> Instance:
    names = tuple(
        tuple(f"s{i}.{letter}" for letter in "abc"[: draw(st.integers(1, columns))]) for i in range(inputs)
    )
    tables = frozenset(i for i in range(1, inputs) if draw(st.integers(0, 5)) == 0)
    subsets = [[c for size in range(1, len(each) + 1) for c in combinations(each, size)] for each in names]
    schemes = tuple(
        () if i in tables else tuple(draw(st.lists(st.sampled_from(subsets[i]), max_size=2, unique=True)))
        for i in range(inputs)
    )
    pairs = [pair for one, other in combinations(names, 2) for pair in product(one, other)]
    equalities = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=inputs + 1, unique=True))
    everything = [column for each in names for column in each]
    fixed = draw(st.lists(st.sampled_from(everything), max_size=1))
    plain = Instance(names, schemes, tuple(equalities), frozenset(fixed), tables)
    if not bounded:
        return plain
    bounds = draw(st.lists(st.tuples(st.sampled_from(pairs), st.booleans(), st.integers(0, 1)), max_size=3))
    of_streams = [column for i, each in enumerate(names) if i not in tables for column in each]
    ordered = draw(st.lists(st.sampled_from(of_streams), max_size=3, unique=True))
    few = equalities[: draw(st.integers(0, len(equalities)))]
    sided = ((*(pair if rising else pair[::-1]), shift) for pair, rising, shift in bounds)
    return replace(
        plain, equalities=tuple(few), ordered=frozenset(ordered), bounds=tuple((x, y, c) for x, y, c in sided)
    )


def planned(instance: Instance) -> Join:
    plans: list[Plan] = []
    for i, (columns, schemes) in enumerate(zip(instance.columns, instance.schemes, strict=True)):
        plain = " ".join(column.partition(".")[2] for column in columns)
        promises: list[Constraint] = [PunctuatedBy(tuple(a.partition(".")[2] for a in s)) for s in schemes]
        promises += (OrderedBy(c.partition(".")[2]) for c in sorted(instance.ordered.intersection(columns)))
        plan: Plan = scan(table(f"s{i}", plain) if i in instance.tables else stream(f"s{i}", plain, *promises))
        for column in instance.fixed.intersection(columns):
            plan = where(plan, f"{column} = 0")
        plans.append(plan)
    on = ", ".join(f"{left} = {right}" for left, right in instance.equalities)
    return join(*plans, on=on, residual=" AND ".join(f"{x} <= {y} + {c}" for x, y, c in instance.bounds))


def graph_of(instance: Instance) -> JoinGraph:
    schemes = (
        (*map(Scheme, values), *(Scheme((c,), ordered=True) for c in columns if c in instance.ordered))
        for columns, values in zip(instance.columns, instance.schemes, strict=True)
    )
    return JoinGraph(planned(instance), tuple(schemes))
