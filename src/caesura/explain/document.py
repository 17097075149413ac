"""All that `caesura explain` knows about a query, as one JSON object: what `check` says, with whole proofs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal, NotRequired, TypedDict

from caesura.explain.describe import line
from caesura.explain.measured import MeasuredRun
from caesura.explain.synopsis import SynopsisReport, of_entries, of_join
from caesura.plan import Plan, Tree, endless, inputs
from caesura.planning.choose import Candidate, Choice, Planned, planned
from caesura.planning.statistics import UNKNOWN, Statistics
from caesura.punctuation import Scheme
from caesura.safety.because import constraint, shifted, text
from caesura.safety.closing import Closing
from caesura.safety.graph import Edge, Pinned, PunctuationGraph, punctuation_graph
from caesura.safety.growth import GoneBy
from caesura.safety.names import Names, bare, scans
from caesura.safety.names import names as names_of
from caesura.safety.reach import Hop, Reach
from caesura.safety.report import Add, BlockedOperator, Place, State, query_report, state_report
from caesura.safety.schemes import Derivation, Derived
from caesura.safety.states import Judgement, StateVerdict
from caesura.safety.synopsis import Synopsis
from caesura.safety.verdict import Verdict, check_all


class HopReport(TypedDict):
    """A step of the chained purge: `input` is added, because `pins` hold for its `scheme`."""

    input: str
    scheme: str
    pins: list[str]
    promises: list[str]


class ProvenState(State):
    """`hops`: for a join, the order in which the proof and the purge go; empty for other proofs. `synopsis`: what
    is kept where few combinations of values are; null elsewhere."""

    hops: list[HopReport]
    synopsis: SynopsisReport | None


class KeptPunctuations(TypedDict):
    """`by` is null if they grow by one entry per key."""

    operator: str
    input: str
    scheme: str
    by: GoneBy | None
    because: str


class PlanNode(TypedDict):
    text: str
    schemes: list[str]
    inputs: list[PlanNode]


class GraphNode(TypedDict):
    """`purgeable`: the rows of the input leave some day."""

    input: str
    relation: str
    static: bool
    purgeable: bool


class GraphEdge(TypedDict):
    """A row joined from all of `sources` is protected from `target`, whose promise `scheme` the predicate pins."""

    sources: list[str]
    target: str
    scheme: str
    predicate: str


class Graph(TypedDict):
    """`rounds`: the transformed graph, as sets of inputs that were merged, round by round."""

    operator: str
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    rounds: list[list[list[str]]]


class StateRows(TypedDict):
    input: str
    rows: float


class TreeCost(TypedDict):
    """Rows that wait, of each input and of sub-joins; punctuations that are kept; look-ups per second."""

    state: list[StateRows]
    intermediates: float
    punctuations: float
    probes: float


class Wanted(TypedDict):
    input: str
    share: float


class CostedTree(TypedDict):
    """`tree`: the inputs that are joined together, in parentheses. `demand`: whether partial results are made only
    when somebody can use them; `wanted`: then, of each input that waits for that, the share of its rows that are
    wanted. `ratio`: to the price of the chosen one."""

    tree: str
    demand: bool
    wanted: list[Wanted]
    cost: TreeCost
    ratio: float


class JoinPlan(TypedDict):
    """What is chosen for a join of three or more inputs, and the next best. `least`: what is compared, all that is
    stored, or all that is touched in a second. `because`: why there is no choice."""

    operator: str
    least: Literal["stored", "touched"]
    chosen: CostedTree | None
    runners_up: list[CostedTree]
    because: str | None


class Explanation(TypedDict):
    """What `check` reports, with more in `states`, and what it leaves out."""

    name: str
    span: Place | None
    verdict: Literal["safe", "unsafe"]
    states: list[ProvenState]
    blocked: list[BlockedOperator]
    repairs: list[list[Add]]
    notes: list[str]
    punctuations: list[KeptPunctuations]
    plan: PlanNode
    join_plans: list[JoinPlan]
    graphs: list[Graph]


class Document(TypedDict):
    """`run`: what a run has shown, if there was one."""

    queries: list[Explanation]
    run: NotRequired[MeasuredRun]


def document(verdicts: Iterable[Verdict], statistics: Statistics = UNKNOWN) -> Document:
    """`statistics` is what an earlier run has measured. Explained are the queries as they are executed, with the
    trees that are chosen for their joins."""
    judged = tuple(verdicts)
    queries = [replace(verdict.query, plan=verdict.asked) for verdict in judged]
    plans = [planned(query, statistics, (each for each in queries if each is not query)) for query in queries]
    executed = check_all(tuple(replace(each.query, plan=each.plan) for each in plans))
    return {"queries": [*map(_explanation, judged, plans, executed)]}


def _explanation(verdict: Verdict, chosen: Planned, executed: Verdict) -> Explanation:
    judgement = executed.judgement
    derivation, names = judgement.derivation, judgement.names
    graphs = (
        (names.operators[join], punctuation_graph(graph, derivation.reaches[join]))
        for join, graph in derivation.graphs.items()
    )
    known = query_report(verdict)
    return {
        "name": known["name"],
        "span": known["span"],
        "verdict": known["verdict"],
        "states": [_state(state, judgement) for state in executed.states],
        "blocked": known["blocked"],
        "repairs": known["repairs"],
        "notes": [*executed.notes, *_demand(chosen)],
        "punctuations": [
            {
                "operator": kept.operator,
                "input": kept.input,
                "scheme": _scheme(kept.scheme),
                "by": kept.by,
                "because": kept.because,
            }
            for kept in judgement.kept
        ],
        "plan": _plan(executed.query.plan, derivation),
        "join_plans": _join_plans(chosen),
        "graphs": [_graph(operator, graph, derivation, names) for operator, graph in graphs],
    }


def _state(state: StateVerdict, judgement: Judgement) -> ProvenState:
    reach = state.proof if isinstance(state.proof, Reach) else None
    hops = [_hop(reach, hop, judgement) for hop in reach.hops] if reach is not None else []
    return {**state_report(state), "hops": hops, "synopsis": _synopsis(state)}


def _synopsis(state: StateVerdict) -> SynopsisReport | None:
    match state.proof:
        case Synopsis():
            return of_join(state.proof)
        case Closing() if state.by == "synopsis":
            return of_entries(state.proof)
        case _:
            return None


def _hop(reach: Reach, hop: Hop, judgement: Judgement) -> HopReport:
    below = reach.join.inputs[hop.input]
    pins = (f"{pin.attribute} {'<=' if pin.bounded else '='} {shifted(pin.by, pin.shifts)}" for pin in hop.pins)
    return {
        "input": judgement.names.input(below),
        "scheme": _scheme(hop.scheme),
        "pins": list(pins),
        "promises": _promises(judgement.derivation.origin(below, hop.scheme)),
    }


def _plan(plan: Plan, derivation: Derivation) -> PlanNode:
    return {
        "text": line(plan),
        "schemes": list(dict.fromkeys(map(_scheme, derivation.of(plan)))),
        "inputs": [_plan(each, derivation) for each in inputs(plan)],
    }


def _join_plans(plans: Planned) -> list[JoinPlan]:
    """Of the joins as they were asked for, before they were taken apart."""
    return [_join_plan(choice, names_of(plans.query.plan)) for choice in plans.choices]


def _demand(plans: Planned) -> Iterator[str]:
    """The inputs of joins that wait until a join further up can use their rows."""
    names = names_of(plans.query.plan)
    for gate in plans.waiting:
        rows, by = gate.inputs
        while rows in plans.waiting:
            rows = inputs(rows)[0]
        row, partner = f"a row of {names.shown(rows)}", names.shown(by)
        if endless(by):
            yield f"{row} is joined on demand, once {partner} has a partner for it"
        else:
            yield f"{row} without a partner in {partner} is dropped before it is joined"
    for each in plans.unheard:
        between = f"{names.shown(each.rows)} and {names.shown(each.by)}"
        yield f"DEMAND is not followed between {between}: {each.because}"


def _join_plan(choice: Choice, names: Names) -> JoinPlan:
    called = [names.input(plan) for plan in choice.join.inputs]
    least = 0.0 if choice.chosen is None else choice.chosen.price
    return {
        "operator": names.operators[choice.join],
        "least": choice.least,
        "chosen": None if choice.chosen is None else _costed(choice.chosen, least, called),
        "runners_up": [_costed(each, least, called) for each in choice.runners_up],
        "because": choice.because,
    }


def _costed(candidate: Candidate, least: float, called: list[str]) -> CostedTree:
    cost = candidate.cost
    return {
        "tree": _tree(candidate.how.tree, called),
        "demand": candidate.how.demand,
        "wanted": [{"input": called[i], "share": round(share, 4)} for i, share in candidate.wanted],
        "cost": {
            "state": [{"input": called[i], "rows": round(rows, 1)} for i, rows in cost.state],
            "intermediates": round(cost.intermediates, 1),
            "punctuations": round(cost.punctuations, 1),
            "probes": round(cost.probes, 1),
        },
        "ratio": round(candidate.price / least, 2) if least else 1.0,
    }


def _tree(tree: Tree, called: list[str]) -> str:
    return called[tree] if isinstance(tree, int) else f"({', '.join(_tree(each, called) for each in tree)})"


def _graph(operator: str, shown: PunctuationGraph, derivation: Derivation, names: Names) -> Graph:
    plans = shown.graph.join.inputs
    called = [names.input(plan) for plan in plans]
    return {
        "operator": operator,
        "nodes": [
            {
                "input": called[i],
                "relation": _relation(plan),
                "static": i in shown.graph.static,
                "purgeable": i in shown.graph.static or i in shown.purgeable,
            }
            for i, plan in enumerate(plans)
        ],
        "edges": [_edge(edge, plans, called, derivation) for edge in shown.edges],
        "rounds": [[[called[i] for i in sorted(each)] for each in nodes] for nodes in shown.rounds],
    }


def _relation(plan: Plan) -> str:
    """The stream or table, or the operator that makes the rows."""
    below = scans(plan)
    return below[0].relation.name if len(below) == 1 else line(plan)


def _edge(edge: Edge, plans: tuple[Plan, ...], called: list[str], derivation: Derivation) -> GraphEdge:
    promises = _promises(derivation.origin(plans[edge.target], edge.scheme))
    return {
        "sources": [called[i] for i in edge.sources],
        "target": called[edge.target],
        "scheme": " and ".join(dict.fromkeys(each.partition(" ")[2] for each in promises)),
        "predicate": " AND ".join(map(_predicate, edge.pinned)),
    }


def _predicate(pinned: Pinned) -> str:
    if not pinned.bounds:
        by = pinned.by if isinstance(pinned.by, str) else text(pinned.by)
        return f"{pinned.attribute} = {by}"
    shifts = tuple(shift for bound in pinned.bounds for shift in bound.shifts)
    return f"{pinned.attribute} <= {shifted(pinned.by, shifts)}"


def _promises(derived: Derived) -> list[str]:
    return [f"{each.scan.relation.name} {constraint(each.promise)}" for each in derived.promised]


def _scheme(scheme: Scheme) -> str:
    columns = ", ".join(map(bare, scheme.attributes))
    return f"ordered ({columns})" if scheme.ordered else f"({columns})"
