"""What a selection rules out from the start."""

from __future__ import annotations

from itertools import product

import pytest

from caesura.punctuation import Punctuation, set_match
from caesura.punctuation_json import read
from caesura.safety.complement import excluded
from caesura.types import Type
from tests.plans import expr

TYPES = {
    "x": Type("BIGINT"),
    "y": Type("BIGINT"),
    "d": Type("DECIMAL(5, 1)"),
    "f": Type("DOUBLE"),
    "g": Type("FLOAT"),
    "t": Type("STRING"),
    "c": Type("CHAR(3)"),
    "b": Type("BOOLEAN"),
    "day": Type("DATE"),
    "at": Type("TIMESTAMP"),
    "local": Type("TIMESTAMP_NTZ"),
}


def says(*texts: str) -> frozenset[Punctuation]:
    return frozenset(read(text, TYPES) for text in texts)


@pytest.mark.parametrize(
    ("predicate", "never"),
    [
        ("x > 5", ['{"x": {"le": 5}}']),
        ("x >= 5", ['{"x": {"lt": 5}}']),
        ("x < 5", ['{"x": {"ge": 5}}']),
        ("x <= 5", ['{"x": {"gt": 5}}']),
        ("x = 5", ['{"x": {"lt": 5}}', '{"x": {"gt": 5}}']),
        ("x <> 5", ['{"x": 5}']),
        ("5 < x", ['{"x": {"le": 5}}']),
        ("5 >= (x)", ['{"x": {"gt": 5}}']),
        ("x BETWEEN -1 AND 5", ['{"x": {"lt": -1}}', '{"x": {"gt": 5}}']),
        ("x IN (9, 5)", ['{"x": {"lt": 5}}', '{"x": {"gt": 5, "lt": 9}}', '{"x": {"gt": 9}}']),
        ("x NOT IN (9, 5)", ['{"x": 5}', '{"x": 9}']),
        ("x > 5 AND (y < 2 AND x + y = 1)", ['{"x": {"le": 5}}', '{"y": {"ge": 2}}']),
        ("d > -1.5", ['{"d": {"le": -1.5}}']),
        ("f < 1e3", ['{"f": {"ge": 1000.0}}']),
        ("t >= 'a\"b'", [r'{"t": {"lt": "a\"b"}}']),
        ("b = TRUE", ['{"b": {"lt": true}}', '{"b": {"gt": true}}']),
        ("day > DATE '2024-02-29'", ['{"day": {"le": "2024-02-29"}}']),
        ("at > TIMESTAMP '2024-02-29 12:00:00Z'", ['{"at": {"le": "2024-02-29 12:00:00Z"}}']),
        ("local > TIMESTAMP_NTZ '2024-02-29 12:00:00'", ['{"local": {"le": "2024-02-29 12:00:00"}}']),
    ],
)
def test_a_comparison_with_constants_rules_out_the_rest(predicate: str, never: list[str]) -> None:
    assert excluded(expr(predicate), TYPES) == says(*never)


@pytest.mark.parametrize(
    "predicate",
    [
        *("x > y", "x + 1 > 5", "x > 1 + 1", "5 > 3", "x > NULL", "x IN (5, NULL)", "x IN (5, y)"),
        *("x > 5 OR y > 5", "NOT x > 5", "x IS NOT NULL", "b", "t LIKE 'a%'"),
        # Spark converts before it compares, or the value is not one of the column.
        *("x > 5e0", "x > 5.5", "d > 1.25", "d > 1e0", "g > 0.1", "c = 'a'", "x > CAST('5' AS BIGINT)"),
        *("at > TIMESTAMP '2024-02-29 12:00:00'", "at > DATE '2024-02-29'", "day > DATE 'soon'"),
    ],
)
def test_nothing_else_rules_out_anything(predicate: str) -> None:
    assert excluded(expr(predicate), TYPES) == frozenset()


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
def test_what_is_ruled_out_is_exactly_what_does_not_satisfy(operator: str) -> None:
    """For values; a NULL does not satisfy, but is matched by no pattern."""
    python = {"=": "==", "<>": "!="}.get(operator, operator)
    for constant, x in product(range(-1, 3), range(-2, 4)):
        never = excluded(expr(f"x {operator} {constant}"), TYPES)
        assert set_match({"x": x}, never) != eval(f"{x} {python} {constant}")
        assert not set_match({"x": None}, never)
