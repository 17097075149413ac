"""THEORY section 8, self-joins: occurrences of a stream that another occurrence stands for, under set semantics.

An occurrence j is covered by k if every condition on j holds of k in its place, and every column of j that is
needed equals that of k. Then a row of j may always be the row of k, and the join does without j.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations

from sqlglot import exp

from caesura.expression import Expr, column, columns_of
from caesura.plan import Equality, Filter, Join, Need, Output, Plan, Project, Scan, types_of
from caesura.safety.bounds import never_null
from caesura.safety.comparisons import Closure
from caesura.safety.facts import closed
from caesura.safety.needs import needs
from caesura.safety.predicates import all_of, conditions, conjuncts
from caesura.safety.presence import present
from caesura.safety.said import said
from caesura.safety.tree import changed
from caesura.sql.rewrite import rewrite


def without_redundant(plan: Plan) -> Plan:
    """The plan without occurrences that others stand for."""
    needed = needs(plan)
    return changed(plan, lambda old, now: _reduced(now, needed[old]))


def _reduced(join: Join, need: Need) -> Plan:
    """The last occurrences go first, and others with them: what is left is looked at again."""
    if join.kind != "inner" or need.duplicates:
        return join
    for k, j in permutations(range(len(join.inputs)), 2):
        pair = _Pair.of(join, j, k)
        if pair is not None and pair.covered(need.exactly.columns):
            project = pair.without()
            left = project.input
            # The columns of the one that went are now those of the other.
            needed = frozenset(pair.same.get(name, name) for name in need.exactly.columns)
            return replace(project, input=_reduced(left, Need(needed)) if isinstance(left, Join) else left)
    return join


@dataclass(frozen=True)
class _Pair:
    """An occurrence, and one that may stand for it: column of the one → the same column of the other."""

    join: Join
    j: int
    k: int
    same: Mapping[str, str]

    @staticmethod
    def of(join: Join, j: int, k: int) -> _Pair | None:
        one, other = _scan(join.inputs[j]), _scan(join.inputs[k])
        if one is None or other is None or one.relation != other.relation or one.window or other.window:
            return None
        names = zip(one.columns, other.columns, strict=True)
        return _Pair(join, j, k, {mine.name: theirs.name for mine, theirs in names})

    @property
    def _said(self) -> Iterator[exp.Expr]:
        """The conditions on j, with k in its place."""
        for predicate in _predicates(self.join.inputs[self.j]):
            yield from map(self._moved, conjuncts(predicate.tree))
        for each in self.join.equalities:
            if {each.left, each.right} & self.same.keys():
                sides = (exp.column(self.same.get(name, name), quoted=True) for name in (each.left, each.right))
                yield exp.EQ(this=next(sides), expression=next(sides))
        for part in conditions(self.join):
            if columns_of(part) & self.same.keys():
                yield self._moved(part)

    def _moved(self, tree: exp.Expr) -> exp.Expr:
        def change(node: exp.Expr) -> exp.Expr | None:
            if not isinstance(node, exp.Column) or node.name not in self.same:
                return None
            return exp.column(self.same[node.name], quoted=True)

        return rewrite(tree, change)

    def covered(self, needed: Iterable[str]) -> bool:
        known = closed(self.join)
        if not known.satisfiable:
            return False
        alike = all(
            known.most(name, self.same[name]) == 0 == known.most(self.same[name], name)
            and self._there(name)
            and self._there(self.same[name])
            for name in needed
            if name in self.same
        )
        stated = {part.sql() for i in range(len(self.join.inputs)) for part in self._stated(i)}
        stated.update(part.sql() for part in conditions(self.join))
        return alike and all(part.sql() in stated or self._implied(part, known) for part in self._said)

    def _stated(self, i: int) -> Iterator[exp.Expr]:
        return (part for each in _predicates(self.join.inputs[i]) for part in conjuncts(each.tree))

    def _implied(self, part: exp.Expr, known: Closure) -> bool:
        """Whether it holds wherever rows meet: it compares what is never NULL there, and P⁺ says so."""
        found = said(part, types_of(*self.join.inputs))
        if found.few or not found.comparisons or not isinstance(part, exp.Binary):
            return False
        if not all(map(self._there, columns_of(part))):
            return False
        return known.implies(found.comparisons)

    def _there(self, name: str) -> bool:
        """Whether a column is never NULL where rows meet."""
        return name in never_null(self.join) or present(self.join.inputs[self.join.owner(name)], name)

    def without(self) -> Project:
        """The same rows, as far as they are needed, in the same columns."""
        join, filters, between = self.join, list[exp.Expr](), list[exp.Expr]()
        own = set(self.same.values())
        for part in self._said:
            (filters if columns_of(part) <= own else between).append(part)
        plans = [_filtered(plan, filters) if i == self.k else plan for i, plan in enumerate(join.inputs)]
        del plans[self.j]
        kept = [each for each in join.equalities if not {each.left, each.right} & self.same.keys()]
        equal = [
            part
            for part in between
            if isinstance(part, exp.EQ) and all(isinstance(e, exp.Column) for e in (part.left, part.right))
        ]
        rest = [part for part in conditions(self.join) if not columns_of(part) & self.same.keys()]
        rest += (part for part in between if part not in equal)
        moved = [Equality(part.left.name, part.right.name) for part in equal]
        below: Plan = plans[0]
        if len(plans) > 1:
            equalities = (*kept, *moved)
            fewer = replace(join, inputs=tuple(plans), equalities=equalities, residual=all_of(rest))
            below = replace(fewer, shape=None, demand=None)
        outputs = (Output(c.name, column(self.same.get(c.name, c.name), c.type)) for c in join.columns)
        return Project(below, tuple(outputs), join.span)


def _scan(plan: Plan) -> Scan | None:
    """What a filter reads, if it is a relation as it is."""
    while isinstance(plan, Filter):
        plan = plan.input
    return plan if isinstance(plan, Scan) else None


def _predicates(plan: Plan) -> Iterator[Expr]:
    while isinstance(plan, Filter):
        yield plan.predicate
        plan = plan.input


def _filtered(plan: Plan, parts: list[exp.Expr]) -> Plan:
    """With these conditions besides. `x = x` says that it is not NULL."""
    predicate = all_of(parts)
    return plan if predicate is None else Filter(plan, predicate, plan.span)
