"""Punctuated streams keep their promise, and have the order, sizes, percentages and times of their pattern."""

from __future__ import annotations

import doctest
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import fmean, pvariance

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.punctuation import Constant, Punctuation
from caesura.punctuation_json import read
from caesura.testing import ArrivalPattern, PunctuatedStream, punctuated
from caesura.testing.arrivals import Cluster, Order, Punct, Uniform
from caesura.testing.chance import OfIntegers
from caesura.testing.script import Item
from caesura.types import Type

PATTERNS = st.one_of(
    st.builds(Cluster, st.sampled_from(Order), st.integers(1, 30)),
    st.builds(Punct, st.sampled_from(Order), st.integers(1, 30), st.integers(1, 100)),
    st.builds(Uniform, st.integers(1, 50)),
)
PUNCTUATED_PATTERNS = PATTERNS.filter(lambda pattern: not isinstance(pattern, Uniform))


def stream(notation: str, rows: int, seed: int = 0) -> PunctuatedStream:
    return PunctuatedStream(ArrivalPattern.parse(notation), rows, seed=seed)


def rows(items: list[Item]) -> list[tuple[int, datetime]]:
    return [_row(item) for item in items if not isinstance(item, str)]


def _row(item: Item) -> tuple[int, datetime]:
    assert not isinstance(item, str)
    key, at = item["key"], item["at"]
    assert isinstance(key, int)
    assert isinstance(at, datetime)
    return key, at


def punctuated_keys(items: list[Item]) -> list[int]:
    return [_key(item) for item in items if isinstance(item, str)]


def _key(text: str) -> int:
    match read(text, {"key": Type("BIGINT")}):
        case Punctuation(patterns=(("key", Constant(int(key))),)):
            return key
        case other:
            raise AssertionError(other)


@dataclass(frozen=True)
class Segment:
    keys: list[int]
    closes: int

    @property
    def match(self) -> float:
        return 100 * self.keys.count(self.closes) / len(self.keys)


def segments(items: list[Item]) -> Iterator[Segment]:
    keys: list[int] = []
    for item in items:
        if isinstance(item, str):
            yield Segment(keys, _key(item))
            keys = []
        else:
            keys.append(_row(item)[0])
    assert keys == []


@given(PATTERNS)
def test_a_pattern_is_read_from_its_notation(pattern: ArrivalPattern) -> None:
    assert ArrivalPattern.parse(str(pattern)) == pattern


@pytest.mark.parametrize(
    "notation",
    [
        "",
        "cluster",
        "cluster-asc",
        "cluster-up-3",
        "cluster-asc-0",
        "cluster-asc-x",
        "cluster-asc-03",
        "cluster-asc-3-40",
        "punct-asc-100",
        "punct-asc-100-101",
        "punct-asc-100-0",
        "punct-ASC-100-40",
        "uniform",
        "uniform-0",
    ],
)
def test_what_is_no_pattern_is_refused_with_the_grammar(notation: str) -> None:
    with pytest.raises(ValueError, match=r"no arrival pattern; these are cluster-\[asc\|desc\|random\]-\[size\]"):
        ArrivalPattern.parse(notation)


@given(PATTERNS, st.integers(1, 300), st.integers(0, 1000))
@settings(max_examples=200, deadline=None)
def test_no_row_comes_after_a_punctuation_of_its_key(pattern: ArrivalPattern, count: int, seed: int) -> None:
    closed = set()
    for item in PunctuatedStream(pattern, count, seed=seed).items():
        if isinstance(item, str):
            closed.add(_key(item))
        else:
            assert _row(item)[0] not in closed


@given(PUNCTUATED_PATTERNS, st.integers(1, 300), st.integers(0, 1000))
@settings(deadline=None)
def test_every_key_is_punctuated_once_and_in_order(pattern: ArrivalPattern, count: int, seed: int) -> None:
    defined = PunctuatedStream(pattern, count, seed=seed)
    closed = punctuated_keys(list(defined.items()))
    assert sorted(closed) == list(range(defined.keys))
    if pattern.order is Order.ASC:
        assert closed == sorted(closed)
    if pattern.order is Order.DESC:
        assert closed == sorted(closed, reverse=True)


def test_a_random_order_is_another_for_another_seed() -> None:
    orders = {tuple(punctuated_keys(list(stream("cluster-random-2", 40, seed).items()))) for seed in range(5)}
    assert len(orders) == 5


def test_the_rows_of_a_cluster_are_all_of_its_key() -> None:
    for segment in segments(list(stream("cluster-random-10", 1_000).items())):
        assert {*segment.keys} == {segment.closes}


def test_a_segment_ends_with_the_last_row_of_its_key() -> None:
    for segment in segments(list(stream("punct-random-30-40", 3_000).items())):
        assert segment.keys[-1] == segment.closes


@pytest.mark.parametrize("notation", ["cluster-asc-100", "punct-random-100-40"])
def test_sizes_are_poisson_numbers(notation: str) -> None:
    sizes = [len(segment.keys) for segment in segments(list(stream(notation, 20_000).items()))]
    assert len(sizes) == 200
    assert fmean(sizes) == pytest.approx(100, rel=0.02)
    assert pvariance(sizes) == pytest.approx(100, rel=0.25)


@pytest.mark.parametrize("match", [10, 40, 70])
def test_match_percentages_are_poisson_numbers(match: int) -> None:
    *before_last, _ = segments(list(stream(f"punct-asc-100-{match}", 20_000).items()))
    matches = [segment.match for segment in before_last]
    assert fmean(matches) == pytest.approx(match, rel=0.05)
    assert pvariance(matches) == pytest.approx(match, rel=0.25)


def test_small_segments_keep_the_percentage_although_rows_are_whole() -> None:
    *before_last, _ = segments(list(stream("punct-asc-4-40", 20_000).items()))
    matching = sum(segment.keys.count(segment.closes) for segment in before_last)
    assert matching / sum(len(segment.keys) for segment in before_last) == pytest.approx(0.4, rel=0.03)


def test_the_other_rows_are_spread_over_all_keys_that_are_still_open() -> None:
    first, *_ = segments(list(stream("punct-asc-5000-40", 25_000).items()))
    others = Counter(first.keys)
    del others[first.closes]
    assert {*others} == {1, 2, 3, 4}
    assert max(others.values()) == pytest.approx(min(others.values()), rel=0.15)


def test_times_are_those_of_a_poisson_process() -> None:
    times = [at for _, at in rows(list(stream("punct-asc-100-40", 20_000).items()))]
    gaps = [(later - earlier) / timedelta(milliseconds=1) for earlier, later in pairwise(times)]
    assert min(gaps) > 0
    assert fmean(gaps) == pytest.approx(10, rel=0.02)
    assert pvariance(gaps) == pytest.approx(10**2, rel=0.05)


def test_times_start_where_they_are_told_and_go_as_fast() -> None:
    start = datetime(2030, 5, 1, tzinfo=UTC)
    defined = PunctuatedStream(ArrivalPattern.parse("cluster-asc-5"), 1_000, timedelta(microseconds=2), start)
    times = [at for _, at in rows(list(defined.items()))]
    assert start < times[0] < times[-1]
    assert times[-1] == pytest.approx(defined.expected_end, abs=timedelta(microseconds=400))


def test_rows_are_about_as_many_as_were_asked_for() -> None:
    for notation in ("cluster-asc-7", "punct-desc-100-40", "uniform-20"):
        assert len(rows(list(stream(notation, 10_000).items()))) == pytest.approx(10_000, rel=0.05)


def test_a_stream_is_the_same_for_the_same_seed_only() -> None:
    defined = stream("punct-random-30-40", 300)
    assert list(defined.items()) == list(defined.items())
    assert list(defined.items()) != list(replace(defined, seed=1).items())


def test_irrelevant_punctuations_match_no_row_and_leave_the_rows_as_they_are() -> None:
    defined = stream("punct-asc-30-40", 900)
    irrelevant = list(replace(defined, irrelevant=True).items())
    assert rows(irrelevant) == rows(list(defined.items()))
    assert punctuated_keys(irrelevant) == list(range(30, 60))


def test_a_uniform_stream_has_all_keys_as_often_and_no_punctuations() -> None:
    items = list(stream("uniform-10", 20_000).items())
    counts = Counter(key for key, _ in rows(items))
    assert sorted(counts) == list(range(10))
    assert max(counts.values()) == pytest.approx(min(counts.values()), rel=0.15)
    assert punctuated_keys(items) == []


def test_the_streams_of_figure_12_have_the_same_keys() -> None:
    a, b = stream("uniform-15000", 450_000), stream("punct-asc-30-40", 450_000)
    assert a.keys == b.keys == 15_000


def test_a_stream_without_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one row"):
        stream("uniform-10", 0)


def test_rows_that_come_faster_than_the_clock_are_refused() -> None:
    with pytest.raises(ValueError, match="more than a microsecond apart"):
        PunctuatedStream(ArrivalPattern.parse("cluster-asc-5"), 10, timedelta(microseconds=1))


def test_irrelevant_punctuations_where_there_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="uniform-10 has no punctuations"):
        PunctuatedStream(ArrivalPattern.parse("uniform-10"), 10, irrelevant=True)


@pytest.mark.parametrize("mean", [1, 30, 1_000])
def test_poisson_numbers_have_their_mean_and_variance(mean: int) -> None:
    chance = OfIntegers(seed=0)
    drawn = [chance.poisson(mean, "test", number) for number in range(5_000)]
    assert fmean(drawn) == pytest.approx(mean, rel=0.05)
    assert pvariance(drawn) == pytest.approx(mean, rel=0.1)


def test_the_example_in_the_docstring_is_right() -> None:
    assert doctest.testmod(punctuated).failed == 0
