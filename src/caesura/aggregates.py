"""The aggregate functions: their names, what they take and give, and what a group has to keep for them.

A function over a whole group is run slice by slice, so that something has to be kept that merges with what the
next slice gives. What that is decides the kind of the function (THEORY section 8): distributive and algebraic ones
keep a fixed number of values, holistic ones every value of their argument. Several functions keep the same and
differ only in what they make of it in the end. `spark.aggregates` has the SQL for both parts, `model.aggregates`
the meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from caesura.sql.arithmetic import DOUBLE, bounded
from caesura.sql.datatypes import decimal
from caesura.sql.functions import ordered
from caesura.types import BIGINT, Type

Gives: TypeAlias = Callable[[tuple[Type, ...]], Type]
"""From the types of the arguments to that of the result, as in Spark."""
_MAX_PRECISION = 38


@dataclass(frozen=True)
class Keeps:
    """What stays of the rows of an open group."""

    what: str
    kind: Literal["distributive", "algebraic", "holistic"]


COUNTER = Keeps("a count", "distributive")
TOTAL = Keeps("the sum", "distributive")
FOLD = Keeps("one value, the result so far", "distributive")
CHOICE = Keeps("one value and what it was chosen by", "distributive")
MEAN = Keeps("sum and count", "algebraic")
SPREAD = Keeps("count, mean, sum of squares about it", "algebraic")
SHAPE = Keeps("count, mean, sums of the powers 2 to 4 about it", "algebraic")
BOTH = Keeps("count, both means, sums of squares and products about them", "algebraic")
SKETCH = Keeps("a sketch of at most 4 kB", "algebraic")
SET = Keeps("each value once", "holistic")
BAG = Keeps("each value with its number of rows", "holistic")


@dataclass(frozen=True)
class Takes:
    """What an argument may be."""

    what: str
    fits: Callable[[Type], bool]


NUMBER = Takes("numbers", lambda type: type.numeric)
INTEGER = Takes("integers", lambda type: type.integral)
TRUTH = Takes("conditions", lambda type: type.boolean)
IN_ORDER = Takes("values that have an order", ordered)
ANYTHING = Takes("anything", lambda type: True)


@dataclass(frozen=True)
class Function:
    """`also` are other names of it. `distinct` is the function over the distinct values of its argument: itself
    where duplicates change nothing, None where nobody asks."""

    name: str
    takes: tuple[Takes, ...]
    gives: Gives
    keeps: Keeps
    also: tuple[str, ...] = ()
    distinct: str | None = None
    several: bool = False
    """Whether further arguments may follow, which are taken like the first."""

    @property
    def shown(self) -> str:
        """As one writes it."""
        name, _, distinct = self.name.partition(" ")
        return f"{name}({distinct})" if distinct else name

    @property
    def holistic(self) -> bool:
        return self.keeps.kind == "holistic"

    @property
    def ignores_duplicates(self) -> bool:
        """Whether it is the same over a bag and over its distinct values."""
        return self.distinct == self.name or self.keeps in (SET, CHOICE)


def _always(type: Type) -> Gives:
    return lambda types: type


def _same(types: tuple[Type, ...]) -> Type:
    return types[0]


def _listed(types: tuple[Type, ...]) -> Type:
    return Type(f"ARRAY<{types[0]}>")


def summed(types: tuple[Type, ...]) -> Type:
    (found,) = types
    if found.kind != "DECIMAL":
        return BIGINT if found.integral else DOUBLE
    precision, scale = decimal(found)
    return Type(f"DECIMAL({min(_MAX_PRECISION, precision + 10)}, {scale})")


def _averaged(types: tuple[Type, ...]) -> Type:
    (found,) = types
    if found.kind != "DECIMAL":
        return DOUBLE
    precision, scale = decimal(found)
    return bounded(precision + 4, scale + 4)


def _folds(name: str, takes: Takes, *also: str, distinct: bool = True) -> Function:
    """A function that merges its results by itself."""
    return Function(name, (takes,), _same, FOLD, also, name if distinct else None)


def _statistic(name: str, keeps: Keeps, *also: str) -> Function:
    return Function(name, (NUMBER, NUMBER) if keeps is BOTH else (NUMBER,), _always(DOUBLE), keeps, also)


def _percentile(name: str) -> Function:
    return Function(name, (NUMBER,), _always(DOUBLE), BAG)


_ALL = (
    Function("COUNT", (ANYTHING,), _always(BIGINT), COUNTER, distinct="COUNT DISTINCT", several=True),
    Function("COUNT_IF", (TRUTH,), _always(BIGINT), COUNTER),
    Function("SUM", (NUMBER,), summed, TOTAL, distinct="SUM DISTINCT"),
    Function("AVG", (NUMBER,), _averaged, MEAN, ("MEAN",), "AVG DISTINCT"),
    _folds("MIN", IN_ORDER),
    _folds("MAX", IN_ORDER),
    _folds("ANY_VALUE", IN_ORDER),
    _folds("BOOL_AND", TRUTH, "EVERY"),
    _folds("BOOL_OR", TRUTH, "SOME", "ANY"),
    _folds("BIT_AND", INTEGER),
    _folds("BIT_OR", INTEGER),
    _folds("BIT_XOR", INTEGER, distinct=False),
    Function("MAX_BY", (IN_ORDER, IN_ORDER), _same, CHOICE),
    Function("MIN_BY", (IN_ORDER, IN_ORDER), _same, CHOICE),
    _statistic("VAR_SAMP", SPREAD, "VARIANCE"),
    _statistic("VAR_POP", SPREAD),
    _statistic("STDDEV_SAMP", SPREAD, "STDDEV", "STD"),
    _statistic("STDDEV_POP", SPREAD),
    _statistic("SKEWNESS", SHAPE),
    _statistic("KURTOSIS", SHAPE),
    _statistic("COVAR_SAMP", BOTH),
    _statistic("COVAR_POP", BOTH),
    _statistic("CORR", BOTH),
    Function("APPROX_COUNT_DISTINCT", (IN_ORDER,), _always(BIGINT), SKETCH, distinct="APPROX_COUNT_DISTINCT"),
    Function("COUNT DISTINCT", (IN_ORDER,), _always(BIGINT), SET, several=True),
    Function("SUM DISTINCT", (NUMBER,), summed, SET),
    Function("AVG DISTINCT", (NUMBER,), _averaged, SET),
    Function("COLLECT_SET", (IN_ORDER,), _listed, SET, distinct="COLLECT_SET"),
    Function("COLLECT_LIST", (IN_ORDER,), _listed, BAG, ("ARRAY_AGG",), "COLLECT_SET"),
    Function("MODE", (IN_ORDER,), _same, BAG),
    _percentile("MEDIAN"),
    _percentile("PERCENTILE"),
    _percentile("PERCENTILE_CONT"),
    _percentile("PERCENTILE_DISC"),
)
FUNCTIONS = {each.name: each for each in _ALL}
NAMES = {name: each for each in _ALL for name in (each.name, *each.also) if " " not in name}
"""By the names that a call may have. `COUNT DISTINCT` is none: it is written COUNT(DISTINCT …)."""
