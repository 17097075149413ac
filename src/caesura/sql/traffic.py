"""OPTIONS (rate 1000, distinct 'id 5000, seller 100', closes 'id 50'): how much will come, for the choice of join
plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from caesura.catalog import Column, Traffic
from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.sql import syntax
from caesura.sql.refusal import listing, nearest, refusal
from caesura.sql.spans import span

RATE, DISTINCT, CLOSES = "rate", "distinct", "closes"
TRAFFIC = (RATE, DISTINCT, CLOSES)
"""The options."""
_FIGURES = {DISTINCT: "a number of open values", CLOSES: "a number of values closed per second"}


def declare_traffic(
    options: Mapping[str, syntax.OptionPair], columns: tuple[Column, ...], source: Source
) -> Traffic:
    by_column = {
        name: tuple(_by_column(name, options[name], columns, source)) for name in _FIGURES if name in options
    }
    return Traffic(
        _rate(options[RATE], source) if RATE in options else None,
        by_column.get(DISTINCT, ()),
        by_column.get(CLOSES, ()),
    )


def _rate(pair: syntax.OptionPair, source: Source) -> float:
    number = _figure(pair.text("value"))
    if number is None:
        raise _refused(pair, source, "`rate` is a number of rows per second, from 1e-9 to 1e15", "rate 1000")
    return number


def _by_column(
    option: str, pair: syntax.OptionPair, columns: tuple[Column, ...], source: Source
) -> Iterator[tuple[str, float]]:
    spelling = {column.name.lower(): column.name for column in columns}
    seen: set[str] = set()
    for part in pair.text("value").split(","):
        name, _, text = part.strip().rpartition(" ")
        number = _figure(text)
        known = spelling.get(name.strip().lower())
        if not name.strip() or number is None:
            message = f"`{option}` lists columns, each with {_FIGURES[option]}, from 1e-9 to 1e15"
            raise _refused(pair, source, message, f"{option} 'id 5000, seller 100'")
        if known is None:
            close = nearest(name.strip(), spelling.values())
            because = f"the columns are {listing(spelling.values())}"
            message = f"`{option}` names `{name.strip()}`, which is not a column"
            raise _refused(pair, source, message, f"did you mean `{close}`?" if close else None, because)
        if known in seen:
            raise _refused(pair, source, f"`{option}` names `{known}` twice")
        seen.add(known)
        yield known, number


def _figure(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if Traffic.figure(number) else None


def _refused(
    pair: syntax.OptionPair, source: Source, message: str, help: str | None = None, because: str | None = None
) -> CaesuraError:
    return refusal(Code.BAD_OPTION, message, span(pair, source), help=help, because=because)
