"""THEORY section 2: a selection promises from the start that the complement of its predicate never comes.

Each conjunct that compares a column with constants has a complement in patterns on that column, and what one
conjunct rules out the predicate does. NULL satisfies no comparison either, but no pattern can say so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from sqlglot import exp

from caesura.expression import Expr
from caesura.punctuation import Constant, Pattern, Punctuation, Range, Value, rank
from caesura.punctuation_json import Unreadable, read
from caesura.safety.predicates import conjuncts
from caesura.types import Type

_MIRRORED = {exp.EQ: exp.EQ, exp.NEQ: exp.NEQ, exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE}
_ZONE = re.compile("(Z|[+-][0-9]{2}:[0-9]{2})$")


def excluded(predicate: Expr, types: Mapping[str, Type]) -> frozenset[Punctuation]:
    """Punctuations that match no row which satisfies the predicate; `types` has those of its columns."""
    return frozenset(
        Punctuation.of({column: pattern})
        for conjunct in conjuncts(predicate.tree)
        for column, pattern in (*_compared(conjunct, types), *_listed(conjunct, types))
    )


def _compared(conjunct: exp.Expr, types: Mapping[str, Type]) -> Iterator[tuple[str, Pattern]]:
    for kind, one, other in _comparisons(conjunct):
        if isinstance(one, exp.Column) and (constant := _constant(other, types[one.name])) is not None:
            yield from ((one.name, pattern) for pattern in _OUTSIDE[kind](constant))


def _comparisons(conjunct: exp.Expr) -> Iterator[tuple[type[exp.Expr], exp.Expr, exp.Expr]]:
    """The plain comparisons that a conjunct says together, each from both sides."""
    match conjunct:
        case exp.Between():
            yield exp.GTE, conjunct.this.unnest(), conjunct.args["low"]
            yield exp.LTE, conjunct.this.unnest(), conjunct.args["high"]
        case exp.Not(this=exp.In() as listing):
            yield from ((exp.NEQ, listing.this.unnest(), each) for each in listing.expressions)
        case exp.Binary() if (kind := type(conjunct)) in _MIRRORED:
            yield kind, conjunct.left.unnest(), conjunct.right
            yield _MIRRORED[kind], conjunct.right.unnest(), conjunct.left
        case _:
            return


def _listed(conjunct: exp.Expr, types: Mapping[str, Type]) -> Iterator[tuple[str, Pattern]]:
    """Of IN: what lies before, between and after the values."""
    if isinstance(conjunct, exp.In) and isinstance(column := conjunct.this.unnest(), exp.Column):
        constants = [_constant(each, types[column.name]) for each in conjunct.expressions]
        known = sorted((each for each in constants if each is not None), key=rank)
        if known and len(known) == len(constants):
            gaps = (Range(low, high, low_open=True, high_open=True) for low, high in pairwise(known))
            for pattern in (_below(known[0]), *gaps, _above(known[-1])):
                yield column.name, pattern


def _below(constant: Value) -> Pattern:
    return Range(high=constant, high_open=True)


def _above(constant: Value) -> Pattern:
    return Range(low=constant, low_open=True)


_OUTSIDE: dict[type[exp.Expr], Callable[[Value], tuple[Pattern, ...]]] = {
    exp.EQ: lambda constant: (_below(constant), _above(constant)),
    exp.NEQ: lambda constant: (Constant(constant),),
    exp.LT: lambda constant: (Range(low=constant),),
    exp.LTE: lambda constant: (_above(constant),),
    exp.GT: lambda constant: (Range(high=constant),),
    exp.GTE: lambda constant: (_below(constant),),
}
"""What a column is not, if it compares so with the constant."""


def _constant(tree: exp.Expr, type: Type) -> Value | None:
    """The value of the column's type that Spark compares with; None if there is none, or only Spark can tell."""
    written = _written(tree.unnest(), type)
    if written is None:
        return None
    try:
        said = read(f'{{"column": {written}}}', {"column": type})
    except Unreadable:
        return None
    return next((p.value for _, p in said.patterns if isinstance(p, Constant)), None)


def _written(tree: exp.Expr, type: Type) -> str | None:
    """A literal as in a punctuation.

    Left out is what Spark converts before it compares: an integer with a double, a FLOAT with anything, a text
    with blanks added, a time in the zone of the session.
    """
    match tree:
        case exp.Neg(this=exp.Literal(is_string=False) as number):
            positive = _written(number, type)
            return None if positive is None else f"-{positive}"
        case exp.Literal(is_string=False) if type.numeric and type.kind != "FLOAT":
            return tree.name if type.kind == "DOUBLE" or "e" not in tree.name.lower() else None
        case exp.Literal(is_string=True) if type.kind in ("STRING", "VARCHAR"):
            return json.dumps(tree.name)
        case exp.Boolean() if type.boolean:
            return json.dumps(tree.this)
        case exp.Cast(this=exp.Literal(is_string=True) as text, to=to) if to.sql(dialect="spark") == type.kind:
            zoned = type.kind != "TIMESTAMP" or _ZONE.search(text.name)
            return json.dumps(text.name) if type.temporal and zoned else None
        case _:
            return None
