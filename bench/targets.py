"""What Caesura promises against the other systems, and whether a benchmark found it so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.measure import Table
from bench.result import Result


@dataclass(frozen=True)
class Target:
    text: str
    found: float
    met: bool


def at_least(text: str, found: float, limit: float) -> Target:
    return Target(f"{text}: at least {limit:g}", found, found >= limit)


def at_most(text: str, found: float, limit: float) -> Target:
    return Target(f"{text}: at most {limit:g}", found, found <= limit)


def target_table(found: Sequence[Target]) -> Table:
    return Table(
        ("target", "found", ""),
        tuple((target.text, f"{target.found:.3g}", "pass" if target.met else "miss") for target in found),
    )


def targets(results: Mapping[str, Result]) -> list[Target]:
    """One target per comparison whose systems were measured, `results` by their names in `SYSTEMS`."""
    if "caesura" not in results:
        return []
    caesura = results["caesura"]
    found: list[Target] = []
    if caesura.slowdown is not None:
        found.append(at_most("time of the last slice / the first warm slice", caesura.slowdown, 1.1))
    if joins := [results[name] for name in ("spark", "spark-rocksdb") if name in results]:
        spark = max(joins, key=lambda result: result.rate)
        found += [
            at_least(f"rows/s / {spark.name}", caesura.rate / spark.rate, 5),
            at_most(f"state rows at the end / {spark.name}", caesura.state_rows / spark.state_rows, 0.01),
            at_most(
                f"most state rows / {spark.name} at the end", caesura.peak_state_rows / spark.state_rows, 0.01
            ),
        ]
    if flink := results.get("flink"):
        found.append(at_least(f"rows/s / {flink.name}", caesura.rate / flink.rate, 2))
    if batch := results.get("batch"):
        found.append(at_most(f"time / {batch.name}", caesura.seconds / batch.seconds, 5))
    return found


def small_targets(results: Mapping[str, Result]) -> list[Target]:
    caesura, spark = results["caesura"], results["spark"]
    ratio = caesura.seconds_per_slice / spark.seconds_per_slice
    return [at_most(f"time of a small slice / {spark.name}", ratio, 1)]
