"""What the goldens of `tests/golden/bind` do not show: values, equality, names given from Python, speed."""

from __future__ import annotations

import time

import pytest

from caesura.catalog import Catalog, Column, Origin, Sink, Stream, Table
from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.plan import Aggregate, Equality, Filter, Group, Join, Pipeline, Plan, Project, Scan, endless, walk
from caesura.sql.bind import bind
from caesura.types import BIGINT, STRING

AUCTION = Stream("auction", (Column("id", BIGINT), Column("seller", BIGINT)))
BID = Stream("bid", (Column("auction", BIGINT), Column("price", BIGINT)))
NAMES = Table("names", (Column("id", BIGINT), Column("name", STRING)))
CATALOG = Catalog((AUCTION, BID, NAMES))
OUT = Sink("out", Origin("parquet"))


def bound(text: str) -> Pipeline:
    return bind(Source("test.sql", text), CATALOG, (OUT,))


def plan(text: str) -> Plan:
    (query,) = bound(text).queries
    return query.plan


def codes(text: str) -> list[str]:
    with pytest.raises(CaesuraError) as error:
        bound(text)
    return [diagnostic.code for diagnostic in error.value.diagnostics]


def test_the_plan_of_a_join_and_a_group() -> None:
    top = plan("SELECT a.id, COUNT(*) AS n FROM auction AS a JOIN bid AS b ON a.id = b.auction GROUP BY a.id")
    assert isinstance(top, Project)
    assert [(o.name, o.expr.column) for o in top.outputs] == [("id", "a.id"), ("n", "count_1")]
    assert isinstance(top.input, Group)
    assert top.input.keys == ("a.id",)
    assert top.input.aggregates == (Aggregate(Column("count_1", BIGINT), "COUNT"),)
    below = top.input.input
    assert isinstance(below, Project)
    assert below.input == Join((Scan(AUCTION, "a"), Scan(BID, "b")), (Equality("a.id", "b.auction"),))


def test_names_from_python_and_from_the_file_go_together() -> None:
    pipeline = bound("CREATE TABLE t (id BIGINT) USING csv; INSERT INTO OUT SELECT t.id FROM t, auction")
    assert [relation.name for relation in pipeline.catalog.relations] == ["auction", "bid", "names", "t"]
    assert pipeline.queries[0].sink == OUT
    assert codes("CREATE TABLE Auction (id BIGINT) USING csv") == [Code.DUPLICATE_NAME]
    assert codes("CREATE VIEW OUT AS SELECT id FROM auction") == [Code.DUPLICATE_NAME]


def test_a_derived_stream_that_is_read_twice_is_one_node() -> None:
    pipeline = bound(
        """CREATE STREAM big AS SELECT id FROM auction WHERE seller > 1;
        SELECT x.id FROM big AS x JOIN big AS y ON x.id = y.id; SELECT id FROM big"""
    )
    stream, twice, once = (query.plan for query in pipeline.queries)
    assert sum(node == stream for node in walk(twice)) == 1
    assert stream in walk(once)


def test_equal_texts_have_equal_plans() -> None:
    text = "SELECT a.id, MAX(b.price) + 1 AS p FROM auction a, bid b WHERE a.id = auction AND price > 3 GROUP BY 1"
    assert plan(text) == plan(text.replace(" ", "\n ").replace("auction a", "auction AS a"))
    assert plan(text) != plan(text.replace("> 3", "> 4"))


def test_a_query_over_tables_alone_is_static() -> None:
    assert not endless(plan("SELECT name FROM names"))
    assert endless(plan("SELECT name FROM names JOIN auction USING (id)"))


def test_queries_are_named() -> None:
    pipeline = bound(
        """INSERT INTO out SELECT id FROM auction;
        SELECT id FROM auction;
        INSERT INTO out SELECT seller FROM auction;
        CREATE STREAM select_2 AS SELECT id FROM auction;
        CREATE VIEW v AS SELECT id FROM auction;
        SELECT id FROM v"""
    )
    names = [(query.name, query.kind) for query in pipeline.queries]
    assert names == [
        ("out", "insert"),
        ("select_1", "select"),
        ("out_2", "insert"),
        ("select_2", "stream"),
        ("select_2_2", "select"),
    ]


def test_nodes_know_their_place() -> None:
    top = plan("SELECT a.id FROM auction AS a JOIN bid AS b ON a.id = b.auction WHERE b.price > 3")
    texts = {type(node): node.span.text for node in walk(top) if node.span is not None}
    assert texts[Scan] == "bid AS b"
    assert texts[Filter] == "b.price > 3"
    assert texts[Join] == "auction AS a JOIN bid AS b ON a.id = b.auction"
    (join,) = (node for node in walk(top) if isinstance(node, Join))
    assert join.equalities[0].span is not None
    assert join.equalities[0].span.text == "a.id = b.auction"


def test_all_statements_are_checked_and_reported_in_their_order() -> None:
    assert codes("SELECT x FROM auction; SELECT id FROM nowhere; DROP TABLE t; SELECT id FROM auction") == [
        Code.UNKNOWN_COLUMN,
        Code.UNKNOWN_RELATION,
        Code.STATEMENT,
    ]


def test_what_reads_a_refused_declaration_is_not_refused_again() -> None:
    text = "CREATE STREAM s (id FOO) USING json; CREATE VIEW v AS SELECT id FROM s; SELECT s.id FROM s, v"
    assert codes(text) == [Code.UNKNOWN_TYPE]
    assert codes("CREATE SINK w; INSERT INTO w SELECT id FROM auction") == [Code.MISSING_CLAUSE]


def test_a_hundred_queries_are_bound_in_well_under_a_second() -> None:
    query = """SELECT a.id, MAX(b.price) AS price, COUNT(*) AS n
        FROM auction AS a JOIN bid AS b ON a.id = b.auction
        WHERE b.price * 2 > {n} GROUP BY a.id HAVING COUNT(*) > {n};"""
    text = "\n".join(query.replace("{n}", str(n)) for n in range(100))
    begin = time.process_time()
    assert len(bound(text).queries) == 100
    assert time.process_time() - begin < 1.0
