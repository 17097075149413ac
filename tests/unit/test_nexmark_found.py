"""What is said of NEXMark, whatever came of its queries."""

from __future__ import annotations

import pytest
from bench.measure import Table
from bench.nexmark_found import Answer, Found, Outcome, Refused, Together, middle
from bench.nexmark_page import chart, page, targets
from bench.process import Failed
from bench.result import Result

SYSTEMS = ("caesura", "flink", "spark")


def answer(seconds: float, **phases: float) -> Answer:
    result = Result("a system", 100, seconds, 10, 0, (), 0)
    return Answer(result, "final", (phases,) if phases else ())


def written(found: Found) -> str:
    parts = page(found, SYSTEMS, {}, targets(found), chart(found, SYSTEMS))
    return "\n\n".join(part.markdown() if isinstance(part, Table) else part for part in parts)


def test_of_two_rounds_the_faster_counts() -> None:
    assert middle([answer(2), answer(1)]) == answer(1)


def test_a_query_that_failed_once_has_failed() -> None:
    assert middle([answer(2), Failed("its process died")]) == Failed("its process died")


def test_a_profile_adds_up_to_the_seconds() -> None:
    slices = ({"survey": 1.0, "results": 2.0}, {"survey": 1.0, "state": 0.5})
    whole = Answer(answer(5).result, "final", slices)
    assert whole.profile == {"survey": 2.0, "results": 2.0, "state": 0.5, "rest": 0.5}


def test_a_query_that_is_slower_than_flink_comes_with_its_profile() -> None:
    slow, fast = {"caesura": answer(4, survey=3), "flink": answer(2)}, {"caesura": answer(1), "flink": answer(2)}
    none: dict[str, Outcome] = {"spark": Refused("no plan")}
    text = written(Found({"q1": slow | none, "q2": fast | none}))
    assert "- q1: 0.50 of the events/s of Flink SQL" in text
    assert "| seconds | Caesura | survey | rest | Flink SQL | reading |" in text
    assert "| q1 | 4.00 | 3.00 | 1.00 | 2.00 |  |" in text
    assert "| q2 | 1.00 |" not in text


def test_one_pipeline_is_compared_with_the_sum_of_its_queries_by_the_size_of_slices() -> None:
    each = {"q1": answer(4), "q2": answer(6)}
    several = Together(2_500_000, each, [answer(9)]), Together(100_000, each, [answer(4)])
    found = Found({query: dict.fromkeys(SYSTEMS, one) for query, one in each.items()}, several)
    text = written(found)
    assert "| 2,500,000 | 2 | 9.0 | 10.0 | 0.90 |" in text
    assert "| 100,000 | 2 | 4.0 | 10.0 | 0.40 |" in text
    assert [target.met for target in targets(found)][-2:] == [False, True]


def test_failures_are_on_the_page_and_no_target_is_met_by_them() -> None:
    both = Together(100, {}, [Failed("no answer within 600 s")])
    found = Found({"q1": dict.fromkeys(SYSTEMS, Failed("its process died"))}, (both,))
    text = written(found)
    assert "- q1: failed: its process died" in text
    assert "- q1, Spark: failed: its process died" in text
    assert "- all queries as one pipeline, slices of 100 events: failed: no answer within 600 s" in text
    assert not any(target.met for target in targets(found))


@pytest.mark.parametrize("other", ["flink", "spark"])
def test_a_system_without_an_answer_is_not_compared(other: str) -> None:
    outcomes: dict[str, Outcome] = {**dict.fromkeys(SYSTEMS, answer(1)), other: Refused("no plan")}
    found = Found({"q1": outcomes})
    assert [*found.unanswered(other)] == ["q1"]
    assert not found.ratios(other)
