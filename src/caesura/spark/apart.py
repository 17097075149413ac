"""Folders that a pipeline reads and those that it writes: it is not to take its own files for rows."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

from caesura.checkpoint.storage import visible


def reaches(folder: str, other: str) -> bool:
    """Whether Spark finds what is in another folder when it reads this one: it looks into all but hidden ones."""
    above, below = _parts(folder), _parts(other)
    return below[: len(above)] == above and all(map(visible, below[len(above) :]))


def _parts(place: str) -> tuple[str, ...]:
    """Of a local folder by whatever names it is reached, or of a URL."""
    return PurePosixPath(place if "://" in place else os.path.realpath(place)).parts
