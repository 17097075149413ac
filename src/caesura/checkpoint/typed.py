"""Values of JSON as the types that a dataclass says: what does not fit is refused, however it got there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

Readers: TypeAlias = Mapping[Any, Callable[[Any], Any]]
_GREATEST = 1e300


class MisfitError(ValueError):
    """The message says what does not fit."""


def typed(kind: Any, value: Any, readers: Readers) -> Any:
    """`readers`: for types that say too little about what they are written as."""
    if kind in readers:
        return readers[kind](value)
    if is_dataclass(kind):
        return _instance(kind, value, readers)
    outer, inner = get_origin(kind), get_args(kind)
    if outer in (Union, UnionType):
        return _one_of(inner, value, readers)
    if outer is Literal:
        return _required(value, value in inner and isinstance(value, str), kind)
    if outer is tuple:
        return _tuple(inner, value, readers)
    if outer in (dict, Mapping):
        _required(value, isinstance(value, dict), "an object")
        return {typed(inner[0], key, readers): typed(inner[1], each, readers) for key, each in value.items()}
    if kind is float:
        return float(_required(value, type(value) in (int, float) and abs(value) <= _GREATEST, "number"))
    return _required(value, type(value) is kind, kind)


def _instance(kind: Any, value: Any, readers: Readers) -> Any:
    """From its parts by name or, written shorter, in their order."""
    parts = fields(kind)
    if isinstance(value, list):
        _required(value, len(value) == len(parts), kind)
        value = {part.name: each for part, each in zip(parts, value, strict=True)}
    _required(value, isinstance(value, dict), kind)
    _required(value, value.keys() == {part.name for part in parts}, kind)
    hints = get_type_hints(kind)
    return kind(**{name: typed(hints[name], each, readers) for name, each in value.items()})


def _one_of(kinds: tuple[Any, ...], value: Any, readers: Readers) -> Any:
    if value is None and NoneType in kinds:
        return None
    (kind,) = (kind for kind in kinds if kind is not NoneType)
    return typed(kind, value, readers)


def _tuple(kinds: tuple[Any, ...], value: Any, readers: Readers) -> tuple[Any, ...]:
    _required(value, isinstance(value, list), "a list")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(typed(kinds[0], each, readers) for each in value)
    _required(value, len(value) == len(kinds), f"a list of {len(kinds)}")
    return tuple(typed(kind, each, readers) for kind, each in zip(kinds, value, strict=True))


def _required(value: Any, fits: bool, kind: object) -> Any:
    if not fits:
        name = kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
        raise MisfitError(f"{repr(value)[:60]} is no {name}")
    return value
