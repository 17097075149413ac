"""A short name for the meaning of a pipeline: a checkpoint belongs to one pipeline only."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from hashlib import sha256

from sqlglot import exp

from caesura.plan import Pipeline


def fingerprint(pipeline: Pipeline) -> str:
    """Equal for queries that are equal as values: white space, comments and spans do not matter."""
    return sha256(_canonical(pipeline.queries).encode()).hexdigest()[:16]


def _canonical(value: object) -> str:
    if isinstance(value, exp.Expression):
        return value.sql(dialect="spark", comments=False)
    if is_dataclass(value):
        parts = (f"{f.name}={_canonical(getattr(value, f.name))}" for f in fields(value) if f.compare)
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_canonical, value))})"
    return repr(value)
