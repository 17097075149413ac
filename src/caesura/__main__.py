"""The command `caesura`. A signal that comes while it is loaded ends it as one that comes later does."""

from __future__ import annotations

import os
import signal
from types import FrameType


def main() -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, _end)
    from caesura.cli import main as command

    command()


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, b"stopped before it began\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
