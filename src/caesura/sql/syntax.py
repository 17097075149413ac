"""The syntax that Caesura adds to Spark SQL, as sqlglot nodes. They never leave `caesura.sql`."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp


class Declaration(exp.Expression):
    """`CREATE STREAM | TABLE | SINK | VIEW name …`; `kind` is the word after CREATE."""

    arg_types: ClassVar[dict[str, bool]] = {
        "this": True,
        "kind": True,
        "columns": False,
        "constraints": False,
        "using": False,
        "location": False,
        "options": False,
        "on_violation": False,
        "expression": False,
    }


class OnViolation(exp.Expression):
    """`ON VIOLATION FAIL | QUARANTINE`; `this` is the last word."""


class OptionPair(exp.Expression):
    """One `key value` of OPTIONS, both as plain text."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "value": True}


class Constraint(exp.Expression):
    """A line of a stream's declaration that is not a column."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": False, "lifespan": False}


class PunctuatedByConstraint(Constraint):
    """`PUNCTUATED BY (a, b)`"""


class UniqueConstraint(Constraint):
    """`UNIQUE (k)`"""


class ClusteredByConstraint(Constraint):
    """`CLUSTERED BY (k)`"""


class OrderedByConstraint(Constraint):
    """`ORDERED BY (t [WITHIN interval] [IDLE AFTER interval])`"""

    arg_types: ClassVar[dict[str, bool]] = {**Constraint.arg_types, "slack": False, "idle": False}


class ClosedByConstraint(Constraint):
    """`CLOSED BY (k) WHEN condition`"""

    arg_types: ClassVar[dict[str, bool]] = {**Constraint.arg_types, "condition": True}


class CompleteByConstraint(Constraint):
    """`COMPLETE BY (h) PER (s) IN table`"""

    arg_types: ClassVar[dict[str, bool]] = {**Constraint.arg_types, "per": True, "table": True}


class DomainConstraint(Constraint):
    """`CHECK (condition)`, and `NOT NULL` after a column."""

    arg_types: ClassVar[dict[str, bool]] = {**Constraint.arg_types, "condition": True}


class WindowedTable(exp.Table):
    """A FROM item with a sliding window: `auction [RANGE INTERVAL 12 HOURS]`."""

    arg_types: ClassVar[dict[str, bool]] = {**exp.Table.arg_types, "window": True}


class EmitChanges(exp.Expression):
    """`EMIT CHANGES` after a select, kept in the select's `emit` argument."""

    arg_types: ClassVar[dict[str, bool]] = {}
