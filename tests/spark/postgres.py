"""A PostgreSQL of one's own, for as long as a test runs."""

from __future__ import annotations

import os
import pwd
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

DRIVER = Path("/usr/share/java/postgresql.jar")
_PROGRAMS = Path("/usr/lib/postgresql")
_USER = "postgres"


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of its database. It trusts whoever comes from this machine."""
    programs = sorted(_PROGRAMS.glob("*/bin"))
    if not programs:
        raise RuntimeError("there is no PostgreSQL; make test-crash installs it")
    folder, port = Path(mkdtemp(prefix="caesura-postgres-")), _free_port()
    user = pwd.getpwnam(_USER) if os.getuid() == 0 else None  # it does not run as root
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)

    def call(program: str, *arguments: str) -> None:
        subprocess.run(
            [programs[-1] / program, "-D", folder / "data", *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            user=None if user is None else user.pw_uid,
            group=None if user is None else user.pw_gid,
        )

    try:
        call("initdb", "--auth=trust", "--username=caesura", "--no-sync")
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories='' -c fsync=off"
        call("pg_ctl", "start", "--wait", "--log", str(folder / "log"), "--options", options)
        try:
            yield f"jdbc:postgresql://127.0.0.1:{port}/postgres?user=caesura"
        finally:
            call("pg_ctl", "stop", "--mode", "immediate")
    finally:
        rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
