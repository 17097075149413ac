"""A join that keeps synopses gives what it gives with all rows kept, and they stay within their bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from random import Random

from caesura.diagnostics import Source
from caesura.model.join import Join
from caesura.model.operator import Row, Slice, run
from caesura.plan import Join as JoinNode
from caesura.plan import Plan, walk
from caesura.safety.needs import needs
from caesura.safety.synopsis import Summary, Synopsis, summary
from caesura.sql.bind import bind

STREAMS = {"s": ("a", "b"), "t": ("a", "b"), "u": ("a",)}
OPERATORS = {"<": int.__lt__, "<=": int.__le__, "=": int.__eq__, ">": int.__gt__, ">=": int.__ge__}
DECLARED = "\n".join(
    f"CREATE STREAM {name} ({', '.join(f'{c} BIGINT' for c in columns)}) USING json LOCATION '{name}';"
    for name, columns in STREAMS.items()
)
Term = str | int
CONSTANTS: tuple[Term, ...] = (-1, 2)


class Query:
    """SELECT [DISTINCT] … FROM s, t [, u] WHERE …, at random."""

    def __init__(self, chance: Random) -> None:
        names = list(STREAMS)[: chance.choice((2, 2, 3))]
        every = [f"{name}.{column}" for name in names for column in STREAMS[name]]
        self.columns = [tuple(f"{name}.{column}" for column in STREAMS[name]) for name in names]
        self.conditions: list[tuple[str, str, Term]] = []
        for _ in range(chance.randint(1, 6)):
            x = chance.choice(every)
            y = chance.choice([*every, *CONSTANTS])
            if x != y:
                self.conditions.append((x, chance.choice(list(OPERATORS)), y))
        for name in every:
            if chance.random() < 0.5:
                self.conditions += [(name, ">", -2), (name, "<", 3)]
        self.distinct = chance.random() < 0.5
        self.output = [name for name in every if chance.random() < 0.3] or [every[0]]
        where = " AND ".join(f"{x} {op} {y}" for x, op, y in self.conditions)
        listed = ", ".join(f"{name} AS {name.replace('.', '_')}" for name in self.output)
        select = "SELECT DISTINCT" if self.distinct else "SELECT"
        self.sql = f"{select} {listed} FROM {', '.join(names)} WHERE {where or 'true'};"

    def joined(self) -> tuple[Plan, JoinNode]:
        plan = bind(Source("query.sql", f"{DECLARED}\n{self.sql}")).queries[0].plan
        (join,) = (node for node in walk(plan) if isinstance(node, JoinNode))
        return plan, join

    def summary(self) -> Summary:
        plan, join = self.joined()
        return summary(join, needs(plan)[join])

    def holds(self, row: Mapping[str, object], conditions: list[tuple[str, str, Term]]) -> bool:
        """As far as the row has the columns."""

        def value(term: Term) -> int:
            found = row[term] if isinstance(term, str) else term
            assert isinstance(found, int)
            return found

        known = (c for c in conditions if all(t in row for t in (c[0], c[2]) if isinstance(t, str)))
        return all(OPERATORS[op](value(x), value(y)) for x, op, y in known)

    def model(self, found: Summary) -> Join:
        """Filters of one input are applied before; of the others, those that the summary asks for."""
        asked = {part.sql(dialect="spark").replace("`", "") for part in found.said}
        equal = {(e.left, e.right) for e in found.join.equalities}
        between = [
            (x, op, y)
            for x, op, y in self.conditions
            if f"{x} {op} {y}" in asked or ((x, y) in equal and op == "=")
        ]
        return Join(
            tuple(self.columns),
            (),
            tuple(() for _ in self.columns),
            residual=lambda row: self.holds(row, between),
            synopses=tuple(found.of(i) for i in range(len(self.columns))),
            intervals=tuple(found.intervals.items()),
        )


def arrivals(query: Query, chance: Random) -> Iterator[list[Slice]]:
    """Rows that pass the filters of their own input; values on both sides of all constants."""
    for _ in range(5):
        rows = [
            [Row.of({name: chance.randint(-6, 7) for name in columns}) for _ in range(chance.randint(0, 5))]
            for columns in query.columns
        ]
        yield [Slice(tuple(row for row in several if query.holds(row, query.conditions))) for several in rows]


def test_results_are_the_same_as_with_all_rows_and_synopses_stay_within_their_bounds() -> None:
    tried = Counter[str]()
    for seed in range(1500):
        chance = Random(seed)
        query = Query(chance)
        found = query.summary()
        if not any(isinstance(each, Synopsis) for each in found.inputs):
            continue
        tried["distinct" if query.distinct else "all"] += 1
        tried["mixed"] += not all(isinstance(each, Synopsis) for each in found.inputs)
        tried["extremes"] += any(isinstance(e, Synopsis) and bool(e.greatest or e.least) for e in found.inputs)
        slices = list(arrivals(query, chance))
        so_far: list[list[Row]] = [[] for _ in query.columns]
        given: Counter[tuple[object, ...]] = Counter()
        for new, output in zip(slices, run(query.model(found), slices), strict=True):
            for rows, arrived in zip(so_far, new, strict=True):
                rows += arrived.rows
            given.update(tuple(row[name] for name in query.output) for row in output.rows)
            joined = (dict(cell for row in rows for cell in row.cells) for rows in product(*so_far))
            expected = Counter(
                tuple(row[name] for name in query.output) for row in joined if query.holds(row, query.conditions)
            )
            if query.distinct:
                assert set(given) == set(expected), (seed, query.sql)
            else:
                assert given == expected, (seed, query.sql)
            for each, kept in zip(found.inputs, output.kept, strict=True):
                if isinstance(each, Synopsis):
                    assert each.bound is not None
                    assert len(set(kept)) <= each.bound, (seed, query.sql)
    assert min(tried.values()) > 50, tried
