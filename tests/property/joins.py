"""Small joins by chance: inputs, their schemes, equalities, constants and tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

from hypothesis import strategies as st

from caesura.catalog import PunctuatedBy
from caesura.plan import Join, Plan
from caesura.punctuation import Scheme
from caesura.safety.reach import JoinGraph
from tests.plans import join, scan, stream, table, where


@dataclass(frozen=True)
class Instance:
    """Columns of each input, its schemes, the equalities, the columns fixed to 0, the inputs that are tables."""

    columns: tuple[tuple[str, ...], ...]
    schemes: tuple[tuple[tuple[str, ...], ...], ...]
    equalities: tuple[tuple[str, str], ...]
    fixed: frozenset[str]
    tables: frozenset[int]


@st.composite
def instances(draw: st.DrawFn, inputs: int, columns: int) -> Instance:
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
    return Instance(names, schemes, tuple(equalities), frozenset(fixed), tables)


def planned(instance: Instance) -> Join:
    plans: list[Plan] = []
    for i, (columns, schemes) in enumerate(zip(instance.columns, instance.schemes, strict=True)):
        plain = " ".join(column.partition(".")[2] for column in columns)
        promises = (PunctuatedBy(tuple(a.partition(".")[2] for a in scheme)) for scheme in schemes)
        plan: Plan = scan(table(f"s{i}", plain) if i in instance.tables else stream(f"s{i}", plain, *promises))
        for column in instance.fixed.intersection(columns):
            plan = where(plan, f"{column} = 0")
        plans.append(plan)
    return join(*plans, on=", ".join(f"{left} = {right}" for left, right in instance.equalities))


def graph_of(instance: Instance) -> JoinGraph:
    return JoinGraph(planned(instance), tuple(tuple(Scheme(s) for s in schemes) for schemes in instance.schemes))
