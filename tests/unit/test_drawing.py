from __future__ import annotations

from itertools import combinations, permutations
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from caesura.explain.document import Graph, GraphEdge, GraphNode
from caesura.explain.drawing import draw

SVG = "{http://www.w3.org/2000/svg}"


def node(name: str, relation: str | None = None, *, static: bool = False, purgeable: bool = True) -> GraphNode:
    return {"input": name, "relation": relation or name, "static": static, "purgeable": purgeable}


def edge(sources: str, target: str, scheme: str = "UNIQUE (id)", predicate: str | None = None) -> GraphEdge:
    """`sources` are names with spaces between them."""
    return {
        "sources": sources.split(),
        "target": target,
        "scheme": scheme,
        "predicate": predicate if predicate is not None else f"{target}.id = {sources or '7'}",
    }


def graph(nodes: list[GraphNode], *edges: GraphEdge) -> Graph:
    return {"operator": "join", "nodes": nodes, "edges": list(edges), "rounds": []}


def drawn(nodes: list[GraphNode], *edges: GraphEdge) -> Element:
    return ElementTree.fromstring(draw(graph(nodes, *edges)))


def named(count: int) -> list[GraphNode]:
    return [node(f"s{i}") for i in range(count)]


def with_class(svg: Element, *names: str) -> list[Element]:
    return [each for each in svg.iter() if set(names) <= set(each.get("class", "").split())]


def words(element: Element) -> list[str]:
    return [each.text or "" for each in element.iter(f"{SVG}text")]


def number(element: Element, attribute: str) -> float:
    return float(element.attrib[attribute])


def centre(element: Element) -> complex:
    return complex(number(element, "cx"), number(element, "cy"))


def box(paper: Element) -> tuple[float, float, float, float]:
    """Left, top, right, bottom."""
    x, y = number(paper, "x"), number(paper, "y")
    return x, y, x + number(paper, "width"), y + number(paper, "height")


def apart(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_every_input_is_shown_with_its_relation() -> None:
    svg = drawn([node("a", "auction"), node("b", "bid"), node("person")])
    assert words(svg) == ["a", "auction", "b", "bid", "person"]


def test_a_long_name_is_cut_and_whole_in_the_title() -> None:
    (shown,) = with_class(drawn([node("auctions_of_last_year")]), "node")
    assert words(shown) == ["auctions_of…"]
    assert "auctions_of_last_year" in (shown.findtext(f"{SVG}title") or "")


def test_an_operator_as_input_is_shown_by_its_first_word() -> None:
    assert words(drawn([node("e", "filter `e.kind` = 'closed'")])) == ["e", "filter"]


def test_every_edge_is_an_arrow_with_scheme_and_predicate() -> None:
    svg = drawn(
        [node("a"), node("b")],
        edge("b", "a", "UNIQUE (id)", "a.id = b.auction"),
        edge("a", "b", "PUNCTUATED BY (auction)", "b.auction = a.id"),
    )
    assert len(with_class(svg, "head")) == 2
    assert [words(label) for label in with_class(svg, "label")] == [
        ["UNIQUE (id)", "a.id = b.auction"],
        ["PUNCTUATED BY (auction)", "b.auction = a.id"],
    ]


def test_edges_with_the_same_ends_are_one_arrow_with_all_labels() -> None:
    svg = drawn([node("a"), node("b")], edge("a", "b", "UNIQUE (x)"), edge("a", "b", "UNIQUE (y)"))
    assert len(with_class(svg, "edge")) == 1
    assert words(with_class(svg, "label")[0]) == ["UNIQUE (x)", "b.id = a", "UNIQUE (y)", "b.id = a"]


def test_arrows_there_and_back_bend_to_different_sides() -> None:
    svg = drawn([node("a"), node("b")], edge("a", "b"), edge("b", "a"))
    there, back = (each.attrib["d"].split("Q")[1].split()[0].split(",")[1] for each in with_class(svg, "line"))
    assert float(there) < 0 < float(back)


def test_an_arrow_without_one_back_is_straight() -> None:
    (line,) = with_class(drawn([node("a"), node("b")], edge("a", "b")), "line")
    assert {point.split(",")[1] for point in line.attrib["d"].strip("M").replace("Q", "").split()} == {"0.0"}


def test_several_sources_meet_in_a_junction_from_which_one_arrow_leads_to_the_target() -> None:
    svg = drawn(named(3), edge("s0 s1", "s2"))
    (generalised,) = with_class(svg, "edge", "generalised")
    (junction,) = with_class(generalised, "junction")
    *tails, arrow = with_class(generalised, "line")
    assert len(tails) == 2
    assert {tail.attrib["d"].split()[-1] for tail in tails} == {f"{centre(junction).real},{centre(junction).imag}"}
    assert len(with_class(generalised, "head")) == 1
    assert arrow not in tails


def test_an_edge_from_one_source_has_no_junction() -> None:
    svg = drawn(named(3), edge("s0", "s1"))
    assert with_class(svg, "junction") == []
    assert with_class(svg, "source") == []


def test_junctions_keep_clear_of_each_other_and_of_the_inputs() -> None:
    nodes = named(6)
    svg = drawn(nodes, edge("s0 s3", "s1"), edge("s2 s5", "s1"), edge("s0 s2", "s1"), edge("s3 s4 s5", "s0"))
    junctions = [centre(each) for each in with_class(svg, "junction")]
    inputs = [(centre(each), number(each, "r")) for each in with_class(svg, "shape")]
    assert len(junctions) == 4
    assert all(abs(one - other) > 20 for one, other in combinations(junctions, 2))
    assert all(abs(one - place) > radius + 20 for one in junctions for place, radius in inputs)


def test_an_edge_without_sources_is_a_short_arrow_from_a_dot() -> None:
    svg = drawn([node("a"), node("k")], edge("", "k", "PUNCTUATED BY (kind)", "k.kind = 'x'"))
    (constant,) = with_class(svg, "edge", "constant")
    (dot,) = with_class(constant, "source")
    _, k = with_class(svg, "shape")
    assert number(k, "r") < abs(centre(dot) - centre(k)) < number(k, "r") + 60


def test_a_static_input_is_a_square() -> None:
    (shown,) = with_class(drawn([node("category", static=True), node("a")]), "node", "static")
    assert [each.tag for each in with_class(shown, "shape")] == [f"{SVG}rect"]


def test_only_an_input_that_is_not_purgeable_is_marked_and_not_by_colour_alone() -> None:
    svg = drawn([node("a"), node("b", purgeable=False)])
    (shown,) = with_class(svg, "grows")
    assert words(shown) == ["b", "∞"]
    assert len(with_class(svg, "mark")) == 1


@pytest.mark.parametrize("count", range(2, 13))
def test_inputs_do_not_overlap(count: int) -> None:
    circles = with_class(drawn(named(count)), "shape")
    assert len(circles) == count
    for one, other in combinations(circles, 2):
        assert abs(centre(one) - centre(other)) > number(one, "r") + number(other, "r") + 10


@pytest.mark.parametrize("count", range(1, 13))
def test_everything_is_within_the_picture(count: int) -> None:
    nodes = named(count)
    around = [edge(f"s{i}", f"s{(i + 1) % count}", "PUNCTUATED BY (sensor, hour)") for i in range(count)]
    svg = drawn(nodes, *(around if count > 1 else []), *(edge("", each["input"]) for each in nodes))
    left, top, width, height = map(float, svg.attrib["viewBox"].split())
    papers = with_class(svg, "paper")
    assert len(papers) == len(with_class(svg, "edge"))
    for x, y, right, bottom in map(box, papers):
        assert left <= x < right <= left + width
        assert top <= y < bottom <= top + height
    for each in (*with_class(svg, "shape"), *with_class(svg, "dot")):
        at, radius = centre(each), number(each, "r")
        assert left <= at.real - radius < at.real + radius <= left + width
        assert top <= at.imag - radius < at.imag + radius <= top + height


@pytest.mark.parametrize("count", range(2, 13))
def test_labels_of_a_ring_hide_neither_each_other_nor_the_inputs(count: int) -> None:
    around = [edge(f"s{i}", f"s{(i + 1) % count}", "PUNCTUATED BY (sensor)") for i in range(count)]
    svg = drawn(named(count), *around)
    labels = list(map(box, with_class(svg, "paper")))
    inputs = [(centre(each), number(each, "r")) for each in with_class(svg, "shape")]
    circles = [(c.real - r, c.imag - r, c.real + r, c.imag + r) for c, r in inputs]
    assert len(labels) == count
    assert all(apart(one, other) for one, other in combinations(labels, 2))
    assert all(apart(label, circle) for label in labels for circle in circles)


def test_a_label_is_as_wide_as_its_text() -> None:
    svg = drawn([node("a"), node("b")], edge("a", "b", "ORDERED BY (at WITHIN INTERVAL 5 SECONDS)"))
    left, _, right, _ = box(with_class(svg, "paper")[0])
    assert right - left >= 6.5 * len("ORDERED BY (at WITHIN INTERVAL 5 SECONDS)")


def test_a_long_predicate_is_one_line_for_each_conjunct() -> None:
    predicate = "alarm.sensor = reading.sensor AND alarm.hour = reading.hour"
    (label,) = with_class(drawn([node("a"), node("b")], edge("a", "b", "S", predicate)), "label")
    assert words(label) == ["S", "alarm.sensor = reading.sensor AND", "alarm.hour = reading.hour"]


def test_a_picture_of_very_many_inputs_has_its_labels_in_titles() -> None:
    svg = drawn(named(41), edge("s0", "s40", "UNIQUE (id)", "s40.id = s0.x"))
    assert with_class(svg, "label") == []
    (shown,) = with_class(svg, "edge")
    assert shown.findtext(f"{SVG}title") == "s0 → s40: UNIQUE (id), s40.id = s0.x"


def test_a_picture_of_very_many_arrows_has_its_labels_in_titles() -> None:
    nodes = named(9)
    svg = drawn(nodes, *(edge(one["input"], other["input"]) for one, other in permutations(nodes, 2)))
    assert with_class(svg, "label") == []
    assert len(with_class(svg, "head")) == 72


def test_it_can_be_read_aloud() -> None:
    svg = drawn([node("a", purgeable=False), node("c", static=True)], edge("", "a", "UNIQUE (id)", "a.id = 7"))
    assert svg.get("role") == "img"
    assert svg[0].tag == f"{SVG}title"
    assert svg[0].text == "Punctuation graph of join"
    assert svg[1].tag == f"{SVG}desc"
    assert svg[1].text == ("a (a): its rows never leave. c (c): static. constant → a: UNIQUE (id), a.id = 7.")


def test_it_follows_the_colour_scheme_of_the_reader() -> None:
    assert "prefers-color-scheme: dark" in (drawn(named(2)).findtext(f"{SVG}style") or "")


def test_names_and_predicates_are_escaped() -> None:
    evil = "<script>alert('&')</script>"
    text = draw(graph([node(evil, evil), node("b", purgeable=False)], edge("b", evil, evil, evil)))
    assert "<script" not in text
    assert evil in words(with_class(ElementTree.fromstring(text), "label")[0])


def test_the_same_graph_is_drawn_the_same() -> None:
    one = graph(named(5), edge("s0 s1", "s2"), edge("s3", "s4"))
    assert draw(one) == draw(one)
