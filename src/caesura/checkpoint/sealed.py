"""Small files of a checkpoint: JSON that says what it is, by which format, and whether it is whole."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from caesura.checkpoint.damage import damaged
from caesura.checkpoint.storage import Storage
from caesura.checkpoint.typed import MisfitError, Readers, typed
from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code

FORMAT = 12
"""Of everything in a checkpoint (docs/checkpoint.md)."""


def seal(kind: str, content: object) -> str:
    return json.dumps(
        {"caesura": kind, "format": FORMAT, "checksum": _checksum(content), "content": content}, indent=1
    )


def _unsealed(kind: str, text: str, path: str) -> Any:
    """The content of a file, if it is what it was when it was written."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"it is no JSON: {error}") from error
    if not isinstance(found, dict) or found.get("caesura") != kind or "content" not in found:
        raise damaged(path, f"it is no {kind} of Caesura")
    if found.get("format") != FORMAT:
        raise CaesuraError(
            Diagnostic(
                Code.OTHER_FORMAT,
                f"`{path}` was written by another version of Caesura",
                because=(f"its format is {found.get('format')}, and this version reads and writes {FORMAT}",),
                help=("continue with the version that wrote it, or use a new checkpoint",),
            )
        )
    if found.get("checksum") != _checksum(found["content"]):
        raise damaged(path, "its content does not fit its checksum")
    return found["content"]


def read_sealed(storage: Storage, kind: str, content: Any, *parts: str, readers: Readers | None = None) -> Any:
    """The content of a file, as what it is written from."""
    text, path = storage.read(*parts).decode(errors="replace"), storage.path(*parts)
    try:
        return typed(content, _unsealed(kind, text, path), readers or {})
    except MisfitError as error:
        raise damaged(path, f"it does not have the form of a {kind}: {error}") from error


def _checksum(content: object) -> str:
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]
