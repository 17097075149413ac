"""Between sqlglot's data types and Caesura's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from sqlglot import exp
from sqlglot.expressions import DType

from caesura.types import Type

VOID = Type("VOID")  # the type of NULL
DAYS = Type("INTERVAL DAY")
DAY_TIME = Type("INTERVAL DAY TO SECOND")
YEAR_MONTH = Type("INTERVAL YEAR TO MONTH")
INTERVALS = (DAYS, DAY_TIME, YEAR_MONTH)

# Each spelling is the one Spark prints in upper case. What is missing here, Spark does not have.
_SCALARS = {
    DType.BOOLEAN: "BOOLEAN",
    DType.TINYINT: "TINYINT",
    DType.SMALLINT: "SMALLINT",
    DType.INT: "INT",
    DType.BIGINT: "BIGINT",
    DType.FLOAT: "FLOAT",
    DType.DOUBLE: "DOUBLE",
    DType.TEXT: "STRING",
    DType.BINARY: "BINARY",
    DType.DATE: "DATE",
    DType.TIMESTAMP: "TIMESTAMP",
    DType.TIMESTAMPTZ: "TIMESTAMP",
    DType.TIMESTAMPLTZ: "TIMESTAMP",
    DType.DATETIME: "TIMESTAMP",
    DType.TIMESTAMPNTZ: "TIMESTAMP_NTZ",
    DType.NULL: "VOID",
}


def to_type(data: exp.DataType) -> Type | None:
    """None for a type that Spark does not have."""
    match data.this, _numbers(data):
        case DType.DECIMAL, []:
            return Type("DECIMAL(10, 0)")
        case DType.DECIMAL, [precision] if 0 < precision <= 38:
            return Type(f"DECIMAL({precision}, 0)")
        case DType.DECIMAL, [precision, scale] if 0 <= scale <= precision and 0 < precision <= 38:
            return Type(f"DECIMAL({precision}, {scale})")
        case DType.VARCHAR | DType.CHAR, [length] if length > 0:
            return Type(f"{data.this.value}({length})")
        case DType.VARCHAR, []:
            return Type("STRING")  # what sqlglot says when it means any text
        case DType.ARRAY | DType.MAP, _:
            below = [to_type(one) for one in data.expressions if isinstance(one, exp.DataType)]
            return Type(f"{data.this.value}<{', '.join(map(str, below))}>") if below and all(below) else None
        case DType.STRUCT, _:
            return _struct(data)
        case exp.Interval() as interval, _:
            return interval_type({unit.name for unit in interval.find_all(exp.Var)})
        case kind, [] if kind in _SCALARS:
            return Type(_SCALARS[kind])
        case _:
            return None


def read_type(spelling: str) -> Type:
    """A type as Spark spells it; one that the language does not know keeps its spelling and supports nothing."""
    return to_type(exp.DataType.build(spelling, dialect="spark", udt=True)) or Type(spelling.upper())


def _struct(data: exp.DataType) -> Type | None:
    fields = {}
    for field in data.expressions:
        kind = to_type(field.kind) if isinstance(field, exp.ColumnDef) and field.kind else None
        if kind is None:
            return None
        fields[field.name] = kind
    return struct(fields)


def struct(fields: Mapping[str, Type]) -> Type:
    spelled = (f"{exp.to_identifier(name, quoted=True).sql('spark')}: {type}" for name, type in fields.items())
    return Type(f"STRUCT<{', '.join(spelled)}>")


def _numbers(data: exp.DataType) -> list[int]:
    """The parameters of the type; -1 for one that is no number, so that nothing accepts it."""
    parameters = [one for one in data.expressions if isinstance(one, exp.DataTypeParam)]
    return [int(one.name) if one.name.isdecimal() else -1 for one in parameters]


def interval_type(units: set[str]) -> Type:
    """The family of an interval, by the units it is written in. Spark's own types have finer bounds."""
    singular = {unit.upper().removesuffix("S") for unit in units}
    if singular & {"YEAR", "QUARTER", "MONTH"}:
        return YEAR_MONTH
    return DAYS if singular <= {"WEEK", "DAY"} else DAY_TIME


@cache
def to_data(type: Type) -> exp.DataType:
    """The same type for sqlglot. Shared: nobody changes it."""
    if type in INTERVALS:
        return exp.DataType(this=DType.INTERVAL)
    if type == VOID:
        return exp.DataType(this=DType.NULL)
    return exp.DataType.from_str(type.sql, dialect="spark")


def decimal(type: Type) -> tuple[int, int]:
    """Precision and scale."""
    precision, scale = _numbers(to_data(type))
    return precision, scale


def field(type: Type, name: str) -> Type | None:
    """The type of a field of a STRUCT, by its name in any case."""
    for one in to_data(type).expressions:
        if isinstance(one, exp.ColumnDef) and one.name.lower() == name.lower() and one.kind:
            return to_type(one.kind)
    return None


def element(type: Type) -> Type | None:
    """The type of the elements of an ARRAY or of the values of a MAP."""
    below = to_data(type).expressions
    return to_type(below[-1]) if type.kind in ("ARRAY", "MAP") and below else None
