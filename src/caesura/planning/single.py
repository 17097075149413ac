"""Groups that can have no second row are rows: neither grouped nor kept.

A key of UNIQUE comes once. So a GROUP BY or a DISTINCT over columns with such a key among them takes nothing
together, and what it gives is complete as soon as it comes. It has to be as safe as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from caesura.catalog import Stream, Unique
from caesura.expression import column
from caesura.plan import Distinct, Filter, Group, Output, Pipeline, Plan, Project, Scan, types_of
from caesura.planning.choose import all_leave
from caesura.safety.presence import present
from caesura.safety.tree import rebuilt


def ungrouped(pipeline: Pipeline) -> Pipeline:
    """The pipeline without groupings of single rows."""
    return replace(pipeline, queries=tuple(replace(each, plan=_ungrouped(each.plan)) for each in pipeline.queries))


def _ungrouped(plan: Plan) -> Plan:
    fewer = rebuilt(plan, _as_rows)
    return fewer if fewer != plan and (all_leave(fewer) or not all_leave(plan)) else plan


def _as_rows(_: Plan, node: Plan) -> Plan:
    match node:
        case Distinct(input=below) if _single(below, frozenset(each.name for each in below.columns)):
            return below
        case Group(input=below, keys=keys, aggregates=()) if _single(below, frozenset(keys)):
            types = types_of(below)
            return Project(below, tuple(Output(key, column(key, types[key])) for key in keys), node.span)
        case _:
            return node


def _single(node: Plan, columns: frozenset[str]) -> bool:
    """Whether no two of its rows agree in these columns. A key with NULL in it repeats nothing, and may repeat."""
    return any(key <= columns and all(present(node, each) for each in key) for key in _keys(node))


def _keys(node: Plan) -> Iterator[frozenset[str]]:
    """Sets of columns whose values come once, if none is NULL."""
    match node:
        case Scan(relation=Stream() as stream, alias=alias):
            for promise in stream.promises:
                if isinstance(promise, Unique) and promise.lifespan is None:
                    yield frozenset(f"{alias}.{name}" for name in promise.columns)
        case Filter(input=below):
            yield from _keys(below)
        case Project(input=below, outputs=outputs) if not any(_multiplies(each.expr.tree) for each in outputs):
            names = {each.expr.tree.name: each.name for each in outputs if isinstance(each.expr.tree, exp.Column)}
            for key in _keys(below):
                if key <= names.keys():
                    yield frozenset(names[each] for each in key)
        case _:
            return


def _multiplies(tree: exp.Expr) -> bool:
    """Whether it puts a row into several time buckets."""
    windows = (each for each in tree.find_all(exp.Anonymous) if each.name == "window")
    return any(size.name != slide.name for _, size, slide, *_ in (each.expressions for each in windows))
