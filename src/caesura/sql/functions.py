"""What Caesura has to know about functions beyond what sqlglot knows."""

from __future__ import annotations

from sqlglot import exp

from caesura.diagnostics import Source
from caesura.sql.arithmetic import DATE, DOUBLE, INT, TIMESTAMP
from caesura.sql.spans import span
from caesura.types import BIGINT, BOOLEAN, STRING, Type

# Result types where Spark's differs from the one sqlglot gives, or sqlglot gives none.
_RESULTS: dict[type[exp.Expr], Type] = {
    **dict.fromkeys((exp.Year, exp.Quarter, exp.Month, exp.Week, exp.WeekOfYear), INT),
    **dict.fromkeys((exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.DayOfYear), INT),
    **dict.fromkeys((exp.Hour, exp.Minute, exp.Second, exp.BitwiseCount), INT),
    **dict.fromkeys((exp.TimestampTrunc, exp.TimestampFromParts), TIMESTAMP),
    **dict.fromkeys((exp.SplitPart, exp.SubstringIndex, exp.Elt), STRING),
    **dict.fromkeys((exp.TimestampDiff, exp.ArrayPosition, exp.WidthBucket), BIGINT),
    exp.DateTrunc: DATE,
    exp.Getbit: Type("TINYINT"),
    exp.MapContainsKey: BOOLEAN,
}

# Functions of Spark that sqlglot does not know, or that the dialect keeps from it, but whose result has one type,
# whatever the arguments.
_SPARK = {
    **dict.fromkeys(("timestamp_seconds", "timestamp_millis", "timestamp_micros"), TIMESTAMP),
    **dict.fromkeys(("weekday", "hash", "octet_length", "find_in_set", "cardinality"), INT),
    **dict.fromkeys(("xxhash64", "crc32"), BIGINT),
    **dict.fromkeys(("isnull", "isnotnull", "arrays_overlap"), BOOLEAN),
    **dict.fromkeys(("format_number", "bin", "conv"), STRING),
    **dict.fromkeys(("hypot", "expm1", "e"), DOUBLE),
    **dict.fromkeys(("date_format", "from_unixtime"), STRING),
    **dict.fromkeys(("unix_timestamp", "to_unix_timestamp"), BIGINT),
    **dict.fromkeys(("make_date", "to_date"), DATE),
    "to_timestamp": TIMESTAMP,
}

# Functions that may answer differently when a slice is run again, or elsewhere.
_NOT_DETERMINISTIC: tuple[type[exp.Expr], ...] = (
    exp.Rand,
    exp.Randn,
    exp.Randstr,
    exp.Uuid,
    exp.Shuffle,
    exp.CurrentDate,
    exp.CurrentDatetime,
    exp.CurrentTime,
    exp.CurrentTimestamp,
    exp.CurrentTimestampLTZ,
    exp.Localtime,
    exp.Localtimestamp,
    exp.CurrentTimezone,
    exp.CurrentUser,
    exp.SessionUser,
    exp.CurrentCatalog,
    exp.CurrentDatabase,
    exp.CurrentSchema,
    exp.CurrentVersion,
)
_NOT_DETERMINISTIC_NAMES = {
    "now",
    "random",
    "monotonically_increasing_id",
    "spark_partition_id",
    "input_file_name",
    "input_file_block_start",
    "input_file_block_length",
    "user",
    "version",
    "uniform",
}


def stated_result(node: exp.Func) -> Type | None:
    """The result type where it is known without looking at the arguments."""
    if isinstance(node, exp.Anonymous):
        return _SPARK.get(node.name.lower())
    if isinstance(node, exp.DateDiff):
        return BIGINT if node.args.get("unit") else INT
    if isinstance(node, exp.Extract):
        return Type("DECIMAL(8, 6)") if node.name.upper() in ("SECOND", "SECONDS") else INT
    return _RESULTS.get(type(node))


def known(node: exp.Expr) -> bool:
    return not isinstance(node, exp.Anonymous) or node.name.lower() in _SPARK


def deterministic(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.lower() not in _NOT_DETERMINISTIC_NAMES
    return not isinstance(node, _NOT_DETERMINISTIC)


def ordered(type: Type) -> bool:
    """Whether values of the type can be sorted."""
    return type.scalar or type.kind in ("BINARY", "ARRAY", "STRUCT") or type.kind.startswith("INTERVAL")


def spelling(node: exp.Expr, source: Source) -> str:
    """The name of a function as the user wrote it: sqlglot keeps the place of that word."""
    start, last = node.meta_get("start"), node.meta_get("end")
    if start is not None and last is not None:
        return source.text[start : last + 1]
    whole = span(node, source)  # CURRENT_DATE and the like, which have no parentheses
    return whole.text if whole is not None else node.key
