"""VALUES beside streams, each under a name that something else has too."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.diagnostics import CaesuraError
from caesura.diagnostics.code import Code
from caesura.testing.script import Script


def test_rows_of_constants_join_streams_and_stand_alone(spark: SparkSession, tmp_path: Path) -> None:
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM bid (auction BIGINT, price DOUBLE, PUNCTUATED BY (auction)) FROM FILES bid;
        CREATE SINK named USING parquet LOCATION 'named';
        CREATE SINK best USING parquet LOCATION 'best';
        CREATE SINK alone USING parquet LOCATION 'alone';
        INSERT INTO named SELECT b.auction, bid.name, bid.factor
        FROM bid AS b
        JOIN VALUES (1, 'one', NULL), (1, 'it''s', 1.5), (20000000000, NULL, 22) AS bid (id, name, factor)
        ON b.auction = bid.id;
        INSERT INTO best WITH chosen AS (VALUES (2), (1 + 2) AS bid)
        SELECT auction, MAX(price) AS price FROM bid JOIN chosen ON auction = col1 GROUP BY auction;
        INSERT INTO alone VALUES (DATE '2026-01-01', 1), (NULL, 2.5);
        """,
    )
    script.slice(bid=[{"auction": 1, "price": 5.0}, {"auction": 2, "price": 6.0}])
    script.slice(bid=[{"auction": 20000000000, "price": 5.0}, {"auction": 2, "price": 7.0}, '{"auction": 2}'])
    script.run()
    assert script.rows("named") == [
        {"auction": 1, "name": "it's", "factor": Decimal("1.5")},
        {"auction": 1, "name": "one", "factor": None},
        {"auction": 20000000000, "name": None, "factor": Decimal("22.0")},
    ]
    assert script.rows("best") == [{"auction": 2, "price": 7.0}]
    assert [row["col2"] for row in script.rows("alone")] == [Decimal("2.5"), Decimal("1.0")]


def test_a_constant_that_has_no_value_is_refused_before_the_first_slice(
    spark: SparkSession, tmp_path: Path
) -> None:
    script = Script(
        spark,
        tmp_path,
        """
        CREATE STREAM bid (auction BIGINT) FROM FILES bid;
        SELECT auction FROM bid JOIN VALUES (CAST('x' AS INT)) AS t (id) ON auction = id;
        """,
    )
    with pytest.raises(CaesuraError) as error:
        script.run()
    assert [diagnostic.code for diagnostic in error.value.diagnostics] == [Code.SOURCE]
