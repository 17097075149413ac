"""THEORY section 9: a query is safe iff every operator state has a proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from caesura import plan
from caesura.safety.because import constraint
from caesura.safety.closing import Closing
from caesura.safety.names import few, written
from caesura.safety.narrowing import halfway, narrowing
from caesura.safety.redundant import without_redundant
from caesura.safety.repair import OFFERED, Repair, repairs
from caesura.safety.states import Blocked, Judgement, StateVerdict, judge, open_proofs
from caesura.safety.tree import shaped, unhinted


@dataclass(frozen=True)
class Verdict:
    """`query` is judged with the joins that its hints ask for; `asked` is its plan before."""

    query: plan.Query
    judgement: Judgement
    notes: tuple[str, ...]
    asked: plan.Plan

    @cached_property
    def repairs(self) -> tuple[Repair, ...]:
        """The smallest sets of promises that would make the query safe, looked for when they are asked for; last,
        CHECKs that would do instead."""
        return self._promises if self.narrowing is None else (*self._promises[: OFFERED - 1], self.narrowing)

    @cached_property
    def _promises(self) -> tuple[Repair, ...]:
        return () if self.safe else repairs(self.query.plan)

    @cached_property
    def narrowing(self) -> Repair | None:
        """CHECKs that would make the query safe, if they are few or the query is half there: it bounds the same
        columns already, from the other side."""
        found = None if self.safe else narrowing(self.query.plan)
        if found is None or not self._promises or len(found) < len(self._promises[0]):
            return found
        return found if all(map(halfway, found)) else None

    @property
    def states(self) -> tuple[StateVerdict, ...]:
        return self.judgement.states

    @property
    def blocked(self) -> tuple[Blocked, ...]:
        return self.judgement.blocked

    @property
    def safe(self) -> bool:
        return all(state.bounded for state in self.states)

    @cached_property
    def safe_without_hints(self) -> bool:
        """Whether it is the hints that make an unsafe query unsafe."""
        return self.asked != self.query.plan and next(open_proofs(unhinted(self.asked)), None) is None


def check_all(queries: tuple[plan.Query, ...]) -> tuple[Verdict, ...]:
    """Each query among those that run beside it."""
    plans = list(map(_executed, queries))
    running = [(query, its) for query, its in zip(queries, plans, strict=True) if query.kind != "stream"]
    return tuple(
        _verdict(query, its, [other for each, other in running if each is not query])
        for query, its in zip(queries, plans, strict=True)
    )


def check(query: plan.Query, beside: Iterable[plan.Query] = ()) -> Verdict:
    """`beside`: the queries that run with it and may read the same streams."""
    return _verdict(query, _executed(query), map(_executed, beside))


def _executed(query: plan.Query) -> plan.Plan:
    return without_redundant(shaped(query.plan))


def _verdict(query: plan.Query, executed: plan.Plan, beside: Iterable[plan.Plan]) -> Verdict:
    judgement = judge(executed, beside)
    notes = tuple(dict.fromkeys(_notes(judgement)))
    return Verdict(replace(query, plan=executed), judgement, notes, query.plan)


def _notes(judgement: Judgement) -> Iterator[str]:
    """What the proofs take for granted, said once."""
    used = (promised for state in judgement.states for derived in state.used for promised in derived.promised)
    promises = dict.fromkeys(used)
    if promises:
        named = tuple(f"{judgement.names.shown(each.scan)} {constraint(each.promise)}" for each in promises)
        shown = few(tuple(dict.fromkeys(named)), str)
        yield f"this assumes that the promised punctuations keep coming: {shown}"
    for proof in (state.proof for state in judgement.states):
        if isinstance(proof, Closing) and proof.scheme is not None and proof.nullable:
            columns = " or ".join(written(proof.kept, each) for each in proof.nullable)
            shown = judgement.names.operators[proof.node]
            yield f"no punctuation closes what `{shown}` keeps of rows whose {columns} is NULL"
        if isinstance(proof, Closing) and isinstance(proof.node, plan.Session) and proof.scheme is not None:
            for each in proof.growing if proof.scheme.ordered else ():
                column = written(proof.kept, each.column)
                yield (
                    f"a session goes on while its rows follow one another: until it ends, {each.function} keeps "
                    f"every value of {column} in it"
                )
