"""State files: tables share columns by type, and get their own back."""

from __future__ import annotations

from caesura.catalog import Column
from caesura.operators.intervals import interval_type
from caesura.operators.operator import StateTable
from caesura.operators.rows import local
from caesura.spark.layout import own_layout, shared_layout
from caesura.types import BIGINT, STRING, Type

ROWS = StateTable("rows", (Column("a.key", BIGINT), Column("a.name", STRING), Column("a.n", BIGINT)))


def closed(type: Type) -> StateTable:
    return StateTable("closed", (Column("key", Type(interval_type(type.sql))),), "punctuations", ("key", type))


def test_columns_are_shared_by_type() -> None:
    layout = shared_layout(ROWS)
    assert layout.schema == "`bigint 0` BIGINT, `string 0` STRING, `bigint 1` BIGINT"
    assert layout.read == {"a.key": "`bigint 0`", "a.name": "`string 0`", "a.n": "`bigint 1`"}


def test_types_that_differ_in_case_share_no_column() -> None:
    """A table with both would have one of them twice."""
    small, large = (Column(name, Type(f"STRUCT<{name}: INT>")) for name in "aA")
    layout = shared_layout(StateTable("rows", (small, large)))
    assert layout.read == {"a": "`struct<a: int> 0`", "A": "`struct<a: int> 1`"}


def test_an_interval_of_whole_numbers_is_two_ends() -> None:
    layout = shared_layout(closed(BIGINT))
    assert layout.schema == "`bigint 0` BIGINT, `bigint 1` BIGINT"
    assert layout.written == {"key": {"bigint 0": "`key`.low", "bigint 1": "`key`.high"}}
    assert "false AS low_open" in layout.read["key"]


def test_an_interval_of_texts_may_be_open() -> None:
    layout = shared_layout(closed(STRING))
    (physical,) = layout.written["key"]
    assert layout.written["key"] == {physical: "`key`"}
    assert layout.read["key"] == f"`{physical}`"


def test_rows_may_lack_columns_and_a_table_may_have_none() -> None:
    some = local(("a.n",), [("1L",)])
    assert shared_layout(ROWS).as_written(some, {"table": "'7'"}).columns == ("table", "bigint 1")
    none = shared_layout(StateTable("one group", ()))
    assert none.schema == "row STRING"
    assert none.as_written(some.only([]), {"table": "'8'"}).columns == ("table", "row")


def test_others_may_read_a_table_with_its_own_columns() -> None:
    assert own_layout(ROWS).schema == "`a.key` BIGINT, `a.name` STRING, `a.n` BIGINT"
