"""Flink SQL, in a virtual environment of its own that is made when first needed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import venv
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.session import COLLECTOR, CORES, TOUCHED
from bench.workload import warm_up

BENCH = Path(__file__).resolve().parent.parent
ENVIRONMENT = BENCH.parent / ".bench" / "flink"
LOCK = BENCH / "flink.lock"
SCRIPT = BENCH / "baselines" / "flink_query.py"
DISCARD = {"connector": "blackhole"}


class FlinkRefusesError(Exception):
    """It has no plan for a query, and says why."""


class FlinkFailsError(Exception):
    """A job was begun and not finished."""


@dataclass(frozen=True)
class FlinkQuery:
    """A query over csv folders, in Flink's types."""

    sources: Mapping[str, str]
    """The columns of each folder, by its name."""
    query: str
    sink: Mapping[str, str] = field(default_factory=lambda: DISCARD)
    """The options of the table that takes the results."""

    def run(self, streams: Path, warm: Path, *, memory: str, warm_up_seconds: int) -> Measured:
        """In a JVM of its own, warmed up first by counting all rows and then on another input."""
        with Flink(memory, TOUCHED) as flink:
            rows_out = flink.count(self, streams)
            warm_up(lambda: flink.seconds(self, warm), warm_up_seconds)
            return Measured(rows_out, flink.seconds(self, streams), flink.reading_seconds(self, streams))


@dataclass(frozen=True)
class Measured:
    rows_out: int
    seconds: float
    source_seconds: float


class Flink:
    """A JVM of Flink's that takes one query after the other. Flink is at its best: there are no checkpoints."""

    def __init__(self, memory: str, *options: str) -> None:
        """`options`: of Java."""
        self._process = subprocess.Popen(
            [interpreter(), SCRIPT],
            env={
                **os.environ,
                "JVM_ARGS": " ".join((f"-Xms{memory}", f"-Xmx{memory}", COLLECTOR, *options)),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Flink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """It ends when there is nothing more to read."""
        self._process.communicate()

    def changes(self, query: FlinkQuery, streams: Path) -> frozenset[str]:
        """How results come out, by the plan and by what is seen: `I` if they are inserted alone; otherwise also
        `UB`, `UA` (updates) and `D` (deletes). Raises `FlinkRefusesError` if there is no plan."""
        questions = ("planned changes", "seen changes")
        return frozenset(change for question in questions for change in self._ask(question, query, streams))

    def count(self, query: FlinkQuery, streams: Path) -> int:
        return int(self._ask("count", query, streams))

    def seconds(self, query: FlinkQuery, streams: Path) -> float:
        """The job's own, without planning and start."""
        return float(self._ask("run", query, streams))

    def reading_seconds(self, query: FlinkQuery, streams: Path) -> float:
        """Of a job that reads what the query reads, and does nothing with it."""
        return float(self._ask("read", query, streams))

    def _ask(self, question: str, query: FlinkQuery, streams: Path) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        job = {**asdict(query), "directory": str(streams), "parallelism": CORES}
        print(json.dumps({"question": question, "job": job}), file=self._process.stdin, flush=True)
        match json.loads(self._process.stdout.readline() or "{}"):
            case {"answer": answer}:
                return answer
            case {"refused": reason}:
                raise FlinkRefusesError(reason)
            case {"failed": reason}:
                raise FlinkFailsError(reason)
        raise FlinkFailsError(f"its process ended with status {self._process.wait()}")


def flink_version() -> list[str]:
    return re.findall(r"^apache-flink==[\d.]+", LOCK.read_text(), re.MULTILINE)


def interpreter() -> Path:
    """The Python of an environment that holds exactly what the lock says."""
    python, installed = ENVIRONMENT / "bin" / "python", ENVIRONMENT / LOCK.name
    if not installed.exists() or installed.read_bytes() != LOCK.read_bytes():
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--require-hashes", "-r", LOCK], check=True)
        shutil.copyfile(LOCK, installed)
    return python
