"""Files of SQL."""

from __future__ import annotations

from pathlib import Path

from caesura.diagnostics import CaesuraError, Diagnostic, Source
from caesura.diagnostics.code import Code


def read_source(file: str) -> Source:
    try:
        return Source(file, Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise CaesuraError(Diagnostic(Code.NO_FILE, f"`{file}` cannot be read", because=(str(why),))) from error
