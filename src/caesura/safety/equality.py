"""Step 1 of THEORY section 4: columns that are equal in every row, closed transitively.

Li et al. use the join predicates as written. The closure is needed: with S1.A = S2.A and S2.A = S3.A a
punctuation of S3 on A closes a row of S1 although no predicate compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from caesura.expression import Expr
from caesura.plan import (
    Compare,
    Distinct,
    Filter,
    Frame,
    Group,
    Join,
    Merge,
    Plan,
    Project,
    Rank,
    Scan,
    Session,
    Sort,
    types_of,
)
from caesura.safety.predicates import conjuncts
from caesura.types import Type


@dataclass(frozen=True)
class EqualityClass:
    """Columns that have the same value in every row of a node, and that value if a filter fixes it."""

    columns: tuple[str, ...]
    constant: Expr | None = None


@lru_cache(maxsize=4096)
def equality_classes(plan: Plan) -> tuple[EqualityClass, ...]:
    """The classes that hold in every row `plan` emits; a column in none of them is equal to no other.

    The residual of a join says nothing here: what could pin is in its equalities and in the filters below it.
    """
    match plan:
        case Scan():
            return ()
        case Filter(input=below, predicate=predicate):
            return _merge((*equality_classes(below), *_stated(predicate.tree, types_of(below))))
        case Project():
            return _projected(plan)
        case Join():
            return _joined(plan)
        case Group(input=below, keys=keys) | Session(input=below, keys=keys):
            return _renamed(equality_classes(below), {key: [key] for key in keys})
        case Distinct(input=below) | Sort(input=below) | Rank(input=below) | Compare(inputs=(below, _)):
            return equality_classes(below)
        case Frame(input=below):
            return equality_classes(below)
        case Merge():
            return ()  # what holds on one side need not hold on the other


@lru_cache(maxsize=1024)
def matching_classes(join: Join) -> tuple[EqualityClass, ...]:
    """The classes that hold where a row of every input meets the others, whatever becomes of lonely rows."""
    types = types_of(*join.inputs)
    inner = (c for each in join.inputs for c in equality_classes(each))
    joined = (EqualityClass((e.left, e.right)) for e in join.equalities if _exact(types, e.left, e.right))
    said = _stated(join.residual.tree, types) if join.residual is not None else ()
    return _merge((*inner, *joined, *said))


def _joined(join: Join) -> tuple[EqualityClass, ...]:
    """A lonely row has NULLs in place of its partner, so that only what was said of itself still holds."""
    match join.kind:
        case "inner":
            return matching_classes(join)
        case "semi":
            kept = {column.name: [column.name] for column in join.columns}
            return _renamed(matching_classes(join), kept)
        case "left" | "anti":
            return equality_classes(join.inputs[0])
        case "right":
            return equality_classes(join.inputs[1])
        case "full":
            return ()


def inexact(join: Join) -> tuple[tuple[str, str], ...]:
    """Equalities that pin nothing, because one value on one side may equal several on the other."""
    types = types_of(*join.inputs)
    return tuple((e.left, e.right) for e in join.equalities if not _exact(types, e.left, e.right))


def _exact(types: dict[str, Type], left: str, right: str) -> bool:
    return family(types[left]) == family(types[right])


def family(type: Type) -> str:
    """Within a family `=` is transitive and a value has one equal in each type.

    Not so across families: Spark compares BIGINT with DOUBLE as DOUBLE, where 2^53 and 2^53 + 1 are equal,
    so a punctuation on one of them says too little.
    """
    if type.integral:
        return "DECIMAL scale 0"
    match type.kind:
        case "DECIMAL":
            _, _, scale = type.sql.partition(",")
            return f"DECIMAL scale {scale.strip(' )') or 0}"
        case "FLOAT" | "DOUBLE":
            return "DOUBLE"
        case "STRING" | "VARCHAR":
            return "STRING"
        case _:
            return type.sql


def _stated(predicate: exp.Expr, types: dict[str, Type]) -> Iterator[EqualityClass]:
    """What the conjuncts of a predicate say: `column = column` and `column = constant`."""
    for conjunct in conjuncts(predicate):
        if not isinstance(conjunct, exp.EQ):
            continue
        for one, other in ((conjunct.left, conjunct.right), (conjunct.right, conjunct.left)):
            if not isinstance(one, exp.Column):
                continue
            if isinstance(other, exp.Column):
                if _exact(types, one.name, other.name):
                    yield EqualityClass((one.name, other.name))
            elif isinstance(other, exp.Expression) and fixes(other, types[one.name]):
                yield EqualityClass((one.name,), Expr(other, types[one.name]))


def fixes(tree: exp.Expr, type: Type) -> bool:
    """Whether `column = tree` leaves a column of `type` one value. NULL leaves it none and pins nothing."""
    match tree:
        case exp.Paren():
            return fixes(tree.this, type)
        case exp.Neg(this=exp.Literal() as number) | (exp.Literal(is_string=False) as number):
            exponent = "e" in number.name.lower()
            return family(type) == "DOUBLE" or (type.numeric and not exponent)
        case exp.Literal():
            return type.text or type.temporal
        case exp.Boolean():
            return type.boolean
        case exp.Cast(this=exp.Literal(), to=to):
            return family(Type(to.sql(dialect="spark").upper())) == family(type)
        case _:
            return False


def _projected(plan: Project) -> tuple[EqualityClass, ...]:
    names: dict[str, list[str]] = {}
    constants = []
    for output in plan.outputs:
        if output.expr.column is not None:
            names.setdefault(output.expr.column, []).append(output.name)
        elif fixes(output.expr.tree, output.expr.type):
            constants.append(EqualityClass((output.name,), output.expr))
    copies = (EqualityClass(tuple(several)) for several in names.values() if len(several) > 1)
    return _merge((*_renamed(equality_classes(plan.input), names), *copies, *constants))


def _renamed(classes: Iterable[EqualityClass], names: dict[str, list[str]]) -> tuple[EqualityClass, ...]:
    renamed = (
        EqualityClass(tuple(new for old in each.columns for new in names.get(old, ())), each.constant)
        for each in classes
    )
    return tuple(each for each in renamed if each.columns)


def _merge(classes: Iterable[EqualityClass]) -> tuple[EqualityClass, ...]:
    """Classes that share a column become one."""
    parent: dict[str, str] = {}

    def root(column: str) -> str:
        while (above := parent.setdefault(column, column)) != column:
            parent[column] = parent[above]
            column = above
        return column

    stated = tuple(classes)
    for each in stated:
        for column in each.columns:
            parent[root(column)] = root(each.columns[0])
    columns: dict[str, dict[str, None]] = {}
    constants: dict[str, Expr] = {}
    for each in stated:
        key = root(each.columns[0])
        columns.setdefault(key, {}).update(dict.fromkeys(each.columns))
        if each.constant is not None:
            constants.setdefault(key, each.constant)
    return tuple(EqualityClass(tuple(members), constants.get(key)) for key, members in columns.items())
