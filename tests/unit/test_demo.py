"""What the demo prints around the run; the run itself is Spark's."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import pytest

from caesura import Session
from caesura.demo import chart as chart_module
from caesura.demo.chart import SHADE, SOLID, chart
from caesura.demo.tour import PROMISE, SQL, Winners, excerpt, without
from caesura.diagnostics import CaesuraError

BLOCKS = "▁▂▃▄▅▆▇█"


def test_the_chart_in_its_docstring_is_what_it_draws() -> None:
    assert doctest.testmod(chart_module).failed == 0


def test_a_flat_series_stays_on_the_lowest_line_while_the_other_grows() -> None:
    *levels, _axis, _numbers = chart([10] * 4, [100, 200, 300, 400], width=40, height=8)
    assert [any(block in line for block in BLOCKS) for line in levels] == [False] * 7 + [True]
    shaded = [line.count(SHADE) for line in levels]
    assert shaded == [*sorted(shaded[:-1]), 0]


def test_what_is_not_zero_is_never_invisible_and_zero_is_never_drawn() -> None:
    *levels, _axis, _numbers = chart([1, 0], [1_000_000, 0], width=30, height=5)
    bottom = levels[-1].split("│")[1]
    assert set(bottom) == {"▁"}
    assert len(bottom) < (30 - len("1,000,000 ┤")) / 2


def test_a_bar_at_the_top_of_the_scale_fills_its_column() -> None:
    *levels, _axis, _numbers = chart([50, 100], [0, 0], width=30, height=4)
    assert [line.count(SOLID) > 0 for line in levels] == [True] * 4
    assert levels[0].count(SOLID) < levels[-1].count(SOLID)


def test_the_axes_name_the_top_the_middle_and_each_pair() -> None:
    top, *_levels, axis, numbers = lines = chart([0] * 3, [100, 5_000, 12_000], width=40, height=6)
    assert top.startswith("12,000 ┤")
    assert any(line.startswith(" 6,000 ┤") for line in lines)
    assert axis.startswith("     0 ┼")
    assert numbers.split() == ["1", "2", "3"]


def test_series_of_zeros_give_an_empty_chart() -> None:
    assert chart([0, 0], [0, 0], width=20, height=2)[:2] == ["1 ┤", "  │"]


@pytest.mark.parametrize("width", [40, 80, 100])
@pytest.mark.parametrize("bars", [1, 3, 9, 24])
def test_a_chart_keeps_to_its_width(width: int, bars: int) -> None:
    for line in chart([7] * bars, [150_000] * bars, width=width, height=6):
        assert len(line) <= width


def test_the_query_of_the_demo_is_safe_and_refused_without_its_promise() -> None:
    Session().sql(SQL).require_safe()
    with pytest.raises(CaesuraError, match="grows without bound"):
        Session().sql(without(SQL, PROMISE)).require_safe()


def test_winners_are_told_once_in_the_order_of_their_ids(tmp_path: Path) -> None:
    winners = Winners(tmp_path)
    assert winners.new() == []
    rows = [{"id": 17, "bids": 14, "price": 9871.2}, {"id": 9, "bids": 11, "price": 20.0}]
    (tmp_path / "slice-0.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert winners.new() == [
        "auction 9 closed: 11 bids, highest 20.00",
        "auction 17 closed: 14 bids, highest 9,871.20",
    ]
    assert winners.new() == []


def test_the_excerpt_shows_a_row_of_each_stream_and_a_punctuation(tmp_path: Path) -> None:
    for stream, rows in {"auction": ['{"id":0}'], "bid": ['{"auction":0}', '{"_punctuation":"{}"}']}.items():
        (tmp_path / stream).mkdir()
        (tmp_path / stream / "slice-00000.json").write_text("\n".join(rows) + "\n")
    assert [line.split() for line in excerpt(tmp_path / "auction", tmp_path / "bid")] == [
        ["auction", '{"id":0}'],
        ["bid", '{"auction":0}'],
        ["…"],
        ["bid", '{"_punctuation":"{}"}'],
    ]
