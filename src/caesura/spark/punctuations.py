"""Reading in-band punctuations on the executors, as Spark SQL expressions.

The meaning is `caesura.punctuation_json`; this is the same reading without Python on an executor. The JSON text
becomes a VARIANT, which keeps the difference between 7 and "7". Each column's pattern becomes either `listed`
(constants, one or many) or `within` (an interval); a punctuation that cannot be read gets a `reason`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from caesura.operators.closed import Attributes, Closed, interval_type
from caesura.operators.frames import quote
from caesura.types import Type

EVERYTHING, BOX, UNREADABLE = "everything", "box", "unreadable"
_DATE, _TIME = r"^\\d{4}-\\d{2}-\\d{2}", r"[T ]\\d{2}:"
_ENDS = "array('ge', 'gt', 'le', 'lt')"
_JSON, _PATTERNS = "`the json`", "`the patterns`"


@dataclass(frozen=True)
class Reader:
    """`keys`: the attribute sets whose constants become points (see `operators.closed`)."""

    types: Mapping[str, Type]
    keys: tuple[Attributes, ...]

    def parse(self, texts: DataFrame, text: str) -> DataFrame:
        """One row per punctuation: `text`, `reason`, `kind`, and per column `listed` and `within`."""
        patterns = [f"{_pattern(name, type)} AS {quote(name)}" for name, type in self._readable()]
        # Within brackets, so that text after the object is an error to the parser, which would skip it otherwise.
        whole = f"try_cast(try_parse_json(concat('[', {quote(text)}, ']')) AS ARRAY<VARIANT>)"
        return (
            texts.selectExpr(f"{quote(text)} AS text", f"IF(size({whole}) = 1, {whole}[0], NULL) AS {_JSON}")
            .selectExpr("text", _JSON, f"try_cast({_JSON} AS MAP<STRING, VARIANT>) AS {_PATTERNS}")
            .selectExpr("text", _JSON, _PATTERNS, *patterns)
            .selectExpr("text", f"{self._reason()} AS reason", *(quote(name) for name, _ in self._readable()))
            .selectExpr("*", f"{self._kind()} AS kind")
        )

    def closed(self, parsed: DataFrame, kinds: frozenset[str]) -> Closed:
        """The punctuations as tables; `kinds` are those that occur, so that the others cost nothing."""
        points = {
            attributes: self._points(parsed, attributes) for attributes in self.keys if _key(attributes) in kinds
        }
        boxes = self._boxes(parsed) if BOX in kinds else None
        return Closed(points, boxes, everything=EVERYTHING in kinds)

    def _readable(self) -> Iterator[tuple[str, Type]]:
        return ((name, type) for name, type in self.types.items() if type.scalar)

    def _reason(self) -> str:
        names = ", ".join(map(_text, self.types))
        unknown = f"filter(map_keys({_PATTERNS}), name -> name NOT IN ({names}))"
        cases = [
            f"WHEN {_JSON} IS NULL THEN 'it is not JSON'",
            f"WHEN {_PATTERNS} IS NULL THEN 'it is not a JSON object'",
            f"WHEN size({unknown}) > 0 THEN concat('there is no column `', {unknown}[0], '`')",
        ]
        for name, type in self.types.items():
            present = f"map_contains_key({_PATTERNS}, {_text(name)})"
            wrong = f"{quote(name)} IS NULL" if type.scalar else "true"
            cases.append(f"WHEN {present} AND {wrong} THEN {_text(f'`{name}` has no such pattern: {type}')}")
        return f"CASE {' '.join(cases)} END"

    def _kind(self) -> str:
        names = [name for name, _ in self._readable()]
        restricted = ", ".join(f"IF({quote(name)} IS NULL, NULL, {_text(name)})" for name in names) or "NULL"
        constant = " AND ".join(f"{quote(name)}.within IS NULL" for name in names) or "true"
        key = f"concat_ws(', ', {restricted})"
        keys = ", ".join(_text(_key(attributes)) for attributes in self.keys) or "NULL"
        return (
            f"CASE WHEN reason IS NOT NULL THEN '{UNREADABLE}' WHEN {key} = '' THEN '{EVERYTHING}' "
            f"WHEN {constant} AND {key} IN ({keys}) THEN {key} ELSE '{BOX}' END"
        )

    def _points(self, parsed: DataFrame, attributes: Attributes) -> DataFrame:
        found = parsed.where(f"kind = {_text(_key(attributes))}")
        for name in attributes:
            found = found.withColumn(name, expr(f"explode({quote(name)}.listed)"))
        return found.select([quote(name) for name in attributes])

    def _boxes(self, parsed: DataFrame) -> DataFrame:
        found = parsed.where(f"kind = '{BOX}'")
        for name, _ in self._readable():
            one = "named_struct('low', value, 'high', value, 'low_open', false, 'high_open', false)"
            column = quote(name)
            intervals = f"coalesce(transform({column}.listed, value -> {one}), array({column}.within))"
            found = found.withColumn(name, expr(f"explode(IF({column} IS NULL, array(NULL), {intervals}))"))
        return found.select([quote(name) for name, _ in self._readable()])


def _key(attributes: Attributes) -> str:
    return ", ".join(attributes)


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _let(name: str, value: str, body: str) -> str:
    """`body` with `name` for `value`. A higher-order function is interpreted, which suits punctuations: they are
    few, and compiling this as Java takes longer than reading them (or fails: a method has at most 64 KB)."""
    return f"transform(array({value}), {name} -> {body})[0]"


def _pattern(name: str, type: Type) -> str:
    """struct(listed, within) of a column; NULL if it has no pattern, or one that cannot be read."""
    kind = "schema_of_variant(given)"
    items = (
        f"CASE WHEN {kind} LIKE 'ARRAY<%' THEN try_cast(given AS ARRAY<VARIANT>) "
        f"WHEN {kind} LIKE 'OBJECT<%' "
        f"THEN transform({_ENDS}, end -> try_cast(given AS MAP<STRING, VARIANT>)[end]) "
        "ELSE array(given) END"
    )
    values = f"transform({items}, item -> {_value('item', type)})"
    pattern = (
        f"CASE WHEN given IS NULL THEN NULL WHEN {kind} LIKE 'OBJECT<%' THEN {_within(type)} "
        f"WHEN NOT exists(values, value -> value IS NULL) THEN {_struct('values', 'NULL', type)} END"
    )
    return _let("given", f"{_PATTERNS}[{_text(name)}]", _let("values", values, pattern))


def _within(type: Type) -> str:
    """The pattern of a range; `values` are in the order of `_ENDS`, NULL where an end is missing or unreadable."""
    ends = "map_keys(try_cast(given AS MAP<STRING, VARIANT>))"
    known = "size(filter(values, value -> value IS NOT NULL))"
    once = "(values[0] IS NULL OR values[1] IS NULL) AND (values[2] IS NULL OR values[3] IS NULL)"
    interval = (
        "named_struct('low', coalesce(values[0], values[1]), 'high', coalesce(values[2], values[3]), "
        "'low_open', values[1] IS NOT NULL, 'high_open', values[3] IS NOT NULL)"
    )
    return f"IF({known} > 0 AND {known} = size({ends}) AND {once}, {_struct('NULL', interval, type)}, NULL)"


def _struct(listed: str, within: str, type: Type) -> str:
    return (
        f"named_struct('listed', CAST({listed} AS ARRAY<{type}>), "
        f"'within', CAST({within} AS {interval_type(type.sql)}))"
    )


def _value(item: str, type: Type) -> str:
    """A variant as a value of the type, NULL unless it is written as one: the number 7 is not the text "7"."""
    kind = f"schema_of_variant({item})"
    if type.integral:
        return f"IF({kind} = 'BIGINT', try_cast({item} AS {type}), NULL)"
    if type.kind == "DECIMAL":  # a bound that had to be rounded would say something else
        exact = f"try_cast({item} AS {type}) = try_cast({item} AS DECIMAL(38, 18))"
        return f"IF({kind} RLIKE '^(BIGINT|DECIMAL)' AND {exact}, try_cast({item} AS {type}), NULL)"
    if type.numeric:
        return f"IF({kind} RLIKE '^(BIGINT|DECIMAL|DOUBLE|FLOAT)', try_cast({item} AS {type}), NULL)"
    if type.boolean:
        return f"IF({kind} = 'BOOLEAN', try_cast({item} AS {type}), NULL)"
    text = f"IF({kind} = 'STRING', try_cast({item} AS STRING), NULL)"
    if type.temporal:
        form = _DATE + ("$" if type.sql == "DATE" else _TIME)
        return f"IF({text} RLIKE '{form}', try_cast({text} AS {type}), NULL)"
    return f"try_cast({text} AS {type})"
