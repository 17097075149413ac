"""Projection. emit: all rows; pass on: the ps whose patterns are all on columns that survive, unchanged or in an
expression that rises with them; keep: nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from caesura.operators.closed import NOTHING, Closed
from caesura.operators.image import Image
from caesura.operators.operator import Changes, Flow, State, Stateless
from caesura.operators.rows import Rows


@dataclass(frozen=True)
class Project(Stateless):
    outputs: Mapping[str, str]
    """Output column → Spark SQL over the input's columns."""
    images: tuple[Mapping[str, Image], ...]
    """Input column → an output column that carries it. Where one is carried twice, the second mapping has its
    second name, so that punctuations are passed on under both."""

    def step(self, state: State, inputs: tuple[Flow, ...]) -> Rows | None:
        (source,) = inputs
        return None if source.rows is None else source.rows.project(self.outputs)

    def prop(self, state: State, inputs: tuple[Flow, ...]) -> tuple[Flow, Changes]:
        (source,) = inputs
        return Flow(new=self._passed(source.new), before=self._passed(source.before)), {}

    def _passed(self, closed: Closed) -> Closed:
        return reduce(or_, (_imaged(closed, images) for images in self.images), NOTHING)


def _imaged(closed: Closed, images: Mapping[str, Image]) -> Closed:
    closed = closed.confined(images)
    for column, image in images.items():
        closed = image.of(closed, column)
    return closed.renamed({column: image.name for column, image in images.items()})
