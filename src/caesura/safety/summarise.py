"""From a join, and what is needed of it, to the synopses of its inputs (THEORY section 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache, partial

from sqlglot import exp

from caesura.aggregates import FUNCTIONS
from caesura.expression import columns_of
from caesura.plan import Join, Need, endless, types_of
from caesura.safety.bounded import Conjunctive, lacks
from caesura.safety.bounds import joined_on, never_null
from caesura.safety.comparisons import Closure, Comparison, Constant, Element, Interval, closure, within
from caesura.safety.equality import inexact
from caesura.safety.facts import closed, domain, matching
from caesura.safety.predicates import conditions
from caesura.safety.presence import present
from caesura.safety.said import discrete, said
from caesura.safety.synopsis import Extreme, Key, Pushed, Summary, Synopsis
from caesura.sql.rewrite import rewrite


@lru_cache(maxsize=1024)
def summary(join: Join, need: Need, asked: frozenset[str] = frozenset()) -> Summary:
    """`need` is what readers need of the join's rows; `asked`: columns by which other inputs are purged."""
    return _Summarised(join, need, asked).summary()


class _Summarised:
    def __init__(self, join: Join, need: Need, asked: frozenset[str]) -> None:
        self.join, self.need, self.asked = join, need, asked
        self.types = types_of(*join.inputs)
        self.owner = {each.name: i for i, plan in enumerate(join.inputs) for each in plan.columns}
        self.known: Closure = closed(join)
        self.pushed = tuple(self._pushed())
        self.streams = tuple(i for i, plan in enumerate(join.inputs) if endless(plan))

    def summary(self) -> Summary:
        if not self.known.satisfiable:
            empty = (self._empty(i) if i in self.streams else None for i in range(len(self.join.inputs)))
            return Summary(self.join, tuple(empty), {}, {}, conditions(self.join))
        lacking = lacks(self.query)
        found = (
            None if i not in self.streams else lacking.get(i) or self._synopsis(i)
            for i in range(len(self.join.inputs))
        )
        return Summary(self.join, tuple(found), self.intervals, self.lists, self.said)

    @cached_property
    def present(self) -> frozenset[str]:
        """The columns that are never NULL where rows meet."""
        return never_null(self.join)

    @cached_property
    def intervals(self) -> dict[str, Interval]:
        """Of columns that are never NULL: NULL is in no interval."""
        found = {
            name: self.known.interval(name) for name in self.types if name in self.present & self.known.elements
        }
        return {name: each for name, each in found.items() if each != Interval()}

    @cached_property
    def lists(self) -> dict[str, exp.Expr]:
        found: dict[str, exp.Expr] = {}
        for name in self.types:
            own = closed(self.join.inputs[self.owner[name]])
            if name in self.present and own.few_of(name) is None:
                alike = self.known.same(name)
                listed = (each.condition for each in self.known.few if each.element in alike)
                condition = next((each for each in listed if each is not None), None)
                if condition is not None:
                    found[name] = rewrite(condition, partial(_column, name))
        return found

    def _enforced(self, name: str) -> bool:
        """Whether what bounds a column is asked of every row of its own input."""
        interval = self.intervals.get(name, Interval())
        return interval.size is not None or domain(self.join.inputs[self.owner[name]], name) is not None

    def _empty(self, i: int) -> Synopsis:
        named = self.need.exactly.columns | joined_on(self.join)
        keys = tuple(Key(each.name, size=0) for each in self.join.inputs[i].columns if each.name in named)
        return Synopsis(self.join, i, keys, self.need.duplicates, empty=True)

    def _pushed(self) -> Iterator[Pushed]:
        for each in self.need.aggregates:
            owners = {self.owner[name] for name in each.columns}
            if len(owners) == 1 and not FUNCTIONS[each.aggregate.function].holistic:
                yield Pushed(owners.pop(), each.aggregate, each.over)

    @cached_property
    def exact(self) -> frozenset[str]:
        """L, and the columns of conditions that are more than a comparison of two columns."""
        pushed = {each.aggregate for each in self.pushed}
        taken = (each for each in self.need.aggregates if each.aggregate not in pushed)
        odd = (each for each in conditions(self.join) if not self._plain(each))
        found = set(self.need.columns).union(*(each.columns for each in taken))
        found.update(name for each in odd for name in columns_of(each))
        found.update(name for pair in inexact(self.join) for name in pair)
        if any(isinstance(each, Constant) and each.value is None for each in self.known.elements):
            # Where the constants lie is not known, and so not which values lie beyond them.
            found.update(name for each in conditions(self.join) for name in columns_of(each))
        return frozenset(found)

    @cached_property
    def query(self) -> Conjunctive:
        elements = self.known.elements | self.exact | {name for each in self.pushed for name in _taken(each)}
        attributes = tuple(
            tuple(each.name for each in plan.columns if each.name in elements) for plan in self.join.inputs
        )
        extremes = {"MAX": set[Element](), "MIN": set[Element]()}
        loose: set[Element] = set()
        for each in self.pushed:
            plain = all(expr.column is not None for expr in each.over)
            (extremes.get(each.aggregate.function, loose) if plain else loose).update(_taken(each))
        return Conjunctive(
            attributes,
            self.known,
            self.exact,
            self.need.duplicates,
            frozenset(loose),
            frozenset(extremes["MAX"]),
            frozenset(extremes["MIN"]),
            frozenset(name for name, type in self.types.items() if not discrete(type)),
            frozenset(name for name in self.types if not self._enforced(name) and name not in self.lists),
        )

    @cached_property
    def said(self) -> tuple[exp.Expr, ...]:
        """The conjuncts of the join that the others, with what is asked of each input, do not imply."""
        kept = list(conditions(self.join))
        for conjunct in conditions(self.join):
            others = [each for each in kept if each is not conjunct]
            if self._plain(conjunct) and self._implied(conjunct, others):
                kept = others
        return tuple(kept)

    def _implied(self, conjunct: exp.Expr, others: Iterable[exp.Expr]) -> bool:
        between = (c for each in others for c in said(each, self.types).comparisons)
        return closure((*self._asked, *between)).implies(said(conjunct, self.types).comparisons)

    @cached_property
    def _asked(self) -> tuple[Comparison, ...]:
        """What equalities say, and what is asked of each input by itself."""
        ends = (c for name, each in self.intervals.items() for c in within(name, each))
        return (*matching(replace(self.join, residual=None)).comparisons, *ends)

    def _plain(self, conjunct: exp.Expr) -> bool:
        """Whether it compares columns as they are, and P⁺ knows all that it says."""
        match conjunct:
            case exp.EQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
                sides = [conjunct.left, conjunct.right]
            case exp.Between():
                sides = [conjunct.this, conjunct.args["low"], conjunct.args["high"]]
            case _:
                return False
        comparisons = said(conjunct, self.types).comparisons
        known = 1 if len(sides) == 2 and not isinstance(conjunct, exp.EQ) else 2
        return len(comparisons) == known and all(isinstance(side.unnest(), exp.Column) for side in sides)

    def _synopsis(self, i: int) -> Synopsis:
        own = {each.name for each in self.join.inputs[i].columns}
        joined = {name for each in self.said for name in columns_of(each)} | self.join.compared
        references = () if self.need.duplicates else self.query.references
        open_ = own & self.query.unbounded
        greatest = _extremes((each.greater, each.ways) for each in references if each.greater in open_)
        least = _extremes((each.lesser, each.ways) for each in references if each.lesser in open_)
        pushed = tuple(each for each in self.pushed if each.input == i)
        columns = own & (self.exact | joined | self.asked)
        if greatest or least:  # one row stands for many: what an aggregate takes of them tells them apart
            extreme = {each.column for each in (*greatest, *least)}
            columns |= {name for each in pushed for name in _taken(each)} - extreme
            pushed = ()
        apart = (name for name in self.types if name in columns and not self._merely_ordered(name))
        keys = tuple(self._key(i, name) for name in apart)
        return Synopsis(
            self.join, i, self._apart(keys), self.need.duplicates, greatest, least, pushed, why=self._why(keys)
        )

    def _ends(self, name: str) -> tuple[int, int] | None:
        """All numbers that bound it, or anything that it is compared with, lie between these."""
        return self.known.ends_of(self.known.related(name))

    def _merely_ordered(self, name: str) -> bool:
        """Whether a column matters only as it compares with columns of other inputs: no constant divides it."""
        return name in self.query.unbounded and (name in self.query.dense or self._ends(name) is None)

    def _key(self, i: int, name: str) -> Key:
        nothing = 0 if name in self.present or present(self.join.inputs[i], name) else 1
        if name not in self.query.unbounded:
            size = self.known.size(name)
            return Key(name, size=None if size is None else size + nothing)
        ends = self._ends(name)
        assert ends is not None
        low, high = ends
        ways, interval = self.query.ways(name), self.known.interval(name)
        first = low - 1 if "below" in ways else interval.low
        last = high + 1 if "above" in ways else interval.high
        assert first is not None
        assert last is not None
        return Key(
            name, first if "below" in ways else None, last if "above" in ways else None, last - first + 1 + nothing
        )

    def _apart(self, keys: Iterable[Key]) -> tuple[Key, ...]:
        """Equal columns tell the same, unless one may be NULL where the other is not."""
        found: list[Key] = []
        for key in keys:
            alike = self.known.same(key.column) if key.column in self.present else ()
            known = any(each.column in alike and each.column in self.present for each in found)
            found.append(Key(key.column, key.low, key.high, 1) if known else key)
        return tuple(found)

    def _why(self, keys: Iterable[Key]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for key in keys:
            if (few := self.known.few_of(key.column)) is not None:
                found[f"{key.column}: {few.why}" if few.why.startswith("it is") else few.why] = None
            elif key.column in self.known.elements:
                for path in self.known.ends(key.column):
                    found |= dict.fromkeys(each.said for each in path or () if each.said)
        return tuple(found)


def _extremes(found: Iterable[tuple[Element, tuple[str, ...]]]) -> tuple[Extreme, ...]:
    ways: dict[str, set[str]] = {}
    for name, several in found:
        assert isinstance(name, str)
        ways.setdefault(name, set()).update(several)
    return tuple(Extreme(name, "below" in of, "above" in of) for name, of in ways.items())


def _column(name: str, node: exp.Expr) -> exp.Expr | None:
    """In the place of a column."""
    return exp.column(name, quoted=True) if isinstance(node, exp.Column) else None


def _taken(pushed: Pushed) -> frozenset[str]:
    return frozenset(name for each in pushed.over for name in each.columns)
