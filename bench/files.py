"""Files as Spark's source of a stream takes them."""

from __future__ import annotations

import os
from pathlib import Path

from caesura.testing.slices import FIRST_MODIFIED


def in_order(directory: Path) -> None:
    """The file source takes the oldest first: that is to be the first partition."""
    for number, file in enumerate(sorted(directory.glob("part-*.parquet"))):
        os.utime(file, (FIRST_MODIFIED + number,) * 2)
