"""What a checkpoint is refused with that is not as it was left."""

from __future__ import annotations

from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code


def damaged(path: str, why: str) -> CaesuraError:
    return CaesuraError(
        Diagnostic(
            Code.DAMAGED,
            f"the checkpoint is damaged: `{path}`",
            because=(why,),
            help=(
                "nothing was changed; put the file back as it was, from a copy of the checkpoint",
                "or start with a new --checkpoint, from the beginning of the streams, and empty sinks",
            ),
        )
    )
