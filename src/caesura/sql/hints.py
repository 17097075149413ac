"""`/*+ MJOIN */` and `/*+ TREE((a, b), c) */`: as which tree of joins a SELECT is executed; `/*+ DEMAND */` and
`/*+ NO_DEMAND */`: whether it makes partial results only when somebody can use them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.plan import Filter, Join, Plan, Tree, with_inputs
from caesura.producers import demanding
from caesura.sql.names import Input
from caesura.sql.refusal import listing, nearest, refusal
from caesura.sql.spans import span

_SHAPES = ("MJOIN", "TREE")
_DEMANDS = {"DEMAND": True, "NO_DEMAND": False}
_HELP = "write the aliases of FROM, each once: /*+ TREE((a, b), c) */"


def is_shape(hint: exp.Hint) -> bool:
    """Whether these are hints of Caesura; those of Spark are not executed."""
    return bool(hint.expressions) and all(_word(each) in (*_SHAPES, *_DEMANDS) for each in hint.expressions)


def shaped(plan: Plan, hint: exp.Hint | None, inputs: tuple[Input, ...], source: Source) -> Plan:
    """The plan that FROM gives, with the tree that the hint asks for in its inner join."""
    if hint is None:
        return plan
    return _Shaping(hint, inputs, source).shaped(plan)


def _word(node: object) -> str:
    return node.name.upper() if isinstance(node, exp.Expr) else str(node).upper()


@dataclass(frozen=True)
class _Shaping:
    hint: exp.Hint
    inputs: tuple[Input, ...]
    source: Source

    def shaped(self, plan: Plan) -> Plan:
        joins = list(_joins(plan))
        shapes = [each for each in self.hint.expressions if _word(each) in _SHAPES]
        demands = [each for each in self.hint.expressions if _word(each) in _DEMANDS]
        if len(shapes) > 1 or len(demands) > 1:
            twice = f"{_word(shapes[0])} and {_word(shapes[1])}" if len(shapes) > 1 else " and ".join(_DEMANDS)
            raise self._refused("a SELECT takes one hint about its joins, and one about demand", because=twice)
        if not joins:
            raise self._refused("this SELECT has no inner join to shape")
        trees = dict(tree for asked in shapes for tree in self._shapes(asked, joins))
        demand = next((_DEMANDS[self._bare(each)] for each in demands), None)
        if demand and not any(map(_makes_partial_results, joins)):
            raise self._refused(
                "this SELECT has no join of three or more inputs",
                "leave DEMAND out",
                "a join of two makes no partial results, and none of its inputs is made by a join of its own",
            )
        return _replaced(plan, trees, demand)

    def _shapes(self, asked: exp.Expr, joins: list[Join]) -> Iterator[tuple[Join, Tree]]:
        if _word(asked) == "TREE":
            if not isinstance(asked, exp.Anonymous) or len(asked.expressions) < 2:
                raise self._refused("TREE takes the inputs that are joined, at least two", _HELP)
            yield self._tree(asked.expressions, joins)
        elif self._bare(asked):
            yield from ((join, tuple(range(len(join.inputs)))) for join in joins)

    def _bare(self, asked: exp.Expr) -> str:
        word = _word(asked)
        if isinstance(asked, exp.Anonymous):
            raise self._refused(f"{word} takes no inputs", f"write /*+ {word} */; TREE takes them")
        return word

    def _tree(self, nodes: list[exp.Expr], joins: list[Join]) -> tuple[Join, Tree]:
        """The one inner join that has these inputs. Where an outer join stands between, there are several."""
        names = [name for node in nodes for name in self._names(node)]
        plans = [self._input(name).plan for name in names]
        join = next((join for join in joins if any(plans[0] in _items(below) for below in join.inputs)), None)
        if join is None:
            raise self._refused(f"`{names[0]}` is not an input of an inner join")
        owner = {item: i for i, below in enumerate(join.inputs) for item in _items(below)}
        seen: dict[int, str] = {}
        for name, item in zip(names, plans, strict=True):
            if item not in owner:
                raise self._refused(f"`{names[0]}` and `{name}` are not inputs of one inner join")
            if (first := seen.get(owner[item])) is not None:
                if first.lower() == name.lower():
                    raise self._refused(f"`{name}` is named twice", _HELP)
                raise self._refused(f"`{name}` is one input with `{first}`", f"leave `{name}` out")
            seen[owner[item]] = name
        missing = [self._alias(below) for i, below in enumerate(join.inputs) if i not in seen]
        if missing:
            raise self._refused(f"TREE leaves out {listing(missing)}", _HELP)
        position = {name: i for i, name in seen.items()}
        return join, tuple(self._shape(node, position) for node in nodes)

    def _names(self, node: exp.Expr) -> Iterator[str]:
        match node:
            case exp.Paren(this=exp.Expr() as inner):
                yield from self._names(inner)
            case exp.Tuple(expressions=[_, _, *_] as several):
                yield from (name for each in several for name in self._names(each))
            case exp.Column(this=exp.Identifier() as name) if len(node.parts) == 1:
                yield name.name
            case _:
                raise self._refused("TREE takes aliases and lists of them in parentheses", _HELP)

    def _shape(self, node: exp.Expr, position: dict[str, int]) -> Tree:
        node = node.unnest()
        if isinstance(node, exp.Tuple):
            return tuple(self._shape(each, position) for each in node.expressions)
        return position[node.name]

    def _input(self, name: str) -> Input:
        found = next((one for one in self.inputs if one.alias.lower() == name.lower()), None)
        if found is None:
            aliases = [one.alias for one in self.inputs]
            close = nearest(name, aliases)
            help = f"did you mean `{close}`?" if close else None
            raise self._refused(f"FROM has no input `{name}`", help, f"its inputs are {listing(aliases)}")
        return found

    def _alias(self, below: Plan) -> str:
        """The first alias of an input of the join."""
        return next(one.alias for one in self.inputs if one.plan in _items(below))

    def _refused(self, message: str, help: str | None = None, because: str | None = None) -> CaesuraError:
        return refusal(Code.HINT_INPUTS, message, span(self.hint, self.source), help=help, because=because)


def _makes_partial_results(join: Join) -> bool:
    """Whether it is an inner join of many inputs, or of one that another join makes."""
    return join.kind == "inner" and (len(join.inputs) > 2 or demanding(join))


def _joins(plan: Plan) -> Iterator[Join]:
    """The inner joins of FROM; its items are neither joins nor filters."""
    match plan:
        case Join(inputs=several, kind=kind):
            if kind == "inner":
                yield plan
            yield from (join for below in several for join in _joins(below))
        case Filter(input=below):
            yield from _joins(below)
        case _:
            pass


def _items(plan: Plan) -> Iterator[Plan]:
    """The items of FROM that an input of a join is made of."""
    match plan:
        case Join(inputs=several):
            yield from (item for below in several for item in _items(below))
        case Filter(input=below):
            yield from _items(below)
        case _:
            yield plan


def _replaced(plan: Plan, shapes: dict[Join, Tree], demand: bool | None) -> Plan:
    match plan:
        case Join(inputs=several):
            below = with_inputs(plan, tuple(_replaced(each, shapes, demand) for each in several))
            assert isinstance(below, Join)
            asked = demand if _makes_partial_results(plan) else None
            return replace(below, shape=shapes.get(plan), demand=asked)
        case Filter(input=one):
            return with_inputs(plan, (_replaced(one, shapes, demand),))
        case _:
            return plan
