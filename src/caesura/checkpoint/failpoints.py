"""Places in a slice at which a test ends the process, as if the machine had lost power.

`CAESURA_FAIL_AT=committed` ends it when that place is reached for the first time, `committed:3` for the third.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable

VARIABLE = "CAESURA_FAIL_AT"
POINTS = (
    "begun",  # Spark has noted the offsets
    "results staged",
    "state written",
    "ready",  # all is written but the manifest
    "prepared",  # the manifest lies on the desk
    "committed",
    "half published",  # after the first file
    "published",
    "cleaned",  # before Spark notes that the batch is done
)

_reached = Counter[str]()
victims: list[Callable[[], int]] = []
"""What gives the processes that are to end before this one."""


watchers: list[Callable[[str], None]] = []
"""Who is told of each place that is reached."""


def reach(point: str) -> None:
    for watcher in watchers:
        watcher(point)
    asked = os.environ.get(VARIABLE)
    if asked is None:
        return
    name, _, times = asked.partition(":")
    _reached[point] += 1
    if name == point and _reached[point] == int(times or 1):
        for victim in victims:
            os.kill(victim(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
