"""Ctrl-C and `kill`: a command ends as it would by itself, only sooner."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
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
def stoppable() -> Iterator[None]:
    """`Stopped` is raised in the main thread when a signal comes."""
    with _handlers_restored():
        for each in _SIGNALS:
            signal.signal(each, _stop)
        yield


@contextmanager
def postponed() -> Iterator[None]:
    """What takes a few seconds and cannot be left half done, such as starting a JVM: a signal that comes meanwhile
    is delivered at the end."""
    if current_thread() is not main_thread():  # which alone is interrupted
        yield
        return
    came: list[int] = []
    with _handlers_restored():
        for each in _SIGNALS:
            signal.signal(each, lambda number, frame: came.append(number))
        try:
            yield
        except KeyboardInterrupt:  # of the handler that Spark sets when it has started
            came.append(signal.SIGINT)
        except Exception:
            if not came:  # else what is started had the signal too, if it was sent to all processes of a group
                raise
    for number in came[:1]:
        signal.raise_signal(number)


@contextmanager
def _handlers_restored() -> Iterator[None]:
    """Handlers are those of before at the end, whoever has set others."""
    before = {each: signal.getsignal(each) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
