"""Fuzz each reader for some time: `python -m tests.fuzz --seconds 600 sql manifest`."""

from __future__ import annotations

import argparse
import sys
import traceback
from random import Random
from time import monotonic

from caesura.diagnostics import CaesuraError
from tests.fuzz.readers import Reader, readers
from tests.fuzz.rows import ROWS

SLOW = 60
"""Seconds that a text may take, with a start of Spark."""


def fuzz(reader: Reader, seconds: float, seed: int) -> bool:
    """Whether each text was read or refused."""
    random, end, cases, refused = Random(seed), monotonic() + seconds, 0, 0
    found: dict[str, str] = {}
    while (start := monotonic()) < end:
        text = reader.case(random)
        cases += 1
        try:
            reader.read(text)
        except CaesuraError:
            refused += 1
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            place = traceback.extract_tb(error.__traceback__)[-1]
            found.setdefault(f"{type(error).__name__} at {place.filename}:{place.lineno}: {error}"[:200], text)
        if (took := monotonic() - start) > SLOW:
            found.setdefault(f"more than {SLOW} s", f"-- {took:.0f} s\n{text}")
    print(
        f"{reader.name}: {cases:,} texts in {seconds:.0f} s, {refused:,} refused, {len(found)} findings",
        flush=True,
    )
    for what, text in found.items():
        print(f"--- {what}\n{text[:3000]!r}", flush=True)
    return not found


def main() -> None:
    known = {reader.name: reader for reader in (*readers(), *ROWS)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", choices=[[], *known], metavar="READER")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chosen = [known[name] for name in given.readers] or [*known.values()]
    results = [fuzz(reader, given.seconds, given.seed) for reader in chosen]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
