"""The auction benchmark on another version beside this one, in turns: what a change costs.

python -m bench.versions b391686 --rounds 3
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from bench.measure import Table
from bench.targets import at_most, target_table

ROOT = Path(__file__).resolve().parent.parent
OTHER = ROOT / ".bench" / "version"
SIZES = {"small": (2_000, 40), "large": (1_000_000, 6)}
"""Rows and slices."""
ONE = """
import json, sys
from pathlib import Path
from bench.caesura_join import caesura_join
from bench.workload import prepare
if __name__ == "__main__":
    folder, rows, slices = sys.argv[1:]
    from bench.process import isolated
    streams = isolated(prepare, Path(folder), int(rows) * int(slices), int(slices), "8g")
    print(json.dumps(isolated(caesura_join, streams).slice_seconds))
"""


def seconds(root: Path, size: str) -> float:
    """The median time of a slice, warm, of the version that lies there."""
    rows, slices = SIZES[size]
    script = root / ".bench" / "one.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text(ONE)
    command: list[str | Path] = [
        sys.executable,
        script,
        root / ".bench" / "versions" / size,
        str(rows),
        str(slices),
    ]
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=root, env=environment)
    found: list[float] = json.loads(done.stdout.strip().splitlines()[-1])
    return median(found[1:])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.versions", description=__doc__.splitlines()[0])
    parser.add_argument("version", help="a commit")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=[*SIZES])
    options = parser.parse_args()
    subprocess.run(["git", "worktree", "remove", "--force", OTHER], check=False, capture_output=True, cwd=ROOT)
    subprocess.run(["git", "worktree", "add", "--detach", OTHER, options.version], check=True, cwd=ROOT)
    rows, met = list[tuple[str, ...]](), []
    for size in options.sizes:
        pairs = list[tuple[float, float]]()
        for number in range(options.rounds):
            turn = (OTHER, ROOT) if number % 2 == 0 else (ROOT, OTHER)
            found = {root: seconds(root, size) for root in turn}
            pairs.append((found[OTHER], found[ROOT]))
            print(f"{size}, round {number + 1}: {found[OTHER]:.3f} s, now {found[ROOT]:.3f} s", flush=True)
        before, now = median(each for each, _ in pairs), median(each for _, each in pairs)
        rows.append((f"{SIZES[size][0]:,}", f"{before:.3f}", f"{now:.3f}", f"{now / before:.3f}"))
        met.append(at_most(f"slices of {SIZES[size][0]:,} rows: now / before", now / before, 1.03))
    Table(("rows of a slice", f"{options.version}, s", "now, s", "ratio"), tuple(rows)).print()
    target_table(met).print()
    subprocess.run(["git", "worktree", "remove", "--force", OTHER], check=True, cwd=ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
