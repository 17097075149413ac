"""Which punctuations the readers of each node ask for. What nobody can use is not computed.

It flows from the queries down to the streams.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from caesura import plan
from caesura.operators.image import Image
from caesura.plan import types_of
from caesura.safety.equality import matching_classes
from caesura.safety.join_graph import JoinGraph
from caesura.safety.monotone import rising
from caesura.spark.pins import bounded, given_up


@dataclass
class Wanted:
    """What the readers of a node ask: punctuations confined to which columns, and whether with their history."""

    columns: set[str] = field(default_factory=set)
    history: bool = False
    readers: int = 0

    def ask(self, columns: Iterable[str], *, history: bool = False) -> None:
        self.columns |= set(columns)
        self.history |= history
        self.readers += 1


class AllWanted:
    """Of all nodes, which come inputs first. `asked`: the columns that readers of the roots ask for. `purging`:
    those by whose punctuations rows of joins are purged. `synopses`: the inputs of joins whose rows never leave,
    so that what they close is not passed on. `passing`: the column by whose bound rows leave an OVER before
    their partition is closed, if there is one."""

    def __init__(
        self,
        nodes: tuple[plan.Plan, ...],
        roots: Iterable[plan.Plan],
        asked: Iterable[str],
        graphs: Mapping[plan.Join, JoinGraph],
        purging: Mapping[plan.Join, Collection[str]],
        synopses: Mapping[plan.Join, Collection[int]],
        passing: Mapping[plan.Rank | plan.Frame, Collection[str]],
    ) -> None:
        self._graphs = graphs
        self._purging = purging
        self._synopses = synopses
        self._passing = passing
        self._of = {node: Wanted() for node in nodes}
        for root in roots:
            self._of[root].ask(types_of(root).keys() & set(asked))
        for node in reversed(nodes):
            self._ask_inputs(node, self._of[node])

    def __getitem__(self, node: plan.Plan) -> Wanted:
        return self._of[node]

    def images(self, project: plan.Project) -> tuple[dict[str, Image], ...]:
        """Input column → output column that readers ask for; several mappings where one has several."""
        images: dict[str, list[Image]] = {}
        for output in project.outputs:
            if output.name in self._of[project].columns:
                carried = rising(output.expr.tree, types_of(project.input))
                if carried is not None:
                    at = None if output.expr.column is not None else carried.at
                    images.setdefault(carried.column, []).append(
                        Image(output.name, output.expr.type.sql, at, carried.strict, carried.least)
                    )
        longest = max(map(len, images.values()), default=0)
        return tuple(
            {old: new[min(i, len(new) - 1)] for old, new in images.items()} for i in range(max(longest, 1))
        )

    def exports(self, join: plan.Join | plan.Compare, i: int) -> dict[str, str]:
        """The columns of input i that readers ask for, by themselves or by an equal column of another input."""
        asked = self._of[join].columns
        if isinstance(join, plan.Join) and i in self._synopses.get(join, ()):
            return {}
        if isinstance(join, plan.Compare) or join.halved:
            return {} if i else {name: name for name in asked}  # rows of the first input alone come out
        own = types_of(join.inputs[i])
        exports = {name: name for name in own if name in asked}
        if set(join.lonely) - {i}:
            return exports  # where the other input's lonely rows have NULL, what is equal says nothing
        for each in matching_classes(join):
            # What is equal only where rows meet is not so in this input's lonely rows.
            known = [name for name in each.columns if name in asked and not (i in join.lonely and name in own)]
            for name in each.columns:
                if known and name in own:
                    exports.setdefault(name, known[0])
        return exports

    def _ask_inputs(self, node: plan.Plan, wanted: Wanted) -> None:
        match node:
            case plan.Scan():
                pass
            case plan.Filter(input=below):
                self._of[below].ask(wanted.columns, history=wanted.history)
            case plan.Project(input=below):
                carried = {old for images in self.images(node) for old in images}
                self._of[below].ask(carried, history=wanted.history)
            case plan.Group(input=below, keys=keys):
                self._of[below].ask(keys)
            case plan.Session(input=below, time=time, keys=keys):
                self._of[below].ask((time, *keys))
            case plan.Distinct(input=below):
                self._of[below].ask(_scalars(below), history=wanted.history)
            case plan.Rank(input=below, partition=partition) | plan.Frame(input=below, partition=partition):
                self._of[below].ask({*partition, *self._passing[node]} & {*_scalars(below)})
            case plan.Sort(input=below, keys=(first, *_)):
                self._of[below].ask({first.column} & {*_scalars(below)}, history=True)
            case plan.Merge(inputs=several):
                for below in several:
                    self._of[below].ask(wanted.columns, history=True)
            case plan.Compare(inputs=several):
                for below in several:
                    self._of[below].ask(_scalars(below), history=True)
            case plan.Join():
                compared = (name for each in matching_classes(node) for name in each.columns)
                equal = {name for name in compared if name in self._purging[node]}
                for i, below in enumerate(node.inputs):
                    release = given_up(below, i)
                    own = release.asks if release is not None else ()
                    rising = bounded(self._graphs[node], i) if self._purging[node] else ()
                    closing = equal.union(rising, self.exports(node, i), own)
                    self._of[below].ask(closing & types_of(below).keys(), history=True)


def _scalars(node: plan.Plan) -> list[str]:
    """The columns that a punctuation can speak of."""
    return [column.name for column in node.columns if column.type.scalar]
