"""`caesura explain` for the terminal: the plan, the proof of each state, the punctuation graph, the repairs."""

from __future__ import annotations

from collections.abc import Iterator

from caesura.explain.document import (
    CostedTree,
    Explanation,
    Graph,
    GraphEdge,
    JoinPlan,
    PlanNode,
    ProvenState,
)
from caesura.explain.synopsis import kept as synopsis


def lines(query: Explanation) -> Iterator[str]:
    yield f"{query['name']}: {query['verdict']}"
    yield from _section("plan", _plan(query["plan"], ""))
    yield from _section("join plans", (line for each in query["join_plans"] for line in _join_plan(each)))
    yield from _section("states", (line for state in query["states"] for line in _state(state)))
    kept = (
        f"{each['operator']} `{each['input']}` {each['scheme']}: {each['by'] or 'grows'}: {each['because']}"
        for each in query["punctuations"]
    )
    yield from _section("punctuations kept", kept)
    for graph in query["graphs"]:
        yield from _section(f"punctuation graph of {graph['operator']}", _graph(graph))
    blocked = (f"{each['operator']}: {each['because']}" for each in query["blocked"])
    yield from _section("blocked", blocked)
    repairs = (" and ".join(f"add {a['add']} to `{a['stream']}`" for a in repair) for repair in query["repairs"])
    yield from _section("repairs", repairs)
    yield from _section("notes", query["notes"])


def _section(title: str, body: Iterator[str] | list[str]) -> Iterator[str]:
    """Nothing at all for an empty one."""
    for number, line in enumerate(body):
        if not number:
            yield f"  {title}"
        yield f"    {line}"


def _plan(node: PlanNode, indent: str) -> Iterator[str]:
    schemes = f"   closes {', '.join(node['schemes'])}" if node["schemes"] else ""
    yield f"{indent}{node['text']}{schemes}"
    for below in node["inputs"]:
        yield from _plan(below, indent + "  ")


def _join_plan(plan: JoinPlan) -> Iterator[str]:
    chosen = plan["chosen"]
    if chosen is None:
        yield f"{plan['operator']}: none, {reason(plan)}"
        return
    yield f"{plan['operator']}: {arrangement(chosen)}, {reason(plan)}"
    yield f"  {costs(chosen)}"
    if chosen["wanted"]:
        yield f"  {wanted(chosen)}"
    for each in plan["runners_up"]:
        yield f"  {each['ratio']:g} times: {arrangement(each)}: {costs(each)}"
        if each["wanted"]:
            yield f"    {wanted(each)}"


def arrangement(tree: CostedTree) -> str:
    return f"{tree['tree']} on demand" if tree["demand"] else tree["tree"]


def wanted(tree: CostedTree) -> str:
    """`joined on demand: of a 17.00%, of b 42.00%, …`"""
    shares = ", ".join(f"of {each['input']} {each['share']:.2%}" for each in tree["wanted"])
    return f"joined on demand: {shares}, as many as find partners further up; the others are suspended"


def reason(plan: JoinPlan) -> str:
    """Why this tree was chosen."""
    return plan["because"] or {"stored": "which stores least", "touched": "which touches least"}[plan["least"]]


def costs(tree: CostedTree) -> str:
    """`2,000 rows (a 1,000, b 1,000), 0 of sub-joins, 2,000 punctuations, 2,000 look-ups a second`"""
    cost = tree["cost"]
    of = ", ".join(f"{each['input']} {each['rows']:,.0f}" for each in cost["state"])
    rows = sum(each["rows"] for each in cost["state"])
    return (
        f"{rows:,.0f} rows{f' ({of})' if of else ''}, {cost['intermediates']:,.0f} of sub-joins,"
        f" {cost['punctuations']:,.0f} punctuations, {cost['probes']:,.0f} look-ups a second"
    )


def _state(state: ProvenState) -> Iterator[str]:
    subject = f"{state['operator']} `{state['input']}`" if state["input"] else state["operator"]
    yield f"{subject}: {state['by'] or 'unbounded'}: {state['because']}"
    if state["synopsis"] is not None:
        yield f"  {synopsis(state['synopsis'])}"
    for number, hop in enumerate(state["hops"], 1):
        pins, promises = " and ".join(hop["pins"]), " and ".join(hop["promises"])
        yield f"  {number}. `{hop['input']}` on {hop['scheme']}, where {pins}, by {promises}"


def _graph(graph: Graph) -> Iterator[str]:
    for node in graph["nodes"]:
        mark = "static" if node["static"] else "every row leaves" if node["purgeable"] else "reaches not all"
        yield f"{node['input']} ({node['relation']}): {mark}"
    for edge in graph["edges"]:
        yield f"{_sources(edge)} → {edge['target']}: {edge['scheme']}, {edge['predicate']}"
    yield " → ".join(" ".join(f"{{{', '.join(node)}}}" for node in nodes) for nodes in graph["rounds"])


def _sources(edge: GraphEdge) -> str:
    match edge["sources"]:
        case []:
            return "(always)"
        case [one]:
            return one
        case several:
            return f"{{{', '.join(several)}}}"
