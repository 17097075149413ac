"""Functions."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.optimizer.annotate_types import TypeAnnotator
from sqlglot.schema import MappingSchema

from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.sql import arithmetic, functions
from caesura.sql.datatypes import to_data, to_type
from caesura.sql.dialect import Caesura
from caesura.sql.inference.dispatch import infer, wrong
from caesura.sql.refusal import refusal
from caesura.sql.spans import span
from caesura.types import BIGINT, Type

_SCHEMA = MappingSchema(dialect=Caesura)  # functions need no schema, the annotator does


@infer.register
def _(node: exp.Func, source: Source) -> Type:
    for child in node.iter_expressions():
        if isinstance(child, exp.Var | exp.DataType | exp.Identifier | exp.JSONPath):
            continue  # units, types and names are part of the function, not arguments
        child.type = to_data(infer(child, source))
    stated = functions.stated_result(node)
    if stated is not None:
        return stated
    TypeAnnotator(_SCHEMA, overwrite_types=False).annotate_expression(node)
    found = to_type(node.type) if node.type else None
    if found is None:
        name = functions.spelling(node, source)
        raise refusal(
            Code.UNKNOWN_FUNCTION,
            f"the type of `{name}` is not known",
            span(node, source),
        )
    return found


@infer.register(exp.AtTimeZone)
@infer.register(exp.FromTimeZone)
def _(node: exp.Expr, source: Source) -> Type:
    for part in (node.this, node.args["zone"]):
        infer(part, source)
    return arithmetic.TIMESTAMP


@infer.register(exp.Ceil)
@infer.register(exp.Floor)
def _(node: exp.Func, source: Source) -> Type:
    if len(list(node.iter_expressions())) > 1:
        raise refusal(Code.EXPRESSION, "CEIL and FLOOR take one argument here", span(node, source))
    found = _number(node, source, "rounding")
    return arithmetic.rounded(found, 0) if found.kind == "DECIMAL" else BIGINT


@infer.register
def _(node: exp.Round, source: Source) -> Type:
    found = _number(node, source, "ROUND")
    digits = node.args.get("decimals")
    if digits is not None and not (isinstance(digits.unnest(), exp.Literal | exp.Neg) and digits.is_int):
        raise refusal(Code.EXPRESSION, "the digits of ROUND are a number here", span(digits, source))
    return arithmetic.rounded(found, int(digits.to_py()) if digits is not None else 0)


def _number(node: exp.Expr, source: Source, name: str) -> Type:
    found = infer(node.this, source)
    if not found.numeric:
        raise wrong(node.this, source, f"{name} takes numbers, this is {found}")
    return found
