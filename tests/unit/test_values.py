"""VALUES as a relation."""

from __future__ import annotations

import pytest

from caesura.catalog import Values
from caesura.diagnostics.code import Code
from caesura.plan import Scan, endless, walk
from tests.unit.test_bind import codes, plan


def test_values_are_a_static_relation() -> None:
    top = plan(
        "SELECT t.*, id FROM auction JOIN VALUES (1, 'x', NULL), (3000000000, NULL, 1.5) AS t (a, b, c) ON id = a"
    )
    values = next(node for node in walk(top) if isinstance(node, Scan) and isinstance(node.relation, Values))
    assert [(c.name, str(c.type)) for c in values.columns] == [
        ("t.a", "BIGINT"),
        ("t.b", "STRING"),
        ("t.c", "DECIMAL(2, 1)"),
    ]
    assert not endless(values)
    assert endless(top)
    assert [column.name for column in plan("VALUES (1, 2)").columns] == ["col1", "col2"]
    assert not endless(plan("VALUES (1, 2), (3, 4) UNION ALL SELECT * FROM (VALUES (5, 6)) AS t (a, b)"))
    assert plan("VALUES (1), (2)") != plan("VALUES (1), (3)")


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("(1, 2), (3)", Code.ALIAS_COUNT),
        ("(1), ()", Code.ALIAS_COUNT),
        ("(1, 2) AS t (a)", Code.ALIAS_COUNT),
        ("(1, 2) AS t (a, A)", Code.DUPLICATE_OUTPUT),
        ("(1), ('x')", Code.INCOMPARABLE),
        ("(id)", Code.EXPRESSION),
        ("((1, 2))", Code.EXPRESSION),
        ("(MAX(1))", Code.MISPLACED_AGGREGATE),
        ("(rand())", Code.NOT_DETERMINISTIC),
        ("((SELECT 1))", Code.SUBQUERY),
        ("(1) TABLESAMPLE (10 ROWS)", Code.CLAUSE),
    ],
)
def test_values_that_are_no_relation_are_refused(written: str, code: Code) -> None:
    assert codes(f"SELECT * FROM auction, VALUES {written}") == [code]
