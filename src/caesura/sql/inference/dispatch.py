"""The dispatch on the syntax, and what all rules share."""

from __future__ import annotations

from functools import singledispatch

from sqlglot import exp

from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.sql.refusal import refusal
from caesura.sql.spans import span
from caesura.types import Type


@singledispatch
def infer(node: exp.Expr, source: Source) -> Type:
    raise refusal(
        Code.EXPRESSION,
        "this version does not execute this expression",
        span(node, source),
        f"it is read as {type(node).__name__}",
    )


def wrong(
    node: exp.Expr, source: Source, message: str, code: Code = Code.WRONG_TYPE, help: str | None = None
) -> CaesuraError:
    return refusal(code, message, span(node, source), help=help)
