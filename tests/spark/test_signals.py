"""The command as people stop it: one line, its exit status, and no process that stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest

COUNTS = """
CREATE STREAM a (k BIGINT, PUNCTUATED BY (k)) USING json LOCATION 'a';
CREATE SINK out USING json LOCATION 'out';
INSERT INTO out SELECT k, COUNT(*) AS n FROM a GROUP BY k;
"""
Running = subprocess.Popen[str]


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "0.json").write_text('{"k": 1}\n{"k": "NA"}\n')
    (tmp_path / "pipeline.sql").write_text(COUNTS)
    return [str(Path(sys.executable).with_name("caesura")), "run", str(tmp_path / "pipeline.sql")]


def processes(running: Running) -> list[str]:
    """Those of its group, by name; without those that are gone and were not asked for yet."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,comm="], stdout=subprocess.PIPE, text=True, check=True)
    lines = (line.split(maxsplit=2) for line in listed.stdout.splitlines())
    return [name for group, state, name in lines if int(group) == running.pid and not state.startswith("Z")]


def wait_for(condition: Callable[[], bool]) -> None:
    end = monotonic() + 60
    while not condition():
        assert monotonic() < end
        sleep(0.05)


def stopped_when(command: list[str], ready: Callable[[Running], bool], number: int) -> tuple[int, list[str]]:
    """Its exit status and what it says."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as running:
        wait_for(lambda: ready(running))
        os.killpg(running.pid, number)
        start = monotonic()
        said, _ = running.communicate(timeout=60)
        assert monotonic() - start < 10
        wait_for(lambda: not processes(running))
    return running.returncode, said.splitlines()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_while_it_is_loaded(command: list[str], number: int) -> None:
    def loading(running: Running) -> bool:
        sleep(0.15)
        return True

    status, said = stopped_when(command, loading, number)
    assert status == 128 + number
    assert len(said) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_while_the_jvm_starts(command: list[str], number: int) -> None:
    status, said = stopped_when(command, lambda running: "java" in processes(running), number)
    assert (status, said) == (128 + number, ["stopped without a new slice"])


def test_between_slices_and_what_was_set_aside_is_named(command: list[str], tmp_path: Path) -> None:
    status, said = stopped_when(
        [*command, "--checkpoint", str(tmp_path / "ck")],
        lambda _: (tmp_path / "ck" / "spark" / "commits" / "0").exists(),
        signal.SIGINT,
    )
    assert status == 130
    assert "stopped after slice 0; a new start continues there" in said
    assert any(line.startswith("1 quarantined: ") for line in said)
