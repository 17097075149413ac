"""A time and a length, added as numbers.

Spark adds them by the calendar of the session's zone. A join with windows asks for that of every pair of rows, and
it took half the time of such a join. A length of less than a day is the same in every zone: microseconds do.
"""

from __future__ import annotations

import re

from sqlglot import exp

from caesura import plan
from caesura.catalog import UNITS
from caesura.expression import Expr
from caesura.safety.predicates import conditions
from caesura.sql.rewrite import rewrite
from caesura.types import BOOLEAN


def residual(join: plan.Join) -> list[Expr]:
    """What must hold between columns of different inputs besides equalities, part by part, as it is executed."""
    times = timestamps(join)

    def change(node: exp.Expr) -> exp.Expr | None:
        if not isinstance(node, exp.Add | exp.Sub):
            return None
        time, length = node.left, node.right
        if isinstance(node, exp.Add) and isinstance(time, exp.Interval):
            time, length = length, time
        micros = microseconds(length)
        if micros is None or not isinstance(time, exp.Column) or time.name not in times:
            return None
        number = exp.func("UNIX_MICROS", time.copy())
        return exp.func("TIMESTAMP_MICROS", type(node)(this=number, expression=exp.Literal.number(f"{micros}L")))

    return [Expr(rewrite(part, change), BOOLEAN) for part in conditions(join)]


def timestamps(join: plan.Join) -> frozenset[str]:
    """The columns of the inputs that are instants."""
    columns = (column for below in join.inputs for column in below.columns)
    return frozenset(column.name for column in columns if column.type.kind == "TIMESTAMP")


def microseconds(length: exp.Expr) -> int | None:
    """An interval of less than a day, if it is a whole number of one unit."""
    if not isinstance(length, exp.Interval) or not isinstance(length.this, exp.Literal):
        return None
    unit = UNITS.get(str(length.args.get("unit") or "").upper().removesuffix("S"))
    if unit is None or not re.fullmatch("-?[0-9]+", length.this.name):
        return None
    micros = int(length.this.name) * unit
    return micros if abs(micros) < UNITS["DAY"] else None
