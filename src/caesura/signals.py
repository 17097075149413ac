"""Ctrl-C and `kill`: a command ends as it would by itself, only sooner."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """A signal came. No handler of errors is to take it for one."""

    def __init__(self, number: int) -> None:
        self.status = 128 + number


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_DFL)  # a second one does not wait for a clean end
    raise Stopped(number)


@contextmanager
def stoppable() -> Iterator[Callable[[], None]]:
    """`Stopped` is raised in the main thread when a signal comes. Gives what is to be called after anybody else
    has set a handler, as Spark does."""
    before = {each: signal.getsignal(each) for each in _SIGNALS}

    def again() -> None:
        for each in _SIGNALS:
            signal.signal(each, _stop)

    again()
    try:
        yield again
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
