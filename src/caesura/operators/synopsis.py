"""What a join keeps of an input instead of its rows: a table that merges (THEORY section 8).

A combination of values that matter has one row, with the number of rows that had it and the aggregates over them;
or it has the row, or two, that finds a partner if any does. A synopsis of synopses is one of all their rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from caesura.operators.group import Partial
from caesura.operators.rows import Rows, quote

_KEY = "key of {}"
_ORDER = "order {}"
_CHOSEN = "chosen"


@dataclass(frozen=True)
class Synopsis:
    keys: Mapping[str, str]
    """Column → SQL over rows of the input: its value, or what stands for all values beyond the constants."""
    number: str
    """The column that counts rows."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """What is aggregated: name → SQL over rows of the input."""
    partials: tuple[Partial, ...] = ()
    columns: tuple[str, ...] = ()
    """Of the rows that stay, where rows stay."""
    orders: tuple[str, ...] = ()
    """SQL that tells rows apart besides the keys."""
    greatest: str | None = None
    """SQL over rows: the one with the greatest of it stays."""
    least: str | None = None
    small: bool = False
    """Whether it is so small, at its largest, that it is kept in one place."""

    @property
    def _extremes(self) -> bool:
        """Whether rows stay, and not their number."""
        return self.greatest is not None or self.least is not None

    def of(self, rows: Rows) -> Rows:
        """Of rows of the input."""
        return replace(self._chosen(rows) if self._extremes else self._counted(rows), small=self.small)

    def _counted(self, rows: Rows) -> Rows:
        named = {_KEY.format(name): sql for name, sql in self.keys.items()}
        outputs = {self.number: "count(*)", **{each.column.name: each.from_rows for each in self.partials}}
        grouped = rows.project({**named, **self.arguments}).grouped(named, outputs)
        back = dict(zip(named, self.keys, strict=True))
        return grouped.renamed({name: back.get(name, name) for name in grouped.columns})

    def merged(self, several: Rows) -> Rows:
        """Of tables like this one."""
        several = several.gathered() if self.small else several
        if self._extremes:
            return self._chosen(several)
        merges = {each.column.name: each.merge for each in self.partials}
        return several.grouped(self.keys, {self.number: f"sum({quote(self.number)})", **merges})

    def _chosen(self, rows: Rows) -> Rows:
        keys = {_KEY.format(name): sql for name, sql in self.keys.items()}
        keys |= {_ORDER.format(i): sql for i, sql in enumerate(self.orders)}
        row = _struct({f"c{i}": quote(name) for i, name in enumerate(self.columns)})
        # A struct is never NULL: where nothing counts, any row will do, but there has to be one.
        by = {"max_by": self.greatest, "min_by": self.least}
        chosen = [f"{choose}({quote('row')}, {quote(choose)})" for choose, sql in by.items() if sql is not None]
        orders = {choose: _struct({"by": sql}) for choose, sql in by.items() if sql is not None}
        grouped = rows.project({**keys, "row": row, **orders}).grouped(
            keys, {_CHOSEN: f"array_distinct(array({', '.join(chosen)}))"}
        )
        one = grouped.exploded({_CHOSEN: _CHOSEN})
        return one.project({name: f"{_CHOSEN}.c{i}" for i, name in enumerate(self.columns)})


def _struct(fields: Mapping[str, str]) -> str:
    listed = ", ".join(f"'{name}', {sql}" for name, sql in fields.items())
    return f"named_struct({listed})"


@dataclass(frozen=True)
class Given:
    """What a join with synopses gives its readers: column → SQL over what its inputs know, so many `times`."""

    outputs: Mapping[str, str]
    times: str | None = None
    """SQL; None: once."""

    def of(self, rows: Rows) -> Rows:
        return rows.project(self.outputs) if self.times is None else rows.repeated(self.outputs, self.times)
