"""The grammar that is added to Spark SQL, and the places of what is read."""

from __future__ import annotations

import pytest
from sqlglot import exp

from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.sql import syntax
from caesura.sql.parse import parse
from caesura.sql.spans import extent


def one(text: str) -> exp.Expression:
    (statement,) = parse(Source("test.sql", text))
    return statement.tree


def text_of(node: exp.Expr, text: str) -> str:
    found = extent(node)
    assert found is not None
    return text[slice(*found)]


def refused(text: str) -> tuple[Code, str, str]:
    """Code, marked text and note of the only diagnostic."""
    with pytest.raises(CaesuraError) as error:
        parse(Source("test.sql", text))
    (diagnostic,) = error.value.diagnostics
    (label,) = diagnostic.labels
    return Code(diagnostic.code), label.span.text, label.text


CONSTRAINTS = {
    "PUNCTUATED BY (a, b)": syntax.PunctuatedByConstraint,
    "UNIQUE (a)": syntax.UniqueConstraint,
    "ORDERED BY (a WITHIN INTERVAL 5 SECONDS)": syntax.OrderedByConstraint,
    "CLUSTERED BY (a)": syntax.ClusteredByConstraint,
    "CLOSED BY (a) WHEN b > 3 AND a IS NOT NULL": syntax.ClosedByConstraint,
    "COMPLETE BY (a) PER (b) IN parts": syntax.CompleteByConstraint,
    "CHECK (a BETWEEN 1 AND 2)": syntax.DomainConstraint,
}


@pytest.mark.parametrize("line", CONSTRAINTS)
def test_each_constraint_is_read_with_its_place(line: str) -> None:
    text = f"CREATE STREAM s (a INT, {line}, b INT) USING json"
    (constraint,) = one(text).args["constraints"]
    assert type(constraint) is CONSTRAINTS[line]
    assert text_of(constraint, text) == line


@pytest.mark.parametrize("line", [line for line in CONSTRAINTS if not line.startswith("CHECK")])
def test_each_promise_may_have_a_lifespan(line: str) -> None:
    text = f"CREATE STREAM s (a INT, {line} LIFESPAN INTERVAL 4 HOURS) USING json"
    (constraint,) = one(text).args["constraints"]
    assert text_of(constraint.args["lifespan"], text) == "INTERVAL 4 HOURS"


def test_a_domain_has_no_lifespan() -> None:
    text = "CREATE STREAM s (a INT, CHECK (a > 1) LIFESPAN INTERVAL 4 HOURS) USING json"
    assert refused(text) == (Code.SYNTAX, "LIFESPAN", "expected `,` or `)`")


@pytest.mark.parametrize("name", ["at", "date", "value", "timestamp", "unique", "check", "ordered", "`order`"])
def test_a_column_may_be_called_like_a_keyword(name: str) -> None:
    (column,) = one(f"CREATE STREAM s ({name} INT) USING json").args["columns"]
    assert column.name == name.strip("`")


def test_options_keep_their_text() -> None:
    tree = one("CREATE SINK s USING a.b.C LOCATION 'x y' OPTIONS (k.l 1, 'm n' = 'o', p true, q -2.5)")
    assert (tree.args["using"].name, tree.args["location"].name) == ("a.b.C", "x y")
    pairs = [(pair.name, pair.text("value")) for pair in tree.args["options"]]
    assert pairs == [("k.l", "1"), ("m n", "o"), ("p", "true"), ("q", "-2.5")]


def test_a_window_stands_between_the_name_and_the_alias() -> None:
    text = "SELECT * FROM a [RANGE INTERVAL 12 HOURS] AS x JOIN b ON TRUE"
    table = one(text).args["from_"].this
    assert isinstance(table, syntax.WindowedTable)
    assert (table.name, table.alias) == ("a", "x")
    assert text_of(table, text) == "a [RANGE INTERVAL 12 HOURS] AS x"


def test_other_windows_are_refused() -> None:
    found = refused("SELECT * FROM a [ROWS 5]")
    assert found == (Code.SYNTAX, "ROWS", "expected RANGE and an interval, such as [RANGE INTERVAL 12 HOURS]")


@pytest.mark.parametrize("before", ["FROM a", "FROM a AS b", "FROM a GROUP BY x", "FROM a HAVING x > 1"])
def test_emit_changes_ends_a_select(before: str) -> None:
    select = one(f"SELECT x {before} EMIT CHANGES")
    assert isinstance(select.args["emit"], syntax.EmitChanges)


@pytest.mark.parametrize(
    "part",
    [
        "a.id + 1",
        "NOT a.x",
        "MAX(b.price)",
        "COUNT(*)",
        "CASE WHEN a THEN NULL ELSE TRUE END",
        "CAST(x AS DECIMAL(10, 2))",
        "(a + 1) * 2",
        "x BETWEEN 1 AND NULL",
        "INTERVAL '1' DAY",
        "DATE '2026-01-01'",
        "x IN (1, 2)",
        "s LIKE 'a%'",
        "'it''s'",
    ],
)
def test_an_expression_knows_its_place(part: str) -> None:
    text = f"SELECT 1, {part} AS named FROM t"
    assert text_of(one(text).expressions[1].this, text) == part


def test_conjuncts_know_their_places() -> None:
    text = "SELECT 1 FROM t WHERE a = 1 AND b > 2 AND c IS NULL"
    tree = one(text).args["where"].this
    assert text_of(tree.right, text) == "c IS NULL"
    assert text_of(tree.left, text) == "a = 1 AND b > 2"


@pytest.mark.parametrize(
    ("text", "marked", "note"),
    [
        ("SELECT a FROM", "", "expected table name"),
        ("SELECT a, FROM b", "FROM", "something is missing after the comma"),
        ("SELECT (a FROM b", "FROM", "expected `)`"),
        ("SELECT a b c FROM d", "c", "this was not expected here"),
        ("SELECT a FROM b WHERE", "", "something is missing here"),
        ("CREATE STREAM s (a INT b) USING json", "b", "expected `,` or `)`"),
        ("CREATE STREAM s (UNIQUE (a.b)) USING json", ".", "expected `,` or `)`"),
        ("CREATE STREAM IF NOT EXISTS s (a INT) USING json", "EXISTS", None),
        ("CREATE STREAM s (a INT, PRIMARY KEY (a)) USING json", "PRIMARY KEY", None),
        ("CREATE STREAM s (a INT) USING json USING csv", "USING", "USING is given twice"),
        ("CREATE STREAM s (a INT, UNIQUE (a) LIFESPAN 3) USING json", "3", None),
        ("CREATE STREAM s (a INT) ON VIOLATION STOP USING json", "STOP", "expected QUARANTINE or FAIL"),
        (
            "CREATE STREAM s (a INT) ON VIOLATION FAIL USING json ON VIOLATION FAIL",
            "ON",
            "ON VIOLATION is given twice",
        ),
        ("CREATE SINK s USING json OPTIONS (a b)", "b", None),
        ("CREATE STREAM s AS 3", "3", "expected SELECT"),
    ],
)
def test_a_syntax_error_has_an_exact_place(text: str, marked: str, note: str | None) -> None:
    code, found, said = refused(text)
    assert (code, found) == (Code.SYNTAX, marked)
    assert note in (None, said)


def test_an_open_quote_is_marked_where_it_opens() -> None:
    code, marked, _ = refused("SELECT 1;\nSELECT 'open")
    assert (code, marked) == (Code.BAD_TOKEN, "'")


def test_every_statement_that_cannot_be_read_is_reported() -> None:
    with pytest.raises(CaesuraError) as error:
        parse(Source("test.sql", "SELECT (; SELECT a FROM b; SELECT a,"))
    assert len(error.value.diagnostics) == 2


def test_empty_statements_are_no_statements() -> None:
    assert parse(Source("test.sql", ";; -- nothing\n ; /* at all */ ;")) == ()
