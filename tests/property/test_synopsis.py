"""A join that keeps synopses gives what it gives with all rows kept, and they stay within their bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from random import Random

from sqlglot import exp

from caesura.diagnostics import Source
from caesura.model.join import Join
from caesura.model.operator import Row, Slice, run
from caesura.plan import Join as JoinNode
from caesura.plan import Plan, walk
from caesura.safety.bounds import never_null
from caesura.safety.needs import needs
from caesura.safety.summarise import summary
from caesura.safety.synopsis import Summary, Synopsis
from caesura.sql.bind import bind

STREAMS = {"s": ("a", "b"), "t": ("a", "b"), "u": ("a",)}
OPERATORS = {"<": int.__lt__, "<=": int.__le__, "=": int.__eq__, ">": int.__gt__, ">=": int.__ge__}
DECLARED = "\n".join(
    f"CREATE STREAM {name} ({', '.join(f'{c} BIGINT' for c in columns)}) USING json LOCATION '{name}';"
    for name, columns in STREAMS.items()
)
CONSTANTS = (-1, 2)


@dataclass(frozen=True)
class Condition:
    """`x op y + more`, or `x IN listed`; a NULL satisfies none."""

    x: str
    op: str = "IN"
    y: str | None = None
    more: int = 0
    listed: tuple[int, ...] = ()

    @property
    def sql(self) -> str:
        if self.listed:
            return f"{self.x} IN ({', '.join(map(str, self.listed))})"
        if self.y is None:
            return f"{self.x} {self.op} {self.more}"
        shift = f" {'+' if self.more > 0 else '-'} {abs(self.more)}" if self.more else ""
        return f"{self.x} {self.op} {self.y}{shift}"

    def holds(self, row: Mapping[str, object]) -> bool:
        """As far as the row has the columns."""
        if self.x not in row or (self.y is not None and self.y not in row):
            return True
        one, other = row[self.x], 0 if self.y is None else row[self.y]
        if not isinstance(one, int) or not isinstance(other, int):
            return False
        return one in self.listed if self.listed else OPERATORS[self.op](one, other + self.more)


@dataclass(frozen=True)
class Query:
    """SELECT [DISTINCT] … FROM s, t [, u] WHERE …"""

    names: tuple[str, ...]
    conditions: tuple[Condition, ...]
    output: tuple[str, ...]
    distinct: bool

    @staticmethod
    def drawn(chance: Random) -> Query:
        names = tuple(STREAMS)[: chance.choice((2, 2, 3))]
        every = [f"{name}.{column}" for name in names for column in STREAMS[name]]
        conditions: list[Condition] = []
        for _ in range(chance.randint(1, 6)):
            x, y = chance.sample(every, 2)
            op = chance.choice(list(OPERATORS))
            if chance.random() < 0.3:
                conditions.append(Condition(x, op, more=chance.choice(CONSTANTS)))
            else:
                conditions.append(Condition(x, op, y, chance.choice((0, 0, 0, 0, 1, -1, 2))))
        for name in every:
            if chance.random() < 0.4:
                conditions += [Condition(name, ">", more=-2), Condition(name, "<", more=3)]
            elif chance.random() < 0.15:
                conditions.append(Condition(name, listed=(-2, 0, 3)))
        output = tuple(name for name in every if chance.random() < 0.3) or (every[0],)
        return Query(names, tuple(conditions), output, chance.random() < 0.5)

    @property
    def columns(self) -> list[tuple[str, ...]]:
        return [tuple(f"{name}.{column}" for column in STREAMS[name]) for name in self.names]

    @property
    def sql(self) -> str:
        where = " AND ".join(each.sql for each in self.conditions)
        listed = ", ".join(f"{name} AS {name.replace('.', '_')}" for name in self.output)
        select = "SELECT DISTINCT" if self.distinct else "SELECT"
        return f"{select} {listed} FROM {', '.join(self.names)} WHERE {where};"

    def joined(self) -> tuple[Plan, JoinNode]:
        plan = bind(Source("query.sql", f"{DECLARED}\n{self.sql}")).queries[0].plan
        (join,) = (node for node in walk(plan) if isinstance(node, JoinNode))
        return plan, join

    def summary(self) -> Summary:
        plan, join = self.joined()
        return summary(join, needs(plan)[join])

    def holds(self, row: Mapping[str, object]) -> bool:
        return all(each.holds(row) for each in self.conditions)

    def model(self, found: Summary) -> Join:
        """Filters of one input are applied before; of the others, those that the summary asks for."""
        asked = {part.sql(dialect="spark").replace("`", "") for part in found.said}
        equal = {f"{e.left} = {e.right}" for e in found.join.equalities}
        between = [each for each in self.conditions if each.sql in asked | equal]
        return Join(
            tuple(self.columns),
            (),
            tuple(() for _ in self.columns),
            residual=lambda row: all(each.holds(row) for each in between),
            synopses=tuple(found.of(i) for i in range(len(self.columns))),
            intervals=tuple(found.intervals.items()),
        )


def arrivals(query: Query, found: Summary, chance: Random) -> Iterator[tuple[list[Slice], list[Slice]]]:
    """Rows that pass the filters of their own input, and those of them that the join lets in; values on both sides
    of all constants, and NULLs."""
    for _ in range(5):
        rows = [
            [
                Row.of({n: None if chance.random() < 0.05 else chance.randint(-6, 7) for n in columns})
                for _ in range(chance.randint(0, 5))
            ]
            for columns in query.columns
        ]
        passed = [tuple(row for row in several if query.holds(row)) for several in rows]
        able = [tuple(row for row in several if let_in(found, row)) for several in passed]
        yield [Slice(each) for each in passed], [Slice(each) for each in able]


def let_in(found: Summary, row: Row) -> bool:
    present = all(row[name] is not None for name in row if name in never_null(found.join))
    return present and all(_listed(found.lists[name], row[name]) for name in row if name in found.lists)


def _listed(condition: exp.Expr, value: object) -> bool:
    assert isinstance(condition, exp.In | exp.EQ)
    values = condition.expressions if isinstance(condition, exp.In) else [condition.expression]
    return value in [int(each.sql()) for each in values]


def test_results_are_the_same_as_with_all_rows_and_synopses_stay_within_their_bounds() -> None:
    tried = Counter[str]()
    for seed in range(1200):
        chance = Random(seed)
        query = Query.drawn(chance)
        found = query.summary()
        if not any(isinstance(each, Synopsis) for each in found.inputs):
            continue
        tried["distinct" if query.distinct else "all"] += 1
        tried["mixed"] += not all(isinstance(each, Synopsis) for each in found.inputs)
        tried["extremes"] += any(isinstance(e, Synopsis) and bool(e.greatest or e.least) for e in found.inputs)
        tried["shifted"] += any(each.y is not None and each.more != 0 for each in query.conditions)
        tried["listed"] += bool(found.lists)
        slices = list(arrivals(query, found, chance))
        so_far: list[list[Row]] = [[] for _ in query.columns]
        given: Counter[tuple[object, ...]] = Counter()
        outputs = run(query.model(found), [able for _, able in slices])
        for (new, _), output in zip(slices, outputs, strict=True):
            for rows, arrived in zip(so_far, new, strict=True):
                rows += arrived.rows
            given.update(tuple(row[name] for name in query.output) for row in output.rows)
            joined = (dict(cell for row in rows for cell in row.cells) for rows in product(*so_far))
            expected = Counter(tuple(row[name] for name in query.output) for row in joined if query.holds(row))
            if query.distinct:
                assert set(given) == set(expected), (seed, query.sql)
            else:
                assert given == expected, (seed, query.sql)
            for each, kept in zip(found.inputs, output.kept, strict=True):
                if isinstance(each, Synopsis):
                    assert each.bound is not None
                    assert len(set(kept)) <= each.bound, (seed, query.sql)
    assert min(tried.values()) > 10, tried


def test_where_less_and_at_most_meet_rows_are_told_apart_by_which_column_is_less() -> None:
    """(9, 5) and (5, 9) have the same least value, but only the second meets 5."""
    conditions = (Condition("t.a", "<=", "s.a"), Condition("t.a", "<", "s.b"), Condition("t.b", listed=(0, 1)))
    query = Query(("s", "t"), conditions, ("t.b",), distinct=True)
    first = [Slice(tuple(Row.of({"s.a": a, "s.b": b}) for a, b in ((9, 5), (5, 9)))), Slice()]
    later = [Slice(), Slice((Row.of({"t.a": 5, "t.b": 0}),))]
    *_, last = run(query.model(query.summary()), [first, later])
    assert [row["t.b"] for row in last.rows] == [0]
