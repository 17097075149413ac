"""The wire format of SQL.md, and every way of getting it wrong."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from caesura.punctuation import EVERYTHING, Constant, Empty, Listed, Pattern, Punctuation, Range, Wildcard
from caesura.punctuation_json import Unreadable, read, write
from caesura.types import Type

COLUMNS = {
    "auction": Type("BIGINT"),
    "bidder": Type("INT"),
    "tiny": Type("TINYINT"),
    "price": Type("DECIMAL(10, 2)"),
    "whole": Type("DECIMAL"),
    "weight": Type("DOUBLE"),
    "single": Type("FLOAT"),
    "url": Type("STRING"),
    "code": Type("VARCHAR(10)"),
    "open": Type("BOOLEAN"),
    "day": Type("DATE"),
    "at": Type("TIMESTAMP"),
    "local": Type("TIMESTAMP_NTZ"),
    "tags": Type("ARRAY<INT>"),
}
NOON = datetime(2024, 2, 29, 12, 0, tzinfo=UTC)


def test_the_empty_object_says_that_the_stream_has_ended() -> None:
    assert read("{}", COLUMNS) == EVERYTHING


def test_columns_are_wildcards_unless_named() -> None:
    both = read('{"bidder": 7, "auction": 1001}', COLUMNS)
    assert both == Punctuation.of({"auction": Constant(1001), "bidder": Constant(7)})


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ('{"auction": 1001}', Constant(1001)),
        ('{"auction": [1001, 2004]}', Listed(frozenset({1001, 2004}))),
        ('{"auction": [1001]}', Constant(1001)),
        ('{"auction": []}', Empty()),
        ('{"auction": {"ge": 17, "lt": 20}}', Range(17, 20, high_open=True)),
        ('{"auction": {"gt": 17}}', Range(low=17, low_open=True)),
        ('{"auction": {"le": 20}}', Range(high=20)),
        ('{"auction": {"ge": 20, "le": 20}}', Constant(20)),
        ('{"auction": {"ge": 20, "lt": 17}}', Empty()),
        ('{"tiny": -128}', Constant(-128)),
        ('{"price": 1.50}', Constant(Decimal("1.5"))),
        ('{"price": 2e3}', Constant(Decimal(2000))),
        ('{"price": 1.5000}', Constant(Decimal("1.5"))),
        ('{"weight": 1}', Constant(1.0)),
        ('{"weight": 0.1}', Constant(0.1)),
        ('{"single": 0.1}', Constant(0.10000000149011612)),
        ('{"url": "é\\n"}', Constant("é\n")),
        ('{"code": "17"}', Constant("17")),
        ('{"open": true}', Constant(True)),
        ('{"day": "2024-02-29"}', Constant(date(2024, 2, 29))),
        ('{"at": "2024-02-29T12:00"}', Constant(NOON)),
        ('{"at": "2024-02-29 12:00:00.000000Z"}', Constant(NOON)),
        ('{"at": "2024-02-29T14:00:00+02:00"}', Constant(NOON)),
        ('{"at": "2024-02-29T12:00:00.5"}', Constant(NOON.replace(microsecond=500_000))),
        ('{"local": "2024-02-29T12:00"}', Constant(datetime(2024, 2, 29, 12, 0))),
    ],
)
def test_each_pattern_is_read(text: str, pattern: Pattern) -> None:
    ((_, read_pattern),) = read(text, COLUMNS).patterns
    assert read_pattern == pattern


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("{} {}", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"weight": NaN}', "not JSON: NaN"),
        ('{"weight": -Infinity}', "not JSON: -Infinity"),
        ('{"weight": 1e9999999999999999999999}', "not JSON"),
        ("1001", "not an object"),
        ("[]", "not an object"),
        ("null", "not an object"),
        ('{"auction": 1, "auction": 2}', "duplicate key `auction`"),
        ('{"auction": {"ge": 1, "ge": 2}}', "duplicate key `ge`"),
        ('{"seller": 1}', "unknown column `seller`"),
        ('{"Auction": 1}', "unknown column `Auction`"),
        ('{"auction": null}', "`auction` is null: to match every value leave it out"),
        ('{"auction": [1, null]}', "`auction` is null: to match every value leave it out"),
        ('{"auction": {"ge": null}}', "`auction` is null: to match every value leave it out"),
        ('{"auction": "1001"}', "wrong type for `auction`, which is BIGINT"),
        ('{"auction": 1.0}', "wrong type for `auction`, which is BIGINT"),
        ('{"auction": 1e3}', "wrong type for `auction`, which is BIGINT"),
        ('{"auction": true}', "wrong type for `auction`, which is BIGINT"),
        ('{"auction": [[1]]}', "wrong type for `auction`, which is BIGINT"),
        ('{"auction": [{"ge": 1}]}', "wrong type for `auction`, which is BIGINT"),
        ('{"open": 1}', "wrong type for `open`, which is BOOLEAN"),
        ('{"url": 1}', "wrong type for `url`, which is STRING"),
        ('{"price": "1.50"}', "wrong type for `price`, which is DECIMAL(10, 2)"),
        ('{"weight": true}', "wrong type for `weight`, which is DOUBLE"),
        ('{"at": 1709208000}', "wrong type for `at`, which is TIMESTAMP"),
        ('{"auction": 9223372036854775808}', "out of range for `auction`, which is BIGINT"),
        ('{"tiny": 128}', "out of range for `tiny`, which is TINYINT"),
        ('{"price": 1.005}', "out of range for `price`, which is DECIMAL(10, 2)"),
        ('{"price": 123456789}', "out of range for `price`, which is DECIMAL(10, 2)"),
        ('{"price": 1e999999999}', "out of range for `price`, which is DECIMAL(10, 2)"),
        ('{"whole": 1.5}', "out of range for `whole`, which is DECIMAL"),
        ('{"weight": 1e400}', "out of range for `weight`, which is DOUBLE"),
        ('{"single": 1e39}', "out of range for `single`, which is FLOAT"),
        ('{"day": "20240229"}', "wrong form for `day`, which is DATE"),
        ('{"day": "2024-02-29T00:00"}', "wrong form for `day`, which is DATE"),
        ('{"day": "2023-02-29"}', "out of range for `day`, which is DATE"),
        ('{"at": "2024-02-29"}', "wrong form for `at`, which is TIMESTAMP"),
        ('{"at": "2024-02-29T12"}', "wrong form for `at`, which is TIMESTAMP"),
        ('{"at": "2024-02-29T12:00 UTC"}', "wrong form for `at`, which is TIMESTAMP"),
        ('{"at": "2024-02-29T24:01"}', "out of range for `at`, which is TIMESTAMP"),
        ('{"at": "0001-01-01T00:00+01:00"}', "out of range for `at`, which is TIMESTAMP"),
        ('{"local": "2024-02-29T12:00Z"}', "wrong form for `local`, which is TIMESTAMP_NTZ"),
        ('{"url": "\\ud800"}', "`url` has half a surrogate pair"),
        ('{"tags": [1]}', "`tags` has no patterns: it is ARRAY<INT>"),
        ('{"auction": {}}', "the range of `auction` has no end"),
        ('{"auction": {"above": 1}}', "the range of `auction` has `above`, not one of gt, ge, lt, le"),
        ('{"auction": {"gt": 1, "ge": 1}}', "the range of `auction` has both gt and ge"),
        ('{"auction": {"lt": 1, "le": 1}}', "the range of `auction` has both lt and le"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as refusal:
        read(text, COLUMNS)
    assert str(refusal.value) == reason


def test_a_punctuation_is_written_in_one_way() -> None:
    p = Punctuation.of(
        {
            "price": Range(low=Decimal("1.50"), low_open=True),
            "at": Range(high=NOON),
            "auction": Listed(frozenset({2004, 1001})),
            "tiny": Empty(),
            "url": Constant('"'),
        }
    )
    assert write(p) == (
        '{"at": {"le": "2024-02-29T12:00:00Z"}, "auction": [1001, 2004], "price": {"gt": 1.50}, '
        '"tiny": [], "url": "\\""}'
    )
    assert read(write(p), COLUMNS) == p
    assert write(EVERYTHING) == "{}"


@pytest.mark.parametrize("pattern", [Range(), Constant(float("nan")), Constant(Decimal("Infinity"))])
def test_what_json_cannot_say_is_not_written(pattern: Pattern) -> None:
    assert not isinstance(pattern, Wildcard)
    with pytest.raises(ValueError, match=r"JSON"):
        write(Punctuation.of({"weight": pattern}))
