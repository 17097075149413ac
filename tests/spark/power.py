"""A process that dies, within one that lives: from one moment on nothing that it does reaches the disk.

A kill costs a new JVM, some seconds. Here the code fails at a fail point, and all that it does to clean up fails,
as it would not be done at all. What Spark's tasks were writing they write, as they may before a kill.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from caesura.checkpoint import failpoints
from caesura.checkpoint.storage import LocalStorage
from caesura.diagnostics import CaesuraError
from caesura.spark.database import Database
from caesura.testing.script import Script

_CHANGES = ("write", "create", "move", "make", "delete")


class PowerError(OSError):
    pass


ANY = "any change"
"""Of files or of a database, in place of a fail point."""


class Power:
    """Lost when a place is reached for the n-th time."""

    def __init__(self, point: str, times: int) -> None:
        self.point, self.times = point, times
        self.reached = Counter[str]()
        self.lost = False

    def watch(self, point: str) -> None:
        self.reached[point] += 1
        if point == self.point and self.reached[point] == self.times:
            self.lost = True
        self.require()

    def change(self) -> None:
        self.watch(ANY)

    def require(self) -> None:
        if self.lost:
            raise PowerError("power lost")


@contextmanager
def power(point: str, times: int) -> Iterator[Power]:
    power = Power(point, times)
    with pytest.MonkeyPatch.context() as patch:
        for name in _CHANGES:
            change = getattr(LocalStorage, name)

            def changed(storage: LocalStorage, *given: object, change: object = change) -> object:
                power.change()
                return change(storage, *given)  # type: ignore[operator]

            patch.setattr(LocalStorage, name, changed)
        connect = Database.connect

        def connected(database: Database) -> object:
            power.change()
            return connect(database)

        patch.setattr(Database, "connect", connected)
        patch.setattr(failpoints, "watchers", [power.watch])
        yield power


def killed(script: Script, point: str, times: int) -> bool:
    """Run a script; whether it lost its power there, which is all that it may fail of."""
    with power(point, times) as lost:
        try:
            script.run()
        except CaesuraError:
            assert lost.lost
    return lost.lost
