"""What the parts of a plan are called when we speak of them to the user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from caesura.diagnostics import Span
from caesura.expression import Expr, shown
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
    walk,
)

T = TypeVar("T")
SHOWN = 6
"""A sentence names at most so many inputs; `explain` shows all."""


@dataclass(frozen=True)
class Names:
    """`operators`: a name for each operator that takes rows together, unique within the plan.

    `repeated`: relations that are read more than once, so that only the alias tells which is meant.
    """

    operators: Mapping[Plan, str]
    repeated: frozenset[str]

    def input(self, plan: Plan) -> str:
        """The alias of an operator's input; for an input without one, the operator that produces it."""
        match plan:
            case Scan(alias=alias):
                return alias
            case Filter(input=below):
                return self.input(below)
            case Project(input=below):
                return alias_of(plan) or self.input(below)
            case _:
                return self.operators[plan]

    def shown(self, plan: Plan) -> str:
        """The same for a sentence: a relation read once goes by its own name."""
        match plan:
            case Scan(relation=relation, alias=alias):
                return f"`{alias if relation.name in self.repeated else relation.name}`"
            case Filter(input=below) | Project(input=below) if self.input(below) == self.input(plan):
                return self.shown(below)
            case _:
                return f"`{self.input(plan)}`"


def names(plan: Plan) -> Names:
    operators: dict[Plan, str] = {}
    counts: Counter[str] = Counter()
    relations: Counter[str] = Counter()
    for node in walk(plan):
        if isinstance(node, Scan):
            relations[node.relation.name] += 1
        elif (kind := _kind(node)) is not None:
            counts[kind] += 1
            operators[node] = kind if counts[kind] == 1 else f"{kind}_{counts[kind]}"
    return Names(operators, frozenset(name for name, count in relations.items() if count > 1))


def _kind(plan: Plan) -> str | None:
    match plan:
        case Scan() | Filter() | Project():
            return None
        case Join(kind="inner"):
            return "join"
        case Join(kind=kind):
            return f"{kind}_join"
        case Compare(kind=kind):
            return kind
        case Merge():
            return "union"
        case Group():
            return "group"
        case Session():
            return "session"
        case Distinct():
            return "distinct"
        case Sort():
            return "sort"
        case Rank():
            return "rank"
        case Frame():
            return "frame"


def scans(plan: Plan) -> tuple[Scan, ...]:
    return tuple(node for node in walk(plan) if isinstance(node, Scan))


def alias_of(project: Project) -> str | None:
    """The alias that a projection puts on a subquery, view or derived stream; None if it is no such projection."""
    if all(output.name == output.expr.column for output in project.outputs):
        return None
    aliases = {output.name.partition(".")[0] if "." in output.name else None for output in project.outputs}
    return aliases.pop() if len(aliases) == 1 else None


def bare(column: str) -> str:
    """A column without its alias."""
    return column.partition(".")[2] or column


def written(plan: Plan, column: str) -> str:
    """A column as the user wrote it: an expression where a projection computes it."""
    expr = computed(plan, column)
    if expr is None:
        return bare(column)
    return bare(expr.column) if expr.column is not None else shown(expr.tree)


def computed(plan: Plan, column: str) -> Expr | None:
    """What a projection computes it by."""
    match plan:
        case Project(outputs=outputs):
            return next(output.expr for output in outputs if output.name == column)
        case _:
            return None


def listed(columns: tuple[str, ...]) -> str:
    """`id`, or `(bidder, auction)`, without aliases."""
    plain = ", ".join(bare(column) for column in columns)
    return plain if len(columns) == 1 else f"({plain})"


def series(parts: tuple[str, ...]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def few(parts: Sequence[T], shown: Callable[[T], str]) -> str:
    """a, b and c; of many the first, and how many there are besides."""
    if len(parts) <= SHOWN + 1:
        return series(tuple(map(shown, parts)))
    return series((*map(shown, parts[:SHOWN]), f"{len(parts) - SHOWN} more"))


def place(plan: Plan) -> Span | None:
    """Where the user wrote it. A projection has a place of its own only if it stands for something in FROM."""
    match plan:
        case Project(input=below) if alias_of(plan) is None:
            return place(below)
        case Filter(input=below):
            return place(below)
        case _:
            return plan.span
