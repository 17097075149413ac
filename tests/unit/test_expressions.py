"""The Spark SQL that is generated from an expression, and its type. The pairs were compared with Spark 4.3."""

from __future__ import annotations

import pytest

from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.expression import Expr
from caesura.plan import Project
from caesura.sql.bind import bind

TABLE = """CREATE TABLE t (
  i INT, l BIGINT, s STRING, f FLOAT, d DOUBLE, x DECIMAL(10, 2), y DECIMAL(20, 4), b BOOLEAN,
  dt DATE, ts TIMESTAMP
) USING parquet;
"""


def expression(sql: str) -> Expr:
    plan = bind(Source("test.sql", f"{TABLE}SELECT {sql} AS r FROM t")).queries[0].plan
    assert isinstance(plan, Project)
    return plan.outputs[0].expr


TEXTS = {
    "i + 1": "`t.i` + 1",
    "i - (l - 1)": "`t.i` - (`t.l` - 1)",
    "l DIV 2": "`t.l` DIV 2",
    "i / 2": "`t.i` / 2",
    "i % 2": "`t.i` % 2",
    "-i": "-`t.i`",
    "CAST(s AS DATE)": "CAST(`t.s` AS DATE)",
    "TRY_CAST(s AS INT)": "TRY_CAST(`t.s` AS INT)",
    "s::date": "CAST(`t.s` AS DATE)",
    "DATE '2026-01-01'": "CAST('2026-01-01' AS DATE)",
    "ts + INTERVAL 5 SECONDS": "`t.ts` + INTERVAL '5' SECONDS",
    "ts - INTERVAL '1 day 2 hours'": "`t.ts` - INTERVAL '1 day 2 hours'",
    "ts + 2 * INTERVAL 1 HOUR": "`t.ts` + 2 * INTERVAL '1' HOUR",
    "date_trunc('hour', ts)": "DATE_TRUNC('HOUR', `t.ts`)",
    "date_add(dt, 3)": "DATE_ADD(`t.dt`, 3)",
    "datediff(dt, dt)": "DATEDIFF(`t.dt`, `t.dt`)",
    "date_format(ts, 'yyyy-MM-dd')": "DATE_FORMAT(`t.ts`, 'yyyy-MM-dd')",
    "year(dt)": "YEAR(`t.dt`)",
    "extract(HOUR FROM ts)": "EXTRACT(HOUR FROM `t.ts`)",
    "CASE WHEN b THEN 1 ELSE 2 END": "CASE WHEN `t.b` THEN 1 ELSE 2 END",
    "CASE i WHEN 1 THEN 'a' END": "CASE `t.i` WHEN 1 THEN 'a' END",
    "i IN (1, 2)": "`t.i` IN (1, 2)",
    "i NOT IN (1, 2)": "NOT `t.i` IN (1, 2)",
    "s LIKE 'a%'": "`t.s` LIKE 'a%'",
    "s NOT LIKE '!%' ESCAPE '!'": "`t.s` NOT LIKE '!%' ESCAPE '!'",
    "s RLIKE '^a'": "`t.s` RLIKE '^a'",
    "i BETWEEN 1 AND 2": "`t.i` BETWEEN 1 AND 2",
    "i IS NOT NULL": "NOT `t.i` IS NULL",
    "i <=> l": "`t.i` IS NOT DISTINCT FROM `t.l`",
    "b AND (i > 1 OR NOT b)": "`t.b` AND (`t.i` > 1 OR NOT `t.b`)",
    "s || 'x'": "`t.s` || 'x'",
    "'it''s'": r"'it\'s'",
    r"'a\\b'": r"'a\\b'",
    "coalesce(i, 0)": "COALESCE(`t.i`, 0)",
    "if(b, 1, 2)": "IF(`t.b`, 1, 2)",
    "substring(s, 1, 2)": "SUBSTRING(`t.s`, 1, 2)",
}


@pytest.mark.parametrize("written", TEXTS)
def test_the_generated_text(written: str) -> None:
    assert expression(written).sql == TEXTS[written]


PATTERNS = ["y", "yyyy", "yyyyy", "YYYY-MM", "", "%Y", "yyyy-M-d H:m:s", "yyyy-MM-dd HH:mm:ss", "yyyyQQ", "EEEE G"]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    ("function", "argument"),
    [
        ("DATE_FORMAT", "ts"),
        ("FROM_UNIXTIME", "l"),
        ("TO_DATE", "s"),
        ("TO_TIMESTAMP", "s"),
        ("UNIX_TIMESTAMP", "s"),
        ("TO_UNIX_TIMESTAMP", "s"),
    ],
)
def test_a_pattern_is_kept_as_it_is_written(function: str, argument: str, pattern: str) -> None:
    assert expression(f"{function}({argument}, '{pattern}')").sql == f"{function}(`t.{argument}`, '{pattern}')"
    assert expression(f"{function.lower()}({argument}, s)").sql == f"{function}(`t.{argument}`, `t.s`)"


def test_quotes_in_a_pattern_are_kept() -> None:
    assert expression("date_format(ts, \"yyyy'Y'\")").sql == r"DATE_FORMAT(`t.ts`, 'yyyy\'Y\'')"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("to_date(s)", "TO_DATE(`t.s`)"),
        ("to_timestamp(s)", "CAST(`t.s` AS TIMESTAMP)"),
        ("from_unixtime(l)", "FROM_UNIXTIME(`t.l`)"),
        ("unix_timestamp(ts)", "UNIX_TIMESTAMP(`t.ts`)"),
        ("to_unix_timestamp(s)", "UNIX_TIMESTAMP(`t.s`)"),
        ("day(s)", "DAY(`t.s`)"),
    ],
)
def test_what_has_no_pattern_gets_none(written: str, text: str) -> None:
    assert expression(written).sql == text


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("date_format(ts, 'y', 'z')", "`date_format` takes a pattern, and nothing behind it"),
        ("CAST(s AS DATE FORMAT 'YYYY')", "Spark's CAST takes no FORMAT"),
        ("TRY_CAST(s AS TIMESTAMP FORMAT 'YYYY')", "Spark's CAST takes no FORMAT"),
        ("str_to_date(s, '%Y')", "unknown function `str_to_date`"),
        ("time_to_str(ts, '%Y')", "unknown function `time_to_str`"),
    ],
)
def test_a_pattern_that_spark_would_not_read_is_refused(written: str, message: str) -> None:
    with pytest.raises(CaesuraError) as error:
        expression(written)
    assert error.value.diagnostics[0].message == message


TYPES = {
    "i + 1": "INT",
    "date_format(ts, 'y')": "STRING",
    "from_unixtime(l, 'y')": "STRING",
    "from_unixtime(l)": "STRING",
    "to_date(s, 'y')": "DATE",
    "to_timestamp(s, 'y')": "TIMESTAMP",
    "unix_timestamp(s, 'y')": "BIGINT",
    "to_unix_timestamp(s, 'y')": "BIGINT",
    "i + l": "BIGINT",
    "i / 2": "DOUBLE",
    "l DIV 2": "BIGINT",
    "f + i": "DOUBLE",
    "f * f": "FLOAT",
    "f / f": "DOUBLE",
    "x + 1": "DECIMAL(11, 2)",
    "x + i": "DECIMAL(13, 2)",
    "x * y": "DECIMAL(31, 6)",
    "x / y": "DECIMAL(35, 23)",
    "x % y": "DECIMAL(12, 4)",
    "y * y * y": "DECIMAL(38, 6)",
    "x + d": "DOUBLE",
    "1.50": "DECIMAL(3, 2)",
    "0.05": "DECIMAL(2, 2)",
    "1e3": "DOUBLE",
    "2147483648": "BIGINT",
    "-2147483648": "INT",
    "12345678901234567890": "DECIMAL(20, 0)",
    "NULL": "VOID",
    "dt + 1": "DATE",
    "dt - dt": "INTERVAL DAY",
    "ts - ts": "INTERVAL DAY TO SECOND",
    "dt + INTERVAL 1 DAY": "DATE",
    "dt + INTERVAL 1 HOUR": "TIMESTAMP",
    "dt + INTERVAL 1 MONTH": "DATE",
    "INTERVAL 1 HOUR + ts": "TIMESTAMP",
    "CASE WHEN b THEN i ELSE l END": "BIGINT",
    "CASE WHEN b THEN x ELSE y END": "DECIMAL(20, 4)",
    "CASE WHEN b THEN dt ELSE ts END": "TIMESTAMP",
    "COALESCE(NULL, x, 0)": "DECIMAL(12, 2)",
    "round(x, 1)": "DECIMAL(10, 1)",
    "floor(x)": "DECIMAL(9, 0)",
    "floor(d)": "BIGINT",
    "date_trunc('hour', dt)": "TIMESTAMP",
    "trunc(dt, 'MM')": "DATE",
    "datediff(dt, dt)": "INT",
    "length(s)": "INT",
    "split(s, ',')": "ARRAY<STRING>",
    "split(s, ',')[0]": "STRING",
    "timestamp_millis(l)": "TIMESTAMP",
    "SUM(i)": "BIGINT",
    "SUM(f)": "DOUBLE",
    "SUM(x)": "DECIMAL(20, 2)",
    "SUM(CAST(1 AS DECIMAL(38, 2)))": "DECIMAL(38, 2)",
    "AVG(i)": "DOUBLE",
    "AVG(x)": "DECIMAL(14, 6)",
    "AVG(CAST(1 AS DECIMAL(38, 18)))": "DECIMAL(38, 18)",
    "COUNT(*)": "BIGINT",
    "MAX(ts)": "TIMESTAMP",
    "MAX(x) + 1": "DECIMAL(11, 2)",
}


@pytest.mark.parametrize("written", TYPES)
def test_the_type(written: str) -> None:
    assert expression(written).type.sql == TYPES[written]


REFUSED = {
    "i = s": Code.INCOMPARABLE,
    "dt = '2026-01-01'": Code.INCOMPARABLE,
    "i BETWEEN 1 AND 'x'": Code.INCOMPARABLE,
    "s IN ('a', 1)": Code.INCOMPARABLE,
    "b = 1": Code.INCOMPARABLE,
    "CASE WHEN b THEN 1 ELSE 'x' END": Code.INCOMPARABLE,
    "COALESCE(i, s)": Code.INCOMPARABLE,
    "i + s": Code.WRONG_TYPE,
    "dt + dt": Code.WRONG_TYPE,
    "-s": Code.WRONG_TYPE,
    "i LIKE 'x'": Code.WRONG_TYPE,
    "SUM(dt)": Code.WRONG_TYPE,
    "AVG(s)": Code.WRONG_TYPE,
    "i AND b": Code.NOT_BOOLEAN,
    "CASE WHEN i THEN 1 END": Code.NOT_BOOLEAN,
    "frobnicate(i)": Code.UNKNOWN_FUNCTION,
    "uuid()": Code.NOT_DETERMINISTIC,
    "unix_timestamp()": Code.NOT_DETERMINISTIC,
    "(SELECT 1)": Code.SUBQUERY,
    "SUM(i) OVER ()": Code.WINDOW_FUNCTION,
    "explode(array(1))": Code.TABLE_FUNCTION,
    "first(i)": Code.AGGREGATE_FORM,
    "last_value(i)": Code.AGGREGATE_FORM,
    "COUNT()": Code.AGGREGATE_FORM,
    "MAX(i, l)": Code.AGGREGATE_FORM,
    "MAX_BY(i, l, 2)": Code.AGGREGATE_FORM,
    "ANY_VALUE(i, true)": Code.AGGREGATE_FORM,
    "STDDEV(DISTINCT i)": Code.AGGREGATE_FORM,
    "PERCENTILE(i, 0.5, l)": Code.AGGREGATE_FORM,
    "PERCENTILE(i, 1.5)": Code.AGGREGATE_FORM,
    "PERCENTILE(i, d)": Code.AGGREGATE_FORM,
    "PERCENTILE_CONT(0.5)": Code.AGGREGATE_FORM,
    "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY i DESC)": Code.AGGREGATE_FORM,
    "MAX(i) WITHIN GROUP (ORDER BY i)": Code.AGGREGATE_FORM,
    "listagg(s)": Code.AGGREGATE_FORM,
    "SUM(i) FILTER (WHERE l)": Code.NOT_BOOLEAN,
    "SUM(i) FILTER (WHERE MAX(l) > 1)": Code.MISPLACED_AGGREGATE,
    "SUM(MAX(i))": Code.MISPLACED_AGGREGATE,
    "COLLECT_LIST(i) IGNORE NULLS": Code.EXPRESSION,
    "COLLECT_LIST(i ORDER BY l)": Code.EXPRESSION,
    "COUNT(DISTINCT *)": Code.EXPRESSION,
    "BIT_AND(d)": Code.WRONG_TYPE,
    "BOOL_AND(i)": Code.WRONG_TYPE,
    "MEDIAN(dt)": Code.WRONG_TYPE,
    "CORR(d, s)": Code.WRONG_TYPE,
    "MAX(map(i, l))": Code.WRONG_TYPE,
    "s LIKE ANY ('a%', 'b%')": Code.EXPRESSION,
    ":p": Code.EXPRESSION,
}


@pytest.mark.parametrize("written", REFUSED)
def test_refused(written: str) -> None:
    with pytest.raises(CaesuraError) as error:
        expression(written)
    assert [diagnostic.code for diagnostic in error.value.diagnostics] == [REFUSED[written]]
