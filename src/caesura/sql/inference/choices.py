"""CASE, COALESCE and the like: one of several results, so their common type."""

from __future__ import annotations

from sqlglot import exp

from caesura.diagnostics import Source
from caesura.diagnostics.code import Code
from caesura.sql import arithmetic
from caesura.sql.inference.dispatch import infer, wrong
from caesura.sql.inference.predicates import check_comparable, truth
from caesura.types import Type


@infer.register
def _(node: exp.Case, source: Source) -> Type:
    subject = node.this
    for branch in node.args["ifs"]:
        if subject is None:
            truth(branch.this, source)
        else:
            check_comparable(source, subject, branch.this)
    default = node.args.get("default")
    results = [branch.args["true"] for branch in node.args["ifs"]]
    return _widest(node, source, results if default is None else [*results, default])


@infer.register
def _(node: exp.If, source: Source) -> Type:
    truth(node.this, source)
    results = (node.args.get("true"), node.args.get("false"))
    return _widest(node, source, [result for result in results if result is not None])


@infer.register(exp.Coalesce)
@infer.register(exp.Greatest)
@infer.register(exp.Least)
def _(node: exp.Func, source: Source) -> Type:
    return _widest(node, source, [node.this, *node.expressions])


@infer.register
def _(node: exp.Nvl2, source: Source) -> Type:
    infer(node.this, source)
    results = (node.args.get("true"), node.args.get("false"))
    return _widest(node, source, [result for result in results if result is not None])


@infer.register
def _(node: exp.Nullif, source: Source) -> Type:
    check_comparable(source, node.this, node.expression)
    return infer(node.this, source)


def _widest(node: exp.Expr, source: Source, results: list[exp.Expr]) -> Type:
    types = [infer(result, source) for result in results]
    widest = types[0]
    for other in types[1:]:
        found = arithmetic.common(widest, other)
        if found is None:
            raise wrong(node, source, f"the results have no common type: {widest} and {other}", Code.INCOMPARABLE)
        widest = found
    return widest
