"""Processes of their own for what is measured: one for a single call, or one that lasts."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context, parent_process
from threading import Thread
from types import TracebackType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def isolated(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call it in a process of its own, so that no system inherits the JVM, heap or caches of another."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()


@dataclass(frozen=True)
class Failed:
    """A call raised, took too long, or was the end of its process."""

    reason: str


class LastingProcess:
    """A process that answers one call after the other, so that a JVM in it is warm for the next.

    A call that fails costs the process and all that it has started, as nobody knows what state they are in. The
    next call is answered by a new one.
    """

    def __init__(self, limit: float) -> None:
        """`limit` are the seconds that a call may take."""
        self._limit = limit
        self._started: _Group | None = None

    def __enter__(self) -> LastingProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Whoever is interrupted does not wait for an answer."""
        if self._started is not None:
            if kind is None:
                self._started.pool.shutdown()
            else:
                self._started.kill()

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | Failed:
        if self._started is None:
            self._started = _Group()
        answer = self._started.pool.submit(_told, partial(function, *args, **kwargs))
        try:
            error = answer.exception(self._limit)
        except TimeoutError:
            return self._lost(f"no answer within {self._limit:g} s")
        match error:
            case None:
                return answer.result()
            case BrokenProcessPool():
                return self._lost("its process died")
            case _:
                return self._lost(str(error))

    def _lost(self, reason: str) -> Failed:
        assert self._started is not None
        self._started.kill()
        self._started = None
        return Failed(reason)


class _Group:
    """A worker and whatever it starts, which are killed together."""

    def __init__(self) -> None:
        self.pool = ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn"), initializer=_lead)
        self._leader = self.pool.submit(os.getpid).result()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._leader, signal.SIGKILL)
        self.pool.shutdown()


def _lead() -> None:
    """A group that does not outlive the benchmark, however that ends: its JVMs would hold their heaps."""
    os.setpgrp()
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os.killpg(0, signal.SIGKILL)


def _told(function: Callable[[], T]) -> T:
    """Errors that hold an object of a JVM cannot leave the process; what they say can."""
    try:
        return function()
    except Exception as error:
        said = str(error).strip().split("\n")[0]
        raise RuntimeError(f"{type(error).__name__}: {said}") from error
