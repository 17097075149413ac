"""What a benchmark found, shown and kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bench.measure import Table, write_results
from bench.targets import Target


def publish(
    name: str,
    parts: Sequence[str | Table],
    found: Iterable[Target],
    data: object,
    plots: Mapping[str, str] | None = None,
) -> int:
    """Print the tables, keep the whole, and give the exit status: whether the targets are met."""
    for part in parts:
        if isinstance(part, Table):
            part.print()
    texts = (part.markdown() if isinstance(part, Table) else part for part in parts)
    write_results(name, "\n\n".join(texts), data, plots)
    return 0 if all(target.met for target in found) else 1


def images(plots: Iterable[str]) -> str:
    """The plots, by their file names."""
    return "\n\n".join(f"![{file.removesuffix('.svg')}]({file})" for file in plots)
