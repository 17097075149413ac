from __future__ import annotations

from html.parser import HTMLParser

import pytest

from caesura.catalog import PunctuatedBy
from caesura.explain.document import Document, Explanation, Graph, GraphEdge, GraphNode, document
from caesura.explain.page import page, unreached
from caesura.plan import Plan
from caesura.safety.verdict import check
from tests.plans import AUCTION, BID, CATEGORY, group, join, query, scan, stream
from tests.unit.test_planning import CHAIN

BY_SELLER = stream("auction", "id seller category", PunctuatedBy(("seller",)))
SAFE = join(scan(AUCTION, "a"), scan(BID, "b"), on="a.id = b.auction")
UNSAFE = join(scan(BY_SELLER, "a"), scan(BID, "b"), on="a.id = b.auction")
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Reader(HTMLParser):
    """Fails on tags that do not match; keeps tags, attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


def explained(*plans: Plan) -> Document:
    return document(check(query(plan, f"q{number}")) for number, plan in enumerate(plans, 1))


def read(*plans: Plan) -> str:
    return Reader(page("q4.sql", explained(*plans))).text


def test_join_plans_are_shown_with_their_costs() -> None:
    text = read(CHAIN)
    assert "Join plans join: (s1, s2, s3), which stores least" in text
    assert "((s1, s2), s3)1.114,000 rows (s1 1,000, s2 1,000, s3 2,000), 2,000 of sub-joins" in text


def test_a_join_without_a_safe_tree_says_so() -> None:
    unsafe = join(
        scan(BY_SELLER, "a"), scan(BID, "b"), scan(CATEGORY), on="a.id = b.auction, a.category = category.id"
    )
    assert "Join plans join: none, some rows of it never leave" in read(unsafe)


def node(name: str, *, static: bool = False, purgeable: bool = False) -> GraphNode:
    return {"input": name, "relation": name, "static": static, "purgeable": purgeable or static}


def edge(sources: str, target: str) -> GraphEdge:
    return {"sources": sources.split(), "target": target, "scheme": "UNIQUE (id)", "predicate": "p"}


def graph(nodes: list[GraphNode], *edges: GraphEdge) -> Graph:
    rounds = [[[each["input"]] for each in nodes if not each["static"]]]
    return {"operator": "join", "nodes": nodes, "edges": list(edges), "rounds": rounds}


def explanation(**more: object) -> Explanation:
    """A safe query with nothing to say, but for `more`."""
    empty: Explanation = {
        "name": "q",
        "span": None,
        "verdict": "safe",
        "states": [],
        "blocked": [],
        "repairs": [],
        "notes": [],
        "punctuations": [],
        "plan": {"text": "scan stream bid as b", "schemes": [], "inputs": []},
        "join_plans": [],
        "graphs": [],
    }
    return {**empty, **more}  # type: ignore[typeddict-item]


def told(**more: object) -> str:
    return Reader(page("q4.sql", {"queries": [explanation(**more)]})).text


def test_a_page_stands_alone() -> None:
    html = page("q4.sql", explained(SAFE, UNSAFE))
    reader = Reader(html)
    assert html.startswith("<!DOCTYPE html>")
    assert ("charset", "utf-8") in reader.attributes
    assert not {"script", "link", "img", "iframe"} & set(reader.tags)
    assert not {"src", "onclick", "onload", "style"} & {name for name, _ in reader.attributes}
    assert all((value or "").startswith("#") for name, value in reader.attributes if name == "href")
    assert "url(" not in html
    assert "@import" not in html


def test_the_title_is_in_the_head_and_on_the_page() -> None:
    assert read(SAFE).startswith("q4.sql – caesura explain q4.sql")


def test_several_queries_are_counted_and_linked() -> None:
    reader = Reader(page("q4.sql", explained(SAFE, UNSAFE)))
    assert "2 queries, 1 unsafe" in reader.text
    ids = {value for name, value in reader.attributes if name == "id"}
    assert ids == {"query-1", "query-2"}
    assert [value for name, value in reader.attributes if name == "href"] == ["#query-1", "#query-2"]


def test_one_query_needs_no_table_of_contents() -> None:
    assert "nav" not in Reader(page("q4.sql", explained(SAFE))).tags


def test_a_file_without_queries_is_a_page_too() -> None:
    assert "no queries" in read()


@pytest.mark.parametrize(("plan", "badge"), [(SAFE, "✓ safe"), (UNSAFE, "✗ unsafe")])
def test_the_verdict_is_beside_the_name(plan: Plan, badge: str) -> None:
    assert f"q1 {badge}" in read(plan)


def test_the_line_of_a_query_is_told_if_it_has_one() -> None:
    at = {"start": {"line": 17, "column": 1}, "end": {"line": 20, "column": 24}}
    assert "line 17" in told(span=at)
    assert "line" not in told()


def test_a_bounded_state_comes_with_its_hops() -> None:
    text = read(SAFE)
    assert "join of a bounded: punctuation" in text
    assert "b by (auction), where b.auction = a.id promised by bid PUNCTUATED BY (auction)" in text


def test_hops_are_a_list_in_their_order() -> None:
    hop = {"scheme": "(id)", "pins": ["x = y"], "promises": ["s UNIQUE (id)"]}
    hops = [{"input": "first", **hop}, {"input": "second", **hop}]
    state = {
        "operator": "join",
        "input": "a",
        "bounded": True,
        "by": "punctuation",
        "because": "so",
        "hops": hops,
        "synopsis": None,
    }
    html = page("q4.sql", {"queries": [explanation(states=[state])]})
    inner = html.partition("<ol>")[2].partition("</ol>")[0]
    assert inner.count("<li>") == 2
    assert inner.index("first") < inner.index("second")


def test_an_open_state_says_so_without_colour() -> None:
    text = read(UNSAFE)
    assert "join of b ✗ grows without bound" in text
    assert "a row of bid waits for auction for ever" in text


def test_a_state_without_input_is_named_by_its_operator() -> None:
    assert "query bounded: stateless" in read(scan(BID, "b"))


def test_a_repair_tells_what_to_add_where() -> None:
    assert "Repairs add PUNCTUATED BY (id) to stream auction" in read(UNSAFE)
    assert "Repairs" not in read(SAFE)


def test_of_several_repairs_any_one_is_enough() -> None:
    one, other = {"stream": "a", "add": "X"}, {"stream": "b", "add": "Y"}
    text = told(repairs=[[one, other], [other]])
    assert "Any one of these" in text
    assert "add X to stream a" in text
    assert text.count("add Y to stream b") == 2


def test_blocked_operators_and_notes_are_told() -> None:
    text = told(blocked=[{"operator": "group", "because": "nothing closes it"}], notes=["mind the `gap`"])
    assert "group: nothing closes it" in text
    assert "mind the gap" in text


def test_empty_parts_have_no_heading() -> None:
    text = told()
    assert "Plan" in text
    assert not any(each in text for each in ("Repairs", "Blocked", "Notes", "Punctuation", "proofs"))


@pytest.mark.parametrize(("by", "shown"), [("lifespan", "lifespan"), (None, "✗ nothing: they grow")])
def test_kept_punctuations_say_what_keeps_them_few(by: str | None, shown: str) -> None:
    kept = {"operator": "join", "input": "b", "scheme": "(auction)", "by": by, "because": "thus it is"}
    text = told(punctuations=[kept])
    assert shown in text
    assert "thus it is" in text


def test_the_plan_is_a_tree_with_schemes() -> None:
    html = page("q4.sql", explained(group(SAFE, "a.id")))
    plan = html.partition('<div class="plan">')[2].partition("</div>")[0]
    assert plan.count("<li>") == 4
    assert plan.index("group by") < plan.index("join on") < plan.index("scan stream auction as a")
    assert '<code class="scheme">(auction)</code>' in plan


def test_a_scheme_that_two_inputs_have_stands_once_beside_a_node() -> None:
    html = page("q", {"queries": [explanation(plan={"text": "join", "schemes": ["(id)", "(id)"], "inputs": []})]})
    assert html.count("(id)") == 1


def test_every_join_has_its_graph_drawn() -> None:
    reader = Reader(page("q4.sql", explained(join(SAFE, scan(CATEGORY, "c"), on="a.category = c.id"), SAFE)))
    assert reader.tags.count("svg") == 3
    assert reader.tags.count("figure") == 3


def test_rounds_of_merging_are_text() -> None:
    assert "{a} {b} → {a, b}" in read(SAFE)


def test_the_caption_lists_what_is_not_reached() -> None:
    text = read(UNSAFE)
    assert "✗ b does not reach a" in text
    assert "∞: rows of this input never leave" in text
    assert "not reach" not in read(SAFE)
    assert "∞" not in read(SAFE)


def test_inputs_that_lack_the_same_share_a_line() -> None:
    nodes = [node("a"), node("b"), node("c", purgeable=True)]
    assert "✗ a and b do not reach c" in told(graphs=[graph(nodes, edge("a", "b"), edge("b", "a"))])


def test_a_generalised_edge_needs_all_its_sources() -> None:
    nodes = [node("a"), node("b"), node("c")]
    assert unreached(graph(nodes, edge("a b", "c")))["a"] == ("b", "c")
    assert unreached(graph(nodes, edge("a b", "c"), edge("a", "b")))["a"] == ()


def test_static_inputs_and_what_constants_pin_are_reached_from_the_start() -> None:
    nodes = [node("a"), node("t", static=True), node("k"), node("x"), node("y")]
    found = unreached(graph(nodes, edge("", "k"), edge("a k", "x")))
    assert found["a"] == ("y",)
    assert "t" not in found


def test_only_inputs_that_are_not_purgeable_are_looked_at() -> None:
    assert unreached(graph([node("a", purgeable=True), node("b")], edge("a", "b"))) == {"b": ("a",)}


def test_everything_is_escaped() -> None:
    evil = '<script>alert("&\'")</script>'
    nodes = [node(evil), node("b")]
    several = explanation(
        name=evil,
        notes=[evil],
        blocked=[{"operator": evil, "because": evil}],
        repairs=[[{"stream": evil, "add": evil}]],
        states=[
            {
                "operator": evil,
                "input": evil,
                "bounded": False,
                "by": None,
                "because": evil,
                "hops": [{"input": evil, "scheme": evil, "pins": [evil], "promises": [evil]}],
                "synopsis": {"key": [evil], "keeps": [evil], "bound": 1},
            }
        ],
        punctuations=[{"operator": evil, "input": evil, "scheme": evil, "by": None, "because": evil}],
        plan={"text": evil, "schemes": [evil], "inputs": []},
        graphs=[
            {
                **graph(nodes, {"sources": ["b"], "target": evil, "scheme": evil, "predicate": evil}),
                "operator": evil,
            }
        ],
    )
    html = page(evil, {"queries": [several, several]})
    assert "<script" not in html
    assert "script" not in Reader(html).tags
    assert evil in Reader(html).text
