"""What `caesura explain` knows about queries as one HTML page that needs no other file and no script."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from caesura.explain.document import (
    Document,
    Explanation,
    Graph,
    GraphEdge,
    HopReport,
    JoinPlan,
    KeptPunctuations,
    PlanNode,
    ProvenState,
)
from caesura.explain.drawing import DARK, LIGHT, draw
from caesura.explain.synopsis import kept as synopsis
from caesura.explain.text import arrangement, costs, reason, wanted
from caesura.safety.names import series
from caesura.safety.report import Add, BlockedOperator

_STYLE = f"""
:root {{ color-scheme: light dark; {LIGHT} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}
body {{ margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 66rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 system-ui, 'Segoe UI', Helvetica, Arial, sans-serif }}
h1 {{ font-size: 1.6rem; margin: 0 }}
h2 {{ font-size: 1.3rem; margin: 0 }}
h3 {{ font-size: 1rem; margin: 1.8rem 0 0.4rem }}
p {{ margin: 0.3rem 0 }}
ul, ol {{ margin: 0.3rem 0; padding-left: 1.4rem }}
a {{ color: inherit }}
code {{ font: 0.875em ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; overflow-wrap: anywhere }}
.soft {{ color: var(--soft) }}
.good {{ color: var(--good) }}
.bad {{ color: var(--bad) }}
.query {{ border-top: 1px solid var(--rule); margin-top: 2.2rem; padding-top: 1.6rem }}
.badge {{ border: 1.5px solid; border-radius: 1rem; padding: 0.1rem 0.6rem; margin-left: 0.5rem;
  font-size: 0.85rem; font-weight: 600; white-space: nowrap }}
.state {{ border-left: 3px solid var(--good); padding-left: 0.9rem; margin: 0.9rem 0 }}
.state.open {{ border-left: 3px double var(--bad) }}
.scheme {{ border: 1px solid var(--rule); border-radius: 0.3rem; padding: 0 0.35rem; margin-left: 0.4rem;
  background: var(--wash); white-space: nowrap }}
.plan ul {{ border-left: 1px solid var(--rule); list-style: none; margin: 0.1rem 0 0.1rem 0.4rem;
  padding-left: 1rem }}
.plan > ul {{ border: 0; margin: 0; padding: 0 }}
.scroll {{ overflow-x: auto }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ border-bottom: 1px solid var(--rule); padding: 0.35rem 0.9rem 0.35rem 0; text-align: left;
  vertical-align: top }}
th {{ color: var(--soft); font-size: 0.85rem; font-weight: 600 }}
figure {{ margin: 0.8rem 0 1.6rem }}
figure svg {{ display: block; margin: 0 auto }}
figcaption {{ margin-top: 0.8rem; font-size: 0.925rem }}
@media print {{
  body {{ max-width: none; padding: 0; font-size: 10.5pt }}
  figure svg {{ max-width: 100%; height: auto }}
  .scroll {{ overflow: visible }}
  .state, figure, tr {{ break-inside: avoid }}
  h2, h3 {{ break-after: avoid }}
}}
"""


def page(title: str, document: Document) -> str:
    queries = document["queries"]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} – caesura explain</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1>{_summary(queries)}</header>\n<main>\n"
        + "\n".join(_query(number, each) for number, each in enumerate(queries, 1))
        + "\n</main>\n</body>\n</html>\n"
    )


def _summary(queries: list[Explanation]) -> str:
    count = len(queries)
    unsafe = sum(each["verdict"] == "unsafe" for each in queries)
    told = f"{count} {'query' if count == 1 else 'queries'}, {f'{unsafe} unsafe' if unsafe else 'all safe'}"
    links = (
        f'<a href="#query-{number}"><code>{escape(each["name"])}</code></a> {_MARKS[each["verdict"]]}'
        for number, each in enumerate(queries, 1)
    )
    contents = f"<nav>{_list(links)}</nav>" if count > 1 else ""
    return f'<p class="soft">{told if count else "no queries"}</p>{contents}'


_MARKS = {"safe": '<span class="good">✓ safe</span>', "unsafe": '<span class="bad">✗ unsafe</span>'}


def _query(number: int, query: Explanation) -> str:
    colour = "good" if query["verdict"] == "safe" else "bad"
    mark = "✓" if query["verdict"] == "safe" else "✗"
    span = query["span"]
    place = f'<p class="soft">line {span["start"]["line"]}</p>' if span is not None else ""
    return (
        f'<section class="query" id="query-{number}">\n'
        f"<h2><code>{escape(query['name'])}</code>"
        f' <span class="badge {colour}">{mark} {query["verdict"]}</span></h2>{place}\n'
        + _part("Repairs", _repairs(query["repairs"]))
        + _part("Blocked operators", _list(map(_blocked, query["blocked"])))
        + _part("Notes", _list(map(_prose, query["notes"])))
        + _part("States and their proofs", "\n".join(map(_state, query["states"])))
        + "".join(_part(f"Punctuation graph of {each['operator']}", _figure(each)) for each in query["graphs"])
        + _part("Punctuations that are kept", _kept(query["punctuations"]))
        + _part("Plan", f'<div class="plan"><ul>{_plan(query["plan"])}</ul></div>')
        + _part("Join plans", "\n".join(map(_join_plan, query["join_plans"])))
        + "</section>"
    )


def _part(title: str, body: str) -> str:
    """Nothing, if there is nothing to say."""
    return f"<h3>{escape(title)}</h3>\n{body}\n" if body else ""


def _repairs(repairs: list[list[Add]]) -> str:
    several = "<p>Any one of these makes the query safe:</p>" if len(repairs) > 1 else ""
    return several + _list((_list(map(_add, each)) if len(each) > 1 else _add(each[0]) for each in repairs), "ol")


def _add(add: Add) -> str:
    return f"add <code>{escape(add['add'])}</code> to stream <code>{escape(add['stream'])}</code>"


def _blocked(blocked: BlockedOperator) -> str:
    return f"<code>{escape(blocked['operator'])}</code>: {_prose(blocked['because'])}"


def _state(state: ProvenState) -> str:
    of = f" of <code>{escape(state['input'])}</code>" if state["input"] else ""
    by = f"bounded: {escape(state['by'])}" if state["by"] is not None else "✗ grows without bound"
    kept = f'<p class="soft">{escape(synopsis(state["synopsis"]))}</p>' if state["synopsis"] is not None else ""
    return (
        f'<div class="state{"" if state["bounded"] else " open"}">'
        f"<p><strong><code>{escape(state['operator'])}</code>{of}</strong>"
        f' <span class="badge {"good" if state["bounded"] else "bad"}">{by}</span></p>'
        f"<p>{_prose(state['because'])}</p>{kept}{_list(map(_hop, state['hops']), 'ol')}</div>"
    )


def _hop(hop: HopReport) -> str:
    pins = " and ".join(f"<code>{escape(pin)}</code>" for pin in hop["pins"])
    promises = " and ".join(f"<code>{escape(promise)}</code>" for promise in hop["promises"])
    where = f", where {pins}" if pins else ""
    promised = f' <span class="soft">promised by {promises}</span>' if promises else ""
    return f"<code>{escape(hop['input'])}</code> by {_scheme(hop['scheme'])}{where}{promised}"


def _kept(punctuations: list[KeptPunctuations]) -> str:
    if not punctuations:
        return ""
    rows = (
        f"<tr><td><code>{escape(each['operator'])}</code></td><td><code>{escape(each['input'])}</code></td>"
        f"<td><code>{escape(each['scheme'])}</code></td><td>{_gone(each)}</td>"
        f"<td>{_prose(each['because'])}</td></tr>"
        for each in punctuations
    )
    head = "<tr><th>operator</th><th>input</th><th>scheme</th><th>kept few by</th><th>because</th></tr>"
    return f'<div class="scroll"><table>{head}{"".join(rows)}</table></div>'


def _gone(kept: KeptPunctuations) -> str:
    return escape(kept["by"]) if kept["by"] is not None else '<span class="bad">✗ nothing: they grow</span>'


def _plan(node: PlanNode) -> str:
    schemes = "".join(map(_scheme, dict.fromkeys(node["schemes"])))
    below = "".join(map(_plan, node["inputs"]))
    return f"<li>{_prose(node['text'])}{schemes}{f'<ul>{below}</ul>' if below else ''}</li>"


def _join_plan(plan: JoinPlan) -> str:
    operator, chosen = f"<code>{escape(plan['operator'])}</code>", plan["chosen"]
    if chosen is None:
        return f"<p>{operator}: none, {_prose(reason(plan))}</p>"
    trees = (chosen, *plan["runners_up"])
    rows = (
        f"<tr><td><code>{escape(arrangement(each))}</code></td><td>{each['ratio']:g}</td>"
        f"<td>{escape(costs(each))}</td></tr>"
        for each in trees
    )
    head = "<tr><th>tree</th><th>times</th><th>cost</th></tr>"
    return (
        f"<p>{operator}: <code>{escape(arrangement(chosen))}</code>, {_prose(reason(plan))}</p>"
        f"{f'<p>{escape(wanted(chosen))}</p>' if chosen['wanted'] else ''}"
        f'<div class="scroll"><table>{head}{"".join(rows)}</table></div>'
    )


def _scheme(scheme: str) -> str:
    return f'<code class="scheme">{escape(scheme)}</code>'


def _figure(graph: Graph) -> str:
    rounds = " → ".join(" ".join(f"{{{', '.join(each)}}}" for each in sets) for sets in graph["rounds"])
    return (
        f'<figure><div class="scroll">{draw(graph)}</div>\n<figcaption>'
        f'<p class="soft">{_legend(graph)}</p>{_list(_unreached_lines(graph))}'
        f"<p>Merging, round by round: <code>{escape(rounds)}</code></p></figcaption></figure>"
    )


def _legend(graph: Graph) -> str:
    """Explains only what the picture shows."""
    nodes, edges = graph["nodes"], graph["edges"]
    told = [
        (
            bool(edges),
            "An arrow leads to the input that makes the promise: rows of its source are protected from it.",
        ),
        (any(len(each["sources"]) > 1 for each in edges), "Lines that meet in a dot are needed together."),
        (any(not each["sources"] for each in edges), "An arrow from a dot alone needs only constants or tables."),
        (any(each["static"] for each in nodes), "A dashed square is static."),
        (not all(each["purgeable"] for each in nodes), "Red with ∞: rows of this input never leave."),
    ]
    return " ".join(text for holds, text in told if holds)


def _unreached_lines(graph: Graph) -> Iterable[str]:
    """A line for all inputs that lack the same others."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, missing in unreached(graph).items():
        alike.setdefault(missing, []).append(name)
    for missing, names in alike.items():
        verb = "does" if len(names) == 1 else "do"
        yield f'<span class="bad">✗ {_names(names)} {verb} not reach {_names(missing)}</span>'


def _names(names: Iterable[str]) -> str:
    return series(tuple(f"<code>{escape(name)}</code>" for name in names))


def unreached(graph: Graph) -> dict[str, tuple[str, ...]]:
    """For each input that is not purgeable, the others that its rows are not protected from."""
    names = [node["input"] for node in graph["nodes"]]
    static = {node["input"] for node in graph["nodes"] if node["static"]}
    found: dict[str, tuple[str, ...]] = {}
    for node in graph["nodes"]:
        if not node["purgeable"]:
            reached = _closure({node["input"], *static}, graph["edges"])
            found[node["input"]] = tuple(name for name in names if name not in reached)
    return found


def _closure(start: set[str], edges: list[GraphEdge]) -> set[str]:
    """An edge is usable when all of its sources are reached. Every edge is looked at once per source."""
    waiting: dict[str, list[int]] = {}
    for number, edge in enumerate(edges):
        for source in edge["sources"]:
            waiting.setdefault(source, []).append(number)
    lacking = [len(edge["sources"]) for edge in edges]
    fresh = [*start, *(edge["target"] for edge in edges if not edge["sources"])]
    reached: set[str] = set()
    while fresh:
        name = fresh.pop()
        if name in reached:
            continue
        reached.add(name)
        for number in waiting.get(name, ()):
            lacking[number] -= 1
            if not lacking[number]:
                fresh.append(edges[number]["target"])
    return reached


def _list(items: Iterable[str], kind: str = "ul") -> str:
    inner = "".join(f"<li>{item}</li>" for item in items)
    return f"<{kind}>{inner}</{kind}>" if inner else ""


def _prose(text: str) -> str:
    """A sentence in which `names` are code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))
