"""Reading in-band punctuations on the executors, as Spark SQL expressions.

The meaning is `caesura.punctuation_json`; this is the same reading without Python on an executor. The JSON text
becomes a VARIANT, which keeps the difference between 7 and "7", and then a list of entries: a column, whether its
pattern is a range, and its values as texts with their JSON kinds. One expression serves any number of columns:
plans that grow with the schema take longer to compile than the punctuations to read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from caesura.operators.closed import Attributes, Closed
from caesura.operators.intervals import ends_of, one_value
from caesura.operators.rows import Rows, quote, sent, text
from caesura.types import Type

EVERYTHING, BOX, UNREADABLE = "everything", "box", "unreadable"
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = _DATE + "[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?"
_FORMS = {"DATE": _DATE, "TIMESTAMP": _TIME + "(Z|[+-][0-9]{2}:[0-9]{2})?", "TIMESTAMP_NTZ": _TIME}
_ENDS = "array('ge', 'gt', 'le', 'lt')"


@dataclass(frozen=True)
class Reader:
    """`keys`: the attribute sets whose constants become points (see `operators.closed`)."""

    types: Mapping[str, Type]
    keys: tuple[Attributes, ...]

    def plain(self, column: str) -> dict[str, str]:
        """For each attribute that may come so: the value, if a text is the commonest form, a number for this
        attribute and nothing else; otherwise NULL. It needs no JSON parser, and is many times as fast."""
        return {name: _plain(quote(column), name, type) for name, type in self._numbers.items()}

    def bounds(self, column: str) -> dict[str, str]:
        """The same for all that is less than a number, the commonest form of a range."""
        return {name: _bound(quote(column), name, type) for name, type in self._numbers.items()}

    @property
    def _numbers(self) -> dict[str, Type]:
        alone = {key[0]: self.types[key[0]] for key in self.keys if len(key) == 1}
        return {name: type for name, type in alone.items() if type.integral and name.isidentifier()}

    def plain_points(self, texts: Rows, column: str) -> Rows:
        """The values of those that are plain, each in the column of its attribute."""
        plain = self.plain(column)
        some = f"coalesce({', '.join(map(quote, plain)) or 'NULL'}) IS NOT NULL"
        return texts.present([column]).project(plain).where(some)

    def parse(self, texts: Rows, column: str, more: Mapping[str, str] = MappingProxyType({})) -> Rows:
        """One row per punctuation: `text`, `reason` if it cannot be read, `kind`, and its `entries`; and more
        columns."""
        # Within brackets, so that text after the object is an error to the parser, which would skip it otherwise;
        # and within braces, since no text can close both.
        braced = "try_parse_json(concat('{\"\":', text, '}')) IS NOT NULL"
        whole = f"IF({braced}, try_cast(try_parse_json(concat('[', text, ']')) AS ARRAY<VARIANT>), NULL)"
        return (
            texts.project({"text": quote(column), **more})
            .extended({"json": whole})
            .extended({"patterns": "IF(size(json) = 1, try_cast(json[0] AS MAP<STRING, VARIANT>), NULL)"})
            .extended({"entries": f"transform(map_entries(patterns), entry -> {_ENTRY})"})
            .project({"text": "text", "reason": self._reason(), "entries": "entries", **{n: n for n in more}})
            .extended({"kind": self._kind()})
        )

    def closed(self, parsed: Rows, kinds: Mapping[str, int]) -> Closed:
        """The punctuations as tables; `kinds` are those that occur, so that the others cost nothing."""
        points = {
            attributes: self._points(parsed, attributes, kinds[kind_of(attributes)])
            for attributes in self.keys
            if kind_of(attributes) in kinds
        }
        boxes = self._boxes(parsed) if BOX in kinds else None
        return Closed(points, boxes, everything=EVERYTHING in kinds)

    def _reason(self) -> str:
        bad = f"get(filter(entries, entry -> NOT coalesce({self._readable()}, false)), 0).name"
        names = ", ".join(map(text, self.types))
        because = (
            f"CASE WHEN name IN ({names}) THEN concat('`', name, '` has no such pattern') "
            "ELSE concat('there is no column `', name, '`') END"
        )
        return (
            "CASE WHEN json IS NULL OR size(json) <> 1 THEN 'it is not JSON' "
            "WHEN entries IS NULL THEN 'it is not a JSON object' "
            f"ELSE transform(array({bad}), name -> {because})[0] END"
        )

    def _readable(self) -> str:
        """The condition that an entry is a pattern of its column's type."""
        cases = " ".join(
            f"WHEN {text(name)} "
            f"THEN forall(entry.items, item -> item.kind IS NULL OR coalesce({_is_a(type)}, false))"
            for name, type in self.types.items()
            if type.scalar
        )
        typed = f"CASE entry.name {cases} ELSE false END" if cases else "false"
        given = "filter(entry.items, item -> item.kind IS NOT NULL)"
        double = " OR ".join(
            f"(entry.items[{i}].kind IS NOT NULL AND entry.items[{j}].kind IS NOT NULL)"
            for i, j in ((0, 1), (2, 3))
        )
        range = f"entry.ends > 0 AND entry.ends = size({given}) AND NOT ({double})"
        return f"{typed} AND (entry.ends IS NULL OR ({range}))"

    def _kind(self) -> str:
        names = ", ".join(f"struct({text(name)} AS name, {text(quote(name))} AS quoted)" for name in self.types)
        named = f"filter(array({names}), column -> exists(entries, entry -> entry.name = column.name))"
        key = f"array_join(transform({named}, column -> column.quoted), ', ')"
        keys = ", ".join(text(kind_of(attributes)) for attributes in self.keys) or "NULL"
        return (
            f"CASE WHEN reason IS NOT NULL THEN '{UNREADABLE}' WHEN size(entries) = 0 THEN '{EVERYTHING}' "
            f"WHEN forall(entries, entry -> entry.ends IS NULL) AND {key} IN ({keys}) THEN {key} "
            f"ELSE '{BOX}' END"
        )

    def _points(self, parsed: Rows, attributes: Attributes, count: int) -> Rows:
        found = parsed.where(f"kind = {text(kind_of(attributes))}").renamed(_AS_PARSED)
        values = {
            name: f"transform({_entry(name)}.items, item -> {_value(self.types[name])})" for name in attributes
        }
        return sent(found.exploded(values), count)

    def _boxes(self, parsed: Rows) -> Rows:
        found = parsed.where(f"kind = '{BOX}'").renamed(_AS_PARSED)
        return found.exploded({name: _intervals(name, t) for name, t in self.types.items() if t.scalar})


def _plain(json: str, name: str, type: Type) -> str:
    return _number(json, f'{{"{name}":', "}", type)


def _bound(json: str, name: str, type: Type) -> str:
    """Below the least value of a type there is none, and no number of it."""
    value = _number(json, f'{{"{name}": {{"lt":', "}}", type)
    return f"nullif({value}, {ends_of(type)[0]})"


def _number(json: str, start: str, end: str, type: Type) -> str:
    """The number of a text that begins and ends so, and has nothing else."""
    digits = f"trim(substring({json}, {len(start) + 1}, length({json}) - {len(start) + len(end)}))"
    value = f"try_cast({digits} AS {type})"
    # 07, +7 and 7.5 can be cast as well, but are no whole numbers in JSON.
    canonical = f"CAST({value} AS STRING) = {digits}"
    return (
        f"CASE WHEN startswith({json}, {text(start)}) AND endswith({json}, {text(end)}) AND {canonical} "
        f"THEN {value} END"
    )


def kinds(keys: tuple[Attributes, ...]) -> tuple[str, ...]:
    """All kinds that `parse` tells apart."""
    return (*map(kind_of, keys), BOX, EVERYTHING, UNREADABLE)


_VALUES = "transform({}, item -> struct(schema_of_variant(item) AS kind, try_cast(item AS STRING) AS text))"
_RANGE = "try_cast(entry.value AS MAP<STRING, VARIANT>)"
_ENTRY = (
    # A range has its number of ends, and its values in the order of _ENDS, NULL where an end is missing.
    "CASE WHEN schema_of_variant(entry.value) LIKE 'OBJECT<%' THEN "
    f"struct(entry.key AS name, size({_RANGE}) AS ends, "
    f"{_VALUES.format(f'transform({_ENDS}, end -> {_RANGE}[end])')} AS items) "
    "ELSE struct(entry.key AS name, CAST(NULL AS INT) AS ends, "
    f"{_VALUES.format('coalesce(try_cast(entry.value AS ARRAY<VARIANT>), array(entry.value))')} AS items) END"
)


def kind_of(attributes: Attributes) -> str:
    """The kind of punctuations that have constants on these; quoted, so that it is like no other kind."""
    return ", ".join(map(quote, attributes))


_AS_PARSED = {"entries": "parsed entries"}
"""Under a name that no column of a stream is likely to have: its columns are added beside it."""


def _entry(name: str) -> str:
    return f"get(filter(`parsed entries`, entry -> entry.name = {text(name)}), 0)"


def _intervals(name: str, type: Type) -> str:
    """A column's pattern as intervals: one NULL for the wildcard, one for a range, one for each constant."""
    values = f"transform(entry.items, item -> {_value(type)})"
    range = (
        "struct(coalesce(value[0], value[1]) AS low, coalesce(value[2], value[3]) AS high, "
        "value[1] IS NOT NULL AS low_open, value[3] IS NOT NULL AS high_open)"
    )
    return (
        f"transform(array({_entry(name)}), entry -> CASE WHEN entry IS NULL THEN array(NULL) "
        f"WHEN entry.ends IS NULL THEN transform({values}, value -> {one_value('value')}) "
        f"ELSE transform(array({values}), value -> {range}) END)[0]"
    )


def _value(type: Type) -> str:
    """`item` as a value of the type; NULL if it is none."""
    if type.kind == "TIMESTAMP":  # Spark knows no zone after minutes
        return "try_cast(regexp_replace(item.text, '^(.{16})(Z|[+-].*)$', '$1:00$2') AS TIMESTAMP)"
    return f"try_cast(item.text AS {type})"


def _is_a(type: Type) -> str:
    """The condition that `item` is written as a value of the type: the number 7 is not the text "7"."""
    value = _value(type)
    if type.integral:
        return f"item.kind = 'BIGINT' AND {value} IS NOT NULL"
    if type.kind == "DECIMAL":  # a bound that had to be rounded would say something else
        exact = f"item.text RLIKE '^-?[0-9]+([.][0-9]{{0,{_scale(type)}}}0*)?$'"
        return f"item.kind RLIKE '^(BIGINT|DECIMAL)' AND {exact} AND {value} IS NOT NULL"
    if type.numeric:
        return f"item.kind RLIKE '^(BIGINT|DECIMAL|DOUBLE|FLOAT)' AND abs({value}) < double('Infinity')"
    if type.boolean:
        return "item.kind = 'BOOLEAN'"
    if type.temporal:
        within = f"year({value}) BETWEEN 1 AND 9999"
        return f"item.kind = 'STRING' AND item.text RLIKE '^{_FORMS[type.kind]}$' AND {within}"
    return f"item.kind = 'STRING' AND {value} IS NOT NULL"


def _scale(type: Type) -> int:
    """Digits after the point; Spark's bare DECIMAL has none."""
    return int(type.sql.removesuffix(")").split(",")[1]) if "," in type.sql else 0
