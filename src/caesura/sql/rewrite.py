"""Trees are never changed in place: a rewrite builds a new one."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp


def rewrite(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr | None]) -> exp.Expr:
    """A copy without comments, in which `change` replaces the nodes for which it returns one.

    sqlglot's own `transform` copies every place and type deeply, which is most of the time of binding.
    """
    replacement = change(node)
    if replacement is not None:
        return replacement
    args = {name: _rewritten(value, change) for name, value in node.args.items()}
    copy = type(node)(**args)
    copy.meta.update(node.meta)
    return copy


def _rewritten(value: object, change: Callable[[exp.Expr], exp.Expr | None]) -> object:
    if isinstance(value, exp.Expr):
        return rewrite(value, change)
    if isinstance(value, list):
        return [_rewritten(one, change) for one in value]
    return value
