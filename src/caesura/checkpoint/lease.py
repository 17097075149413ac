"""One writer at a time: who writes to a checkpoint or a sink holds a lease on it.

A holder says every few seconds that it is there. Its lease is taken by another one when its process is known to be
gone, when it has said nothing for a minute, or when somebody asks for it. It may only have been asleep: so who
takes a lease deletes the folder in which the one before prepares its commits, and nothing of it can be committed
any more.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from getpass import getuser
from pathlib import Path
from threading import Event, Thread
from time import time
from uuid import uuid4

from caesura.checkpoint.sealed import read_sealed, seal
from caesura.checkpoint.storage import Storage
from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code

LEASE = "lease"
_HOLDER, _SIGN = "holder.json", "seen"
_KIND = "lease"
_SIGN_EVERY, _GONE_AFTER = 10.0, 60.0
"""Seconds."""
_NEVER = 1e11
"""In seconds, too: what no calendar has."""


@dataclass(frozen=True)
class Holder:
    token: str
    host: str
    boot: str
    """Of the machine, and of the processes that can be seen there."""
    pid: int
    born: str
    """When the process began: a number may be given to another one."""
    user: str
    since: float
    seen: float

    def __post_init__(self) -> None:
        if not all(0 <= each < _NEVER for each in (self.since, self.seen)):
            raise ValueError(f"{self.since} or {self.seen} is no time")

    @staticmethod
    def me() -> Holder:
        pid, now = os.getpid(), time()
        return Holder(uuid4().hex, socket.gethostname(), _boot(), pid, _born(pid), _user(), now, now)

    @property
    def gone(self) -> bool:
        """Whether it is known that nobody holds the lease any more."""
        if time() - self.seen > _GONE_AFTER:
            return True
        mine = Holder.me()
        near = (self.host, self.boot) == (mine.host, mine.boot) and bool(self.boot)
        return near and _born(self.pid) != self.born

    def __str__(self) -> str:
        since = datetime.fromtimestamp(self.since, UTC)
        ago = max(0, round(time() - self.seen))
        return (
            f"process {self.pid} of {self.user} on {self.host} holds it since {since:%Y-%m-%d %H:%M:%S} UTC, "
            f"and was last heard of {ago} s ago"
        )


def _boot() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _born(pid: int) -> str:
    """Nothing if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state in "ZX" else fields[18]


def _user() -> str:
    try:
        return getuser()
    except (KeyError, OSError):
        return "?"


class Lease:
    """Held until it is released, or lost. `what` it is on is for messages."""

    def __init__(self, storage: Storage, what: str, folder: tuple[str, ...], holder: Holder) -> None:
        self.what = what
        self._storage, self._folder, self._holder = storage, folder, holder
        self._released = Event()
        self._signing = Thread(target=self._sign, name=f"lease on {what}", daemon=True)

    @staticmethod
    def take(storage: Storage, what: str, *folder: str, anyway: bool = False) -> Lease:
        """The lease on what lies in a folder. `anyway`: even if its holder may still be there."""
        mine = Lease(storage, what, (*folder, LEASE), Holder.me())
        storage.make(*mine.desk)
        if not mine._create():
            before = mine._holding()
            if not anyway and (before is None or not before.gone):
                storage.delete(*mine.desk)
                raise _in_use(what, before)
            for name in storage.names(*mine._folder):
                if name != mine._holder.token:
                    storage.delete(*mine._folder, name)
            mine._create()
            mine.require()
        mine._signing.start()
        return mine

    @property
    def desk(self) -> tuple[str, ...]:
        """The folder in which commits are prepared. Who has lost the lease has none."""
        return (*self._folder, self._holder.token)

    @property
    def writer(self) -> str:
        """A name for the folders that its holder writes."""
        return self._holder.token[:8]

    def require(self) -> None:
        """That it is still held."""
        holder = self._holding()
        if holder is None or holder.token != self._holder.token:
            raise _in_use(self.what, holder, lost=True)

    def release(self) -> None:
        """A disk that is gone keeps it; who comes then finds that it was not heard of."""
        self._released.set()
        self._signing.join()
        holder = self._holding()
        if holder is not None and holder.token == self._holder.token:
            with suppress(OSError):
                self._storage.delete(*self._folder)

    def _create(self) -> bool:
        return self._storage.create(seal(_KIND, asdict(self._holder)), *self._folder, _HOLDER)

    def _holding(self) -> Holder | None:
        return _holder(self._storage, self._folder)

    def _sign(self) -> None:
        while not self._released.wait(_SIGN_EVERY):
            try:
                self._storage.write(str(time()), *self.desk, _SIGN)
            except OSError:  # the lease is lost, or its disk for a moment; the next commit will see
                continue


def holder_of(storage: Storage, *folder: str) -> Holder | None:
    """Who writes to what lies in a folder; None if nobody does, or if that cannot be told."""
    return _holder(storage, (*folder, LEASE))


def _holder(storage: Storage, folder: tuple[str, ...]) -> Holder | None:
    path = (*folder, _HOLDER)
    try:
        holder: Holder = read_sealed(storage, _KIND, Holder, *path)
        sign = (*folder, holder.token, _SIGN)
        return replace(holder, seen=float(storage.read(*sign))) if storage.exists(*sign) else holder
    except (OSError, CaesuraError, ValueError):
        return None


def _in_use(what: str, holder: Holder | None, *, lost: bool = False) -> CaesuraError:
    who = "who holds it cannot be told: its lease is damaged, or being written" if holder is None else str(holder)
    if lost:
        return CaesuraError(
            Diagnostic(
                Code.IN_USE,
                f"{what} was taken over by another writer",
                because=(who,),
                help=("nothing more is committed here; only one writer can go on",),
            )
        )
    return CaesuraError(
        Diagnostic(
            Code.IN_USE,
            f"{what} is in use",
            because=(who,),
            help=(
                "stop that one first, or use another place",
                "if it is gone for sure: caesura run --take-over; a minute after its last sign that is not needed",
            ),
        )
    )
