"""What a group keeps for an aggregate, as SQL: one column, how a slice's rows give it, how two of them become one.

In the templates `{x}` and `{y}` are the arguments, `{all}` is all of them and `{value}` one value made of them,
`{f}` the function that folds them, `{s}` the state, `{t}` the type of the result and `{p}` a percentage.

Moments are those of each part about its own mean. Merging moves them to the common mean, so that no great sums are
subtracted from each other. Arrays are sorted: a slice that is run again gives the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from caesura.aggregates import (
    BAG,
    BOTH,
    CHOICE,
    COUNTER,
    FOLD,
    FUNCTIONS,
    MEAN,
    SET,
    SHAPE,
    SKETCH,
    SPREAD,
    TOTAL,
    Keeps,
    summed,
)
from caesura.catalog import Column
from caesura.operators.group import Partial
from caesura.operators.rows import quote
from caesura.plan import Aggregate
from caesura.types import Type


@dataclass(frozen=True)
class _State:
    """`name` is that of the column: aggregates for which it is the same share their state."""

    name: str
    type: str
    from_rows: str
    merge: str


def partial_of(aggregate: Aggregate, types: Mapping[str, Type], beyond: tuple[str, ...] = ()) -> Partial:
    """The state of an aggregate over columns of these types. Of a set `beyond` others: the values in rows in which
    all of these columns are NULL."""
    words = _words(aggregate, types)
    state = _STATES[FUNCTIONS[aggregate.function].keeps]
    if beyond:
        nowhere = " AND ".join(f"{quote(each)} IS NULL" for each in beyond)
        words |= {"value": f"IF({nowhere}, {words['value']}, NULL)", "s": quote(_column(aggregate, beyond))}
    column = Column(_column(aggregate, beyond), Type(state.type.format_map(words)))
    return Partial(column, state.from_rows.format_map(words), state.merge.format_map(words))


def scaled(aggregate: Aggregate, types: Mapping[str, Type], times: str) -> str:
    """The state of an aggregate over rows each of which counts so many times (SQL)."""
    keeps = FUNCTIONS[aggregate.function].keeps
    template = _XOR if aggregate.function == "BIT_XOR" else _SCALED.get(keeps, "{s}")
    return template.format_map({**_words(aggregate, types), "n": times})


def weighted(aggregate: Aggregate, types: Mapping[str, Type], times: str) -> str:
    """How a slice's rows give the state, if each counts so many times (SQL over a row)."""
    words = {**_words(aggregate, types), "n": times}
    words["present"] = " AND ".join(f"{quote(each)} IS NOT NULL" for each in aggregate.arguments) or "true"
    keeps = FUNCTIONS[aggregate.function].keeps
    if keeps in _ONE:  # one row's state, merged with the others
        words["s"] = _ONE[keeps].format_map(words)
        return _STATES[keeps].merge.format_map(words)
    template = _WEIGHTED.get(aggregate.function) or _WEIGHTED.get(keeps) or _STATES[keeps].from_rows
    return template.format_map(words)


def result_of(aggregate: Aggregate, types: Mapping[str, Type], beyond: tuple[str, ...] = ()) -> str:
    """What becomes of the merged state, together with those of the columns that it is beyond."""
    words = _words(aggregate, types)
    if beyond:
        others = (replace(aggregate, arguments=(each,)) for each in beyond)
        states = (_column(aggregate, beyond), *map(_column, others))
        words["s"] = f"sort_array(array_distinct(concat({', '.join(map(quote, states))})))"
    template = _RESULTS.get(aggregate.function, "{s}")
    each = [template.replace("{p}", f"{percentage!r}D") for percentage in aggregate.percentages] or [template]
    several = aggregate.percentages and aggregate.result.type.kind == "ARRAY"
    return (_some(f"array({', '.join(each)})") if several else each[0]).format_map(words)


def _column(aggregate: Aggregate, beyond: tuple[str, ...] = ()) -> str:
    """The name of the state: `median_1` and `mode_2` of one argument keep the same."""
    name = _STATES[FUNCTIONS[aggregate.function].keeps].name.format(f=_fold(aggregate))
    rest = f" beyond {' and '.join(beyond)}" if beyond else ""
    return f"{name} of {' and '.join(aggregate.arguments) or 'rows'}{rest}"


def _fold(aggregate: Aggregate) -> str:
    return _FOLDS.get(aggregate.function, aggregate.function).lower()


def _words(aggregate: Aggregate, types: Mapping[str, Type]) -> dict[str, str]:
    quoted = [quote(each) for each in aggregate.arguments]
    given = [types[each] for each in aggregate.arguments]
    words = {
        "f": _fold(aggregate),
        "s": quote(_column(aggregate)),
        "t": str(aggregate.result.type),
        "all": ", ".join(quoted) or "*",
        "value": quoted[0] if len(quoted) == 1 else _together(quoted),
        "value_type": str(given[0]) if len(given) == 1 else _struct(given),
        "sum_type": sum_type(given),
    }
    for name, argument, type in zip("xy", quoted, given, strict=False):
        words |= {name: argument, f"{name}_type": str(type)}
    return words


def _together(arguments: list[str]) -> str:
    """Several arguments as one value, which is NULL if one of them is."""
    fields = _fields({f"v{i}": each for i, each in enumerate(arguments, 1)})
    there = " AND ".join(f"{each} IS NOT NULL" for each in arguments)
    return f"IF({there}, {fields}, NULL)" if arguments else "NULL"


def _struct(types: list[Type]) -> str:
    return f"STRUCT<{', '.join(f'v{i}: {type}' for i, type in enumerate(types, 1))}>"


def sum_type(types: list[Type]) -> str:
    """The sum that an average keeps: of decimals as SUM, of all else as in Spark a double."""
    return str(summed((types[0],))) if len(types) == 1 and types[0].kind == "DECIMAL" else "DOUBLE"


def _let(name: str, value: str, body: str) -> str:
    """SQL has no name for a value inside an expression, but a function has one for its argument."""
    return f"get(transform(array({value}), {name} -> {body}), 0)"


def _sum(array: str, each: str, zero: str = "0D") -> str:
    """The sum over the elements `e` of an array."""
    return f"aggregate({array}, {zero}, (a, e) -> a + {each})"


def _fields(fields: Mapping[str, str]) -> str:
    return "named_struct({})".format(", ".join(f"'{name}', {sql}" for name, sql in fields.items()))


def _moments(means: Mapping[str, str], sums: Mapping[str, str]) -> str:
    """The parts of a group with their means about the common ones, `c`."""
    parts = "sort_array(filter(collect_list({s}), e -> e.n > 0D))"
    n = _sum("p", "e.n")
    centre = {m: f"try_divide({_sum('p', f'e.n * e.{m}')}, {n})" for m in means}
    moved = {m: f"c.{m}" for m in ("n", *means)} | {name: _sum("p", each) for name, each in sums.items()}
    return _let("p", parts, _let("c", _fields({"n": n} | centre), _fields(moved)))


def _moment_state(name: str, means: Mapping[str, str], sums: Mapping[str, tuple[str, str]], n: str) -> _State:
    """`means` by their SQL over rows; `sums` likewise, and what each part adds to it about the common means."""
    names = ["n", *means, *sums]
    rows = [f"CAST({n} AS DOUBLE)", *means.values(), *(f"{of_rows} * {n}" for of_rows, _ in sums.values())]
    return _State(
        name,
        f"STRUCT<{', '.join(f'{name}: DOUBLE' for name in names)}>",
        _fields(dict(zip(names, rows, strict=True))),
        _moments(means, {name: each for name, (_, each) in sums.items()}),
    )


def _counted(entries: str) -> str:
    """Values with their numbers of rows, each value once: runs of equal values among the sorted ones are one."""
    starts = "filter(transform(e, (v, i) -> i), i -> i = 0 OR NOT (get(e, i).value <=> get(e, i - 1).value))"
    run = "slice(e, i + 1, coalesce(get(b, j + 1), size(e)) - i)"
    count = f"aggregate({run}, 0L, (a, v) -> a + v.count)"
    each = f"named_struct('value', get(e, i).value, 'count', {count})"
    return _let("e", f"sort_array({entries})", _let("b", starts, f"transform(b, (i, j) -> {each})"))


_M2 = ("var_pop({x})", "e.m2 + e.n * pow(e.mean - c.mean, 2D)")
_M3 = (
    "coalesce(skewness({x}), 0D) * pow(var_pop({x}), 1.5D)",
    "e.m3 + 3D * (e.mean - c.mean) * e.m2 + e.n * pow(e.mean - c.mean, 3D)",
)
_M4 = (
    "coalesce(kurtosis({x}) + 3D, 0D) * pow(var_pop({x}), 2D)",
    "e.m4 + 4D * (e.mean - c.mean) * e.m3 + 6D * pow(e.mean - c.mean, 2D) * e.m2 + e.n * pow(e.mean - c.mean, 4D)",
)
_X, _Y = "IF({y} IS NULL, NULL, {x})", "IF({x} IS NULL, NULL, {y})"
_MEAN = {"mean": "avg(CAST({x} AS DOUBLE))"}

_STATES: dict[Keeps, _State] = {
    COUNTER: _State("{f}", "BIGINT", "{f}({all})", "sum({s})"),
    TOTAL: _State("sum", "{t}", "CAST(sum({x}) AS {t})", "CAST(sum({s}) AS {t})"),
    FOLD: _State("{f}", "{t}", "{f}({x})", "{f}({s})"),
    MEAN: _State(
        "mean",
        "STRUCT<sum: {sum_type}, count: BIGINT>",
        "named_struct('sum', CAST(sum({x}) AS {sum_type}), 'count', count({x}))",
        "named_struct('sum', CAST(sum({s}.sum) AS {sum_type}), 'count', sum({s}.count))",
    ),
    CHOICE: _State(
        "{f} with its choice",
        "STRUCT<by: {y_type}, value: {x_type}>",
        "{f}(IF({y} IS NULL, NULL, named_struct('by', {y}, 'value', {x})))",
        "{f}({s})",
    ),
    SPREAD: _moment_state("spread", _MEAN, {"m2": _M2}, "count({x})"),
    SHAPE: _moment_state("shape", _MEAN, {"m2": _M2, "m3": _M3, "m4": _M4}, "count({x})"),
    BOTH: _moment_state(
        "spread",
        {"x": f"avg(CAST({_X} AS DOUBLE))", "y": f"avg(CAST({_Y} AS DOUBLE))"},
        {
            "xx": (f"var_pop({_X})", "e.xx + e.n * pow(e.x - c.x, 2D)"),
            "yy": (f"var_pop({_Y})", "e.yy + e.n * pow(e.y - c.y, 2D)"),
            "xy": ("covar_pop({x}, {y})", "e.xy + e.n * (e.x - c.x) * (e.y - c.y)"),
        },
        "count({x}, {y})",
    ),
    SKETCH: _State(
        "sketch", "BINARY", "hll_sketch_agg(IF({x} IS NULL, NULL, xxhash64({x})))", "hll_union_agg({s})"
    ),
    SET: _State(
        "set",
        "ARRAY<{value_type}>",
        "sort_array(collect_set({value}))",
        "sort_array(array_distinct(flatten(collect_list({s}))))",
    ),
    BAG: _State(
        "bag",
        "ARRAY<STRUCT<value: {x_type}, count: BIGINT>>",
        _counted("transform(collect_list({x}), v -> named_struct('value', v, 'count', 1L))"),
        _counted("flatten(collect_list({s}))"),
    ),
}

_SCALED: dict[Keeps, str] = {
    COUNTER: "({s} * {n})",
    TOTAL: "CAST({s} * {n} AS {t})",
    MEAN: "named_struct('sum', CAST({s}.sum * {n} AS {sum_type}), 'count', {s}.count * {n})",
    SPREAD: "named_struct('n', {s}.n * {n}, 'mean', {s}.mean, 'm2', {s}.m2 * {n})",
    SHAPE: "named_struct('n', {s}.n * {n}, 'mean', {s}.mean, 'm2', {s}.m2 * {n}, 'm3', {s}.m3 * {n},"
    " 'm4', {s}.m4 * {n})",
    BOTH: "named_struct('n', {s}.n * {n}, 'x', {s}.x, 'y', {s}.y, 'xx', {s}.xx * {n}, 'yy', {s}.yy * {n},"
    " 'xy', {s}.xy * {n})",
}
"""The state over rows that count several times. Where nothing stands, that changes nothing."""
_XOR = "IF({n} % 2 = 1, {s}, {s} ^ {s})"

_COUNTED = "IF({present}, 1D, 0D) * {n}"
_ONE: dict[Keeps, str] = {
    SPREAD: f"named_struct('n', {_COUNTED}, 'mean', CAST({{x}} AS DOUBLE), 'm2', 0D)",
    SHAPE: f"named_struct('n', {_COUNTED}, 'mean', CAST({{x}} AS DOUBLE), 'm2', 0D, 'm3', 0D, 'm4', 0D)",
    BOTH: f"named_struct('n', {_COUNTED}, 'x', CAST({{x}} AS DOUBLE), 'y', CAST({{y}} AS DOUBLE),"
    " 'xx', 0D, 'yy', 0D, 'xy', 0D)",
}
"""The state of one row that counts several times."""
_WEIGHTED: dict[Keeps | str, str] = {
    "COUNT_IF": "sum(IF({x}, {n}, 0L))",
    "BIT_XOR": "bit_xor(IF({n} % 2 = 1, {x}, {x} ^ {x}))",
    COUNTER: "sum(IF({present}, {n}, 0L))",
    TOTAL: "CAST(sum(CAST({x} AS {t}) * {n}) AS {t})",
    MEAN: "named_struct('sum', CAST(sum(CAST({x} AS {sum_type}) * {n}) AS {sum_type}),"
    " 'count', sum(IF({present}, {n}, 0L)))",
    BAG: _counted("collect_list(IF({present}, named_struct('value', {x}, 'count', {n}), NULL))"),
}
"""The state from rows that count several times. Where nothing stands, as if they counted once."""

_FOLDS = {"ANY_VALUE": "MIN", "MAX_BY": "MAX", "MIN_BY": "MIN"}
"""Where a function folds its values by another one: any value will do, but it is to be the same one every time."""
_ROWS = _sum("{s}.count", "e", "0L")


def _some(result: str) -> str:
    """NULL where no value came."""
    return f"IF(size({{s}}) = 0, NULL, {result})"


def _total(type: str) -> str:
    """The sum of distinct values."""
    return f"aggregate({{s}}, CAST(0 AS {type}), (a, v) -> CAST(a + v AS {type}))"


def _at(rank: str) -> str:
    """The value of the row with this rank, from 0, as a double."""
    step = "(a, e) -> IF(a[0] >= e, array(a[0] - e, a[1] + 1L), array(-1L, a[1]))"
    index = f"aggregate({{s}}.count, array({rank}, 0L), {step}, a -> CAST(a[1] AS INT))"
    return f"CAST(get({{s}}, {index}).value AS DOUBLE)"


def _continuous(percentage: str) -> str:
    """Between two ranks the values are interpolated, as in Spark."""
    low, high = _at("floor(r)"), _at("ceil(r)")
    between = f"IF(floor(r) = ceil(r), {low}, (ceil(r) - r) * {low} + (r - floor(r)) * {high})"
    return _let("r", f"({_ROWS} - 1L) * {percentage}", between)


_RESULTS = {
    "COUNT": "coalesce({s}, 0L)",
    "COUNT_IF": "coalesce({s}, 0L)",
    "AVG": "CAST(try_divide({s}.sum, {s}.count) AS {t})",
    "MAX_BY": "{s}.value",
    "MIN_BY": "{s}.value",
    "VAR_POP": "try_divide({s}.m2, {s}.n)",
    "VAR_SAMP": "IF({s}.n > 1D, {s}.m2 / ({s}.n - 1D), NULL)",
    "STDDEV_POP": "sqrt(try_divide({s}.m2, {s}.n))",
    "STDDEV_SAMP": "IF({s}.n > 1D, sqrt({s}.m2 / ({s}.n - 1D)), NULL)",
    "SKEWNESS": "try_divide(sqrt({s}.n) * {s}.m3, pow({s}.m2, 1.5D))",
    "KURTOSIS": "try_divide({s}.n * {s}.m4, pow({s}.m2, 2D)) - 3D",
    "COVAR_POP": "try_divide({s}.xy, {s}.n)",
    "COVAR_SAMP": "IF({s}.n > 1D, {s}.xy / ({s}.n - 1D), NULL)",
    "CORR": "try_divide({s}.xy, sqrt({s}.xx * {s}.yy))",
    "APPROX_COUNT_DISTINCT": "coalesce(hll_sketch_estimate({s}), 0L)",
    "COUNT DISTINCT": "CAST(size({s}) AS BIGINT)",
    "SUM DISTINCT": _some(_total("{t}")),
    "AVG DISTINCT": f"CAST(try_divide({_total('{sum_type}')}, size({{s}})) AS {{t}})",
    "COLLECT_LIST": "flatten(transform({s}, e -> array_repeat(e.value, CAST(e.count AS INT))))",
    "MODE": _let("m", "array_max({s}.count)", "get(filter({s}, e -> e.count = m), 0).value"),
    "MEDIAN": _continuous("0.5D"),
    "PERCENTILE": _continuous("{p}"),
    "PERCENTILE_CONT": _continuous("{p}"),
    "PERCENTILE_DISC": _at(f"greatest(ceil({_ROWS} * {{p}}) - 1L, 0L)"),
}
"""Where nothing stands, the state is the result."""
