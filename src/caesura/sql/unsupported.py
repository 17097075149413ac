"""What Spark SQL has and this version does not execute. Nothing is ignored: each is refused by name."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from caesura.diagnostics import CaesuraError, Source, Span
from caesura.diagnostics.code import Code
from caesura.sql.dialect import PATTERNED
from caesura.sql.functions import deterministic, known, spelling
from caesura.sql.hints import is_shape
from caesura.sql.refusal import refusal
from caesura.sql.spans import span

# Arguments of a SELECT that the binder reads; every other one must be empty.
_READ = {
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "with_",
    "emit",
    "distinct",
    "order",
    "qualify",
}
_CLAUSES = {
    "on": "DISTINCT ON",
    "order": "ORDER BY",
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "windows": "WINDOW",
    "laterals": "LATERAL VIEW",
    "hint": "this hint",
    "sample": "TABLESAMPLE",
    "pivots": "PIVOT",
    "into": "SELECT INTO",
    "connect": "CONNECT BY",
    "version": "time travel",
    "joins": "a join inside a FROM item",
    "exclude": "EXCEPT after *",
    "emit": "EMIT CHANGES",
    "with_": "WITH",
}
_GROUPINGS = {
    "grouping_sets": "GROUPING SETS",
    "groupingsets": "GROUPING SETS",
    "cube": "CUBE",
    "rollup": "ROLLUP",
    "totals": "WITH TOTALS",
    "all": "GROUP BY ALL",
}
_BECAUSE = {
    "hint": "the hints are MJOIN and TREE, for joins",
    "windows": "OVER says itself which rows it is about, and in what order",
}
_HELP = {
    "limit": "a stream has no last row; take the first ones where the sink is read",
    "windows": "put what the name stands for into the parentheses of OVER, in each call",
    "hint": "leave it out, or write /*+ MJOIN */ or /*+ TREE((a, b), c) */ with the aliases of FROM",
}
_UNITS = (
    *("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"),
    *("YYYY", "YY", "MON", "MM", "DD"),
)
_OVER_ONLY = (
    *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist),
    *(exp.Ntile, exp.Lag, exp.Lead, exp.NthValue),
)
_TABLE_FUNCTIONS = (exp.UDTF, exp.Explode, exp.ExplodeOuter, exp.Posexplode, exp.PosexplodeOuter, exp.Inline)


def refuse_clauses(select: exp.Select, source: Source) -> None:
    for name, value in select.args.items():
        if value and name not in _READ and not (name == "hint" and is_shape(value)):
            raise _clause(name, _CLAUSES.get(name, name.strip("_").upper()), span_of(value, source, select))
    group = select.args.get("group")
    if group is not None:
        found = {*(name for name in _GROUPINGS if group.args.get(name)), *(key.key for key in group.expressions)}
        for name, word in _GROUPINGS.items():
            if name in found:
                raise _clause(name, word, span(group, source))


def refuse_extras(node: exp.Expr, read: set[str], source: Source) -> None:
    """The same for another node, of which the binder reads the arguments `read`."""
    for name, value in node.args.items():
        if value and name not in read:
            word = _CLAUSES.get(name, name.strip("_").upper())
            raise _clause(name, word, span_of(value, source, node))


def _clause(name: str, word: str, at: Span | None) -> CaesuraError:
    message = f"this version does not execute {word}"
    return refusal(Code.CLAUSE, message, at, because=_BECAUSE.get(name), help=_HELP.get(name))


def span_of(value: object, source: Source, otherwise: exp.Expr) -> Span | None:
    nodes = value if isinstance(value, list) else [value]
    found = [one for node in nodes if isinstance(node, exp.Expr) and (one := span(node, source))]
    return found[0].to(found[-1]) if found else span(otherwise, source)


def refuse_query(query: exp.Expr, source: Source) -> NoReturn:
    """A query that is neither SELECT nor made of SELECTs."""
    raise refusal(
        Code.STATEMENT, "this is not a query that can be executed", span(query, source), "expected SELECT"
    )


def refuse_expressions(tree: exp.Expr, source: Source) -> None:
    for node in tree.walk():
        at = span(node, source)
        match node:
            case exp.Query() | exp.Values() | exp.Exists(this=exp.Query()) | exp.In(args={"query": exp.Expr()}):
                raise refusal(
                    Code.SUBQUERY,
                    "this version does not execute a subquery in this place",
                    at,
                    because="EXISTS and IN (SELECT …) are executed as conditions of WHERE that AND connects",
                    help="make it such a condition, or join in FROM",
                )
            case exp.Window():
                raise refusal(
                    Code.WINDOW_FUNCTION,
                    "a function with OVER stands in the select list or in QUALIFY",
                    at,
                    because="it is computed over the rows that FROM, WHERE and GROUP BY give",
                    help="give it a name in a query in FROM, and use the name here",
                )
            case _ if isinstance(node, _OVER_ONLY) and not _has_over(node):
                raise refusal(
                    Code.WINDOW_FUNCTION,
                    f"`{spelling(node, source)}` lacks OVER",
                    at,
                    because="it is about a row among others, and nothing says which they are and in what order",
                    help="OVER (PARTITION BY … ORDER BY …)",
                )
            case _ if isinstance(node, _TABLE_FUNCTIONS):
                raise refusal(Code.TABLE_FUNCTION, f"this version does not execute {spelling(node, source)}", at)
            case _ if not deterministic(node):
                raise refusal(
                    Code.NOT_DETERMINISTIC,
                    f"`{spelling(node, source)}` does not depend on the row alone",
                    at,
                    because="a slice that is run again must give the same rows",
                    help="let the source put the value into a column",
                )
            case exp.TimestampTrunc() | exp.DateTrunc() if node.text("unit").upper() not in _UNITS:
                unit = node.text("unit").lower()
                because = f"units are {', '.join(_UNITS).lower()}"
                raise refusal(Code.EXPRESSION, f"`{unit}` is no unit to cut a time by", at, because=because)
            case exp.StrToDate() | exp.StrToTime():
                raise refusal(
                    Code.EXPRESSION,
                    "Spark's CAST takes no FORMAT",
                    at,
                    help="to_date(text, pattern) or to_timestamp(text, pattern)",
                )
            case exp.Anonymous() if node.name in PATTERNED and len(node.expressions) > 2:
                message = f"`{spelling(node, source)}` takes a pattern, and nothing behind it"
                raise refusal(Code.EXPRESSION, message, span(node.expressions[2], source))
            case exp.Func() if any(node.args.get(name) is None for name in node.required_args):
                raise refusal(Code.WRONG_TYPE, f"`{spelling(node, source)}` lacks an argument", at)
            case exp.Anonymous() if node.name.lower() in ("window", "session_window"):
                raise refusal(
                    Code.CLAUSE,
                    f"{node.name.lower()} stands in GROUP BY, and above it in SELECT and HAVING",
                    at,
                    help="select it in a query inside this one",
                )
            case exp.Anonymous() if not known(node):
                raise refusal(Code.UNKNOWN_FUNCTION, f"unknown function `{node.name}`", at)


def _has_over(call: exp.Expr) -> bool:
    above = call.parent
    if isinstance(above, exp.IgnoreNulls | exp.RespectNulls):
        call, above = above, above.parent
    return isinstance(above, exp.Window) and above.this is call


def refuse_insert(node: exp.Insert, source: Source) -> None:
    """Everything but INSERT INTO sink SELECT …"""
    target = node.this
    if node.args.get("overwrite"):
        raise refusal(
            Code.STATEMENT,
            "INSERT OVERWRITE is not supported",
            span(target, source),
            because="results are appended: a row is emitted once and never taken back",
            help="INSERT INTO",
        )
    if isinstance(target, exp.Schema):
        raise refusal(
            Code.STATEMENT,
            "INSERT with a list of columns is not supported",
            span(target, source),
            help="name the columns in the SELECT with AS",
        )
    if not isinstance(target, exp.Table) or not isinstance(target.this, exp.Identifier):
        raise refusal(Code.STATEMENT, "INSERT INTO takes the name of a sink", span(target, source))
    refuse_extras(target, {"this"}, source)
    for name, value in node.args.items():
        if value and name not in ("this", "expression", "with_"):
            word = name.strip("_").replace("_", " ").upper()
            raise refusal(Code.STATEMENT, f"INSERT with {word} is not supported", span_of(value, source, target))
    if not isinstance(node.expression, exp.Expr):
        raise refusal(Code.STATEMENT, "INSERT INTO without a SELECT is not supported", span(target, source))


def refuse_statement(at: Span) -> NoReturn:
    raise refusal(
        Code.STATEMENT,
        f"this {at.text.split(maxsplit=1)[0].upper()} is not a statement of a pipeline",
        at,
        because="a pipeline has CREATE STREAM, TABLE, SINK and VIEW, INSERT INTO and SELECT",
    )
