"""How the front end says no."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from caesura.diagnostics import CaesuraError, Diagnostic, Label, Span
from caesura.diagnostics.code import Code


def refusal(
    code: Code,
    message: str,
    at: Span | None,
    note: str = "",
    *,
    also: Iterable[Label] = (),
    because: str | None = None,
    help: str | None = None,
) -> CaesuraError:
    """An error with one diagnostic, to be raised; `at` is None for what came from Python."""
    labels = (*((Label(at, note),) if at is not None else ()), *also)
    return CaesuraError(
        Diagnostic(
            code=code,
            message=message,
            labels=labels,
            because=(because,) if because else (),
            help=(help,) if help else (),
        )
    )


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, in its own spelling."""
    spelling = {one.lower(): one for one in known}
    close = get_close_matches(name.lower(), spelling, n=1, cutoff=0.6)
    return spelling[close[0]] if close else None


def listing(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
