"""A benchmark outlives what it measures."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bench.process import Failed, LastingProcess

LIMIT = 1.0
STARTED: list[int] = []
"""What the process of this module has started, so that it lives as long."""


def raises() -> int:
    raise ValueError("for a reason\nand its details")


def dies() -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def hangs() -> int:
    time.sleep(60)
    return 0


def starts_another() -> int:
    STARTED.append(os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "60"))
    return STARTED[-1]


def runs(pid: int) -> bool:
    """Whoever has ended and waits for its parent does not."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(") ", 1)[1][0] != "Z"


def test_calls_share_the_process() -> None:
    with LastingProcess(LIMIT) as process:
        assert process.call(os.getpid) == process.call(os.getpid) != os.getpid()


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (raises, "ValueError: for a reason"),
        (dies, "its process died"),
        (hangs, "no answer within 1 s"),
    ],
)
def test_after_a_failure_another_process_answers(call: Callable[[], int], reason: str) -> None:
    with LastingProcess(LIMIT) as process:
        first = process.call(os.getpid)
        assert process.call(call) == Failed(reason)
        second = process.call(os.getpid)
        assert isinstance(second, int)
        assert second != first


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc who runs")
def test_what_it_has_started_goes_with_it() -> None:
    with LastingProcess(LIMIT) as process:
        started = process.call(starts_another)
        assert isinstance(started, int)
        assert runs(started)
        process.call(hangs)
        assert not runs(started)
