"""The SQL types of columns, as far as patterns and proofs care about them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

BITS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
"""Of the integers: how many bits a value has besides its sign."""
_FRACTIONS = {"FLOAT", "DOUBLE", "DECIMAL"}
_TEMPORAL = {"DATE", "TIMESTAMP", "TIMESTAMP_NTZ"}
_TEXT = {"STRING", "VARCHAR", "CHAR"}


@dataclass(frozen=True)
class Type:
    """A type by its Spark SQL spelling, in upper case: `BIGINT`, `DECIMAL(10, 2)`, `ARRAY<INT>`."""

    sql: str

    @cached_property
    def kind(self) -> str:
        """The spelling without parameters."""
        return self.sql.split("(")[0].split("<")[0].strip()

    @property
    def integral(self) -> bool:
        return self.kind in BITS

    @property
    def numeric(self) -> bool:
        return self.integral or self.kind in _FRACTIONS

    @property
    def temporal(self) -> bool:
        return self.kind in _TEMPORAL

    @property
    def text(self) -> bool:
        return self.kind in _TEXT

    @property
    def boolean(self) -> bool:
        return self.kind == "BOOLEAN"

    @property
    def enumerable(self) -> bool:
        """Between two values lie finitely many: closed constants grow together into ranges."""
        return self.integral or self.kind == "DATE"

    @property
    def scalar(self) -> bool:
        """Values of the type can be written in a punctuation."""
        return self.numeric or self.temporal or self.text or self.boolean

    def comparable(self, other: Type) -> bool:
        """Spark compares the two without guessing at the meaning of a text."""
        return (
            self == other
            or (self.numeric and other.numeric)
            or (self.temporal and other.temporal)
            or (self.text and other.text)
        )

    def __str__(self) -> str:
        return self.sql


BOOLEAN = Type("BOOLEAN")
STRING = Type("STRING")
BIGINT = Type("BIGINT")
