"""Flink SQL's regular join, in a virtual environment of its own that is made when first needed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import venv
from pathlib import Path

from bench.result import Result
from bench.session import CORES
from bench.workload import QUERY, WARM_UP_SECONDS, Workload

BENCH = Path(__file__).resolve().parent.parent
ENVIRONMENT = BENCH.parent / ".bench" / "flink"
LOCK = BENCH / "flink.lock"
SCRIPT = BENCH / "baselines" / "flink_join.py"


def flink_join(workload: Workload) -> Result:
    """Flink at its best: no checkpoints, and `seconds` is the job's own runtime without planning and start."""
    job = {
        "query": QUERY,
        "streams": str(workload.csv(workload.streams)),
        "warm_up": str(workload.csv(workload.warm_up)),
        "parallelism": CORES,
        "warm_up_seconds": WARM_UP_SECONDS,
    }
    finished = subprocess.run(
        [_interpreter(), SCRIPT, json.dumps(job)],
        env={**os.environ, "JVM_ARGS": f"-Xmx{workload.memory}"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    measured = json.loads(finished.stdout.splitlines()[-1])
    return Result(
        name="Flink SQL join",
        events=workload.streams.events,
        seconds=measured["seconds"],
        rows_out=measured["rows_out"],
        state_rows=workload.streams.events,  # by construction: a regular join keeps every row
        slice_seconds=(),
        peak_state_rows=workload.streams.events,
        source_seconds=measured["source_seconds"],
    )


def _interpreter() -> Path:
    """The Python of an environment that holds exactly what the lock says."""
    python, installed = ENVIRONMENT / "bin" / "python", ENVIRONMENT / LOCK.name
    if not installed.exists() or installed.read_bytes() != LOCK.read_bytes():
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--require-hashes", "-r", LOCK], check=True)
        shutil.copyfile(LOCK, installed)
    return python
