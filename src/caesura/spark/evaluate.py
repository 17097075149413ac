"""One pass over the operators: the slice's flows through the plan, and what each operator wants remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import SparkSession

from caesura import plan
from caesura.catalog import Relation
from caesura.operators.closed import Closed
from caesura.operators.operator import Change, Changes, Flow, State
from caesura.operators.rows import Rows, union
from caesura.spark.compile import Compiled


def evaluate(
    compiled: Compiled, state: State, scans: Mapping[plan.Plan, Flow]
) -> tuple[dict[plan.Plan, Flow], dict[str, Change]]:
    """The operators in the fixed order step, pass, keep, prop. Only plans are built; what runs is what joins with
    demand are planned by.

    `scans` has the flows of the leaves, and of any other node whose flow is known already.
    """
    flows = dict(scans)
    changes: dict[str, Change] = {}
    for node in compiled.nodes:
        if node in flows:
            continue
        operator = compiled.operators[node]
        inputs = compiled.inputs(node, flows)
        rows = union((operator.step(state, inputs), operator.pass_(state, inputs)))
        rows = _shared(compiled, state, node, rows)
        changes |= operator.keep(state, inputs)
        passed, remembered = operator.prop(state, inputs)
        changes |= remembered
        flows[node] = replace(passed, rows=rows)
    return flows, changes


def rows_alone(compiled: Compiled, state: State, scans: Mapping[plan.Plan, Flow]) -> dict[plan.Plan, Flow]:
    """The rows of all nodes, whatever the slice closes: for operators that are prompt."""
    flows = dict(scans)
    for node in compiled.nodes:
        if node not in flows:
            inputs = compiled.inputs(node, flows)
            flows[node] = Flow(_shared(compiled, state, node, compiled.operators[node].step(state, inputs)))
    return flows


def _shared(compiled: Compiled, state: State, node: plan.Plan, rows: Rows | None) -> Rows | None:
    """Rows that several read are computed once."""
    if rows is None or node not in compiled.shared:
        return rows
    return state.share(f"rows of node {compiled.nodes.index(node)}", rows)


def forgotten(
    compiled: Compiled, state: State, flows: Mapping[plan.Plan, Flow], changes: Changes
) -> dict[str, Change]:
    """What streams remember after the slice, where they forget some of what these changes say."""
    remembered: dict[str, Change] = {}
    for node, several in compiled.forgetting.items():
        for partners in several:
            remembered |= partners.forget(state, changes, compiled.inputs(node, flows))
    return remembered


def evaluate_static(
    spark: SparkSession, compiled: Compiled, tables: Mapping[Relation, Rows]
) -> dict[plan.Plan, Rows]:
    """The part of the plan that reads no stream, by the same operators: one slice that is also the end."""
    static = tuple(node for node in compiled.nodes if not plan.endless(node))
    scans: dict[plan.Plan, Flow] = {}
    for node in static:
        if isinstance(node, plan.Scan):
            names = {c.name: f"{node.alias}.{c.name}" for c in node.relation.columns}
            scans[node] = Flow(tables[node.relation].renamed(names), Closed(everything=True))
    part = replace(compiled, nodes=static, shared=frozenset())
    flows, _ = evaluate(part, State(spark), scans)
    return {node: flow.rows for node, flow in flows.items() if flow.rows is not None}
