"""Continuous SQL on Apache Spark with state that is proven to stay bounded."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from caesura.diagnostics import CaesuraError, Diagnostic
    from caesura.progress import Progress
    from caesura.punctuation import Punctuation
    from caesura.session import Prepared, Session

__all__ = ["CaesuraError", "Diagnostic", "Prepared", "Progress", "Punctuation", "Session"]
_MODULES = {
    "CaesuraError": "diagnostics",
    "Diagnostic": "diagnostics",
    "Prepared": "session",
    "Progress": "progress",
    "Punctuation": "punctuation",
    "Session": "session",
}


def __getattr__(name: str) -> object:
    """Loaded when it is asked for: a command that is stopped while it loads is to end without a traceback."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
