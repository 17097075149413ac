"""A call with OVER that is no ranking: its function and arguments, over what the SELECT reads."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.sql.aggregates import is_aggregate, read_call, result_type
from caesura.sql.expressions import refuse_aggregates
from caesura.sql.functions import spelling
from caesura.sql.inference import infer
from caesura.sql.refusal import refusal
from caesura.sql.spans import span
from caesura.types import Type

AGGREGATES = ("SUM", "COUNT", "AVG", "MIN", "MAX", "COUNT_IF")
CHOSEN: dict[type[exp.Expr], str] = {
    exp.FirstValue: "FIRST_VALUE",
    exp.First: "FIRST_VALUE",
    exp.LastValue: "LAST_VALUE",
    exp.Last: "LAST_VALUE",
}
EXECUTED = (*AGGREGATES, "LAG", "FIRST_VALUE", "LAST_VALUE")


class Analytic(exp.Expression):
    """A call in one form: its name, and all that it is computed from. The arguments of LAG are the value, the
    number of rows and what stands where there is none."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": True, "ignore_nulls": False}


_PLACES = (exp.Lead, exp.NthValue, exp.Ntile, exp.CumeDist, exp.PercentRank)
"""What the parser takes for aggregates, and are none."""


def read_analytic(node: exp.Expr, source: Source) -> tuple[Analytic, Type]:
    """The call, whose names are bound, and the type of its result."""
    call, ignore_nulls = node, False
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        call, ignore_nulls = node.this, isinstance(node, exp.IgnoreNulls)
    if type(call) in CHOSEN:
        read, type_ = Analytic(this=CHOSEN[type(call)], expressions=[call.this], ignore_nulls=ignore_nulls), None
    elif ignore_nulls:
        raise _refused(
            node,
            source,
            f"this version does not execute `{spelling(call, source)}` with IGNORE NULLS",
            because="FIRST_VALUE and LAST_VALUE take it",
        )
    elif isinstance(call, exp.Lag):
        given = (call.this, call.args.get("offset"), call.args.get("default"))
        read, type_ = Analytic(this="LAG", expressions=[each for each in given if each is not None]), None
    elif is_aggregate(call) and not isinstance(call, _PLACES):
        read, type_ = _aggregate(call, source)
    else:
        raise _unknown(call, source, spelling(call, source))
    for argument in read.expressions:
        refuse_aggregates(argument, source, f"the argument of {read.this} with OVER")
    return read, type_ or infer(read.expressions[0], source)


def _aggregate(node: exp.Expr, source: Source) -> tuple[Analytic, Type]:
    found = read_call(node, source)
    if found.function.name not in AGGREGATES:
        raise _unknown(node, source, found.function.shown)
    for argument in found.arguments:
        refuse_aggregates(argument, source, f"the argument of {found.function.name} with OVER")
    read = Analytic(this=found.function.name, expressions=list(found.arguments))
    return read, result_type(found, source)


def _unknown(node: exp.Expr, source: Source, name: str) -> CaesuraError:
    if isinstance(node, exp.Lead):
        return _refused(
            node,
            source,
            "LEAD looks at rows that follow",
            because="a row comes out once, when all before it are known; what follows may take long to come",
            help="LAG, from the row that follows",
        )
    return _refused(
        node,
        source,
        f"this version does not execute `{name}` with OVER",
        because=f"it executes ROW_NUMBER, RANK, DENSE_RANK, {', '.join(EXECUTED)}",
        help="often a GROUP BY answers the question",
    )


def _refused(node: exp.Expr, source: Source, message: str, because: str, help: str | None = None) -> CaesuraError:
    return refusal(Code.WINDOW_FUNCTION, message, span(node, source), because=because, help=help)
