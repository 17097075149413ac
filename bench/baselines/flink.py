"""Flink SQL, in a virtual environment of its own that is made when first needed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import venv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from bench.session import CORES

BENCH = Path(__file__).resolve().parent.parent
ENVIRONMENT = BENCH.parent / ".bench" / "flink"
LOCK = BENCH / "flink.lock"
SCRIPT = BENCH / "baselines" / "flink_query.py"
DISCARD = {"connector": "blackhole"}


class Measured(TypedDict):
    rows_out: int
    planned_changes: list[str]
    """By the plan: `I` if results are inserted alone; otherwise also `UB`, `UA` (updates) and `D` (deletes)."""
    seen_changes: list[str]
    """In the results of a sample, if there is one."""
    seconds: float
    source_seconds: float


class FlinkRefusesError(Exception):
    """It has no plan for a query, and says why."""


@dataclass(frozen=True)
class FlinkQuery:
    """A query over csv folders, in Flink's types."""

    sources: Mapping[str, str]
    """The columns of each folder, by its name."""
    query: str
    sink: Mapping[str, str] = field(default_factory=lambda: DISCARD)
    """The options of the table that takes the results."""

    def run(
        self, streams: Path, warm_up: Path, *, memory: str, warm_up_seconds: int, sample: Path | None = None
    ) -> Measured:
        """Flink at its best: no checkpoints, and `seconds` is the job's own runtime without planning and start.

        Raises `FlinkRefusesError` if it cannot plan the query.
        """
        job = {
            "sources": dict(self.sources),
            "query": self.query,
            "sink": dict(self.sink),
            "streams": str(streams),
            "warm_up": str(warm_up),
            "sample": "" if sample is None else str(sample),
            "parallelism": CORES,
            "warm_up_seconds": warm_up_seconds,
        }
        finished = subprocess.run(
            [_interpreter(), SCRIPT, json.dumps(job)],
            env={**os.environ, "JVM_ARGS": f"-Xmx{memory}"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        answer = json.loads(finished.stdout.splitlines()[-1])
        if "refused" in answer:
            raise FlinkRefusesError(answer["refused"])
        measured: Measured = answer
        return measured


def flink_version() -> list[str]:
    return re.findall(r"^apache-flink==[\d.]+", LOCK.read_text(), re.MULTILINE)


def _interpreter() -> Path:
    """The Python of an environment that holds exactly what the lock says."""
    python, installed = ENVIRONMENT / "bin" / "python", ENVIRONMENT / LOCK.name
    if not installed.exists() or installed.read_bytes() != LOCK.read_bytes():
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--require-hashes", "-r", LOCK], check=True)
        shutil.copyfile(LOCK, installed)
    return python
