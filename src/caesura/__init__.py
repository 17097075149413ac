"""Continuous SQL on Apache Spark with state that is proven to stay bounded."""

from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.progress import Progress
from caesura.punctuation import Punctuation
from caesura.session import Prepared, Session

__all__ = ["CaesuraError", "Diagnostic", "Prepared", "Progress", "Punctuation", "Session"]
