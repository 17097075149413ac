"""Write `data/` and `expected.csv`: python examples/warehouse/generate.py

A file holds whole hours of one sensor: all reports and the closes. The first sensor's files are of three hours,
the second one's of two. So hours of one sensor wait in the state for the other to close them.

Spark reads the files of a folder by modification time, which git does not keep, and files of the same time in no
particular order. Here no order is wrong: what a file closes, no other file of the sensor reports.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from caesura.spark.session import embedded
from caesura.testing.warehouse import write_warehouse_streams

HERE = Path(__file__).parent
HOURS = 12
HOURS_PER_FILE = {"sensor1": 3, "sensor2": 2}

Row = dict[str, Any]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        streams = write_warehouse_streams(embedded(), Path(folder), HOURS, 1, format="json")
        rows = {name: _rows(streams.sensor(name)) for name in HOURS_PER_FILE}
    for name, hours in HOURS_PER_FILE.items():
        _write(name, rows[name], hours)
    _write_hottest([row for reports in rows.values() for row in reports if "hour" in row])


def _rows(folder: Path) -> list[Row]:
    [file] = folder.glob("*.json")
    return [json.loads(line) for line in file.read_text().splitlines()]


def _hour_of(row: Row) -> int:
    return int(row["hour"] if "hour" in row else json.loads(row["_punctuation"])["hour"])


def _write(stream: str, rows: list[Row], hours: int) -> None:
    folder = HERE / "data" / stream
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(HOURS // hours):
        lines = [json.dumps(row) + "\n" for row in rows if _hour_of(row) // hours == number]
        (folder / f"{number + 1}.json").write_text("".join(lines))


def _write_hottest(reports: list[Row]) -> None:
    """The query, in plain Python."""
    temperatures: dict[int, set[float]] = defaultdict(set)
    for report in reports:
        temperatures[report["hour"]].add(report["currtmp"])
    with (HERE / "expected.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["hour", "maxtemp"])
        for hour in sorted(temperatures):
            writer.writerow([hour, max(temperatures[hour])])


if __name__ == "__main__":
    main()
