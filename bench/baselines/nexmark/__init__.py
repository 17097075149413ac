"""The queries of NEXMark as other systems read them: `qN.sql`, or one text for each where they differ."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

HERE = Path(__file__).resolve().parent
QUERIES = tuple(f"q{number}" for number in range(24))
STREAMS = ("person", "auction", "bid")
WRITTEN = ("q10",)
"""The queries whose results are files; all others are thrown away."""


def text(query: str, system: Literal["flink", "spark"]) -> str:
    own = HERE / f"{query}.{system}.sql"
    return (own if own.exists() else HERE / f"{query}.sql").read_text()


def streams_of(query: str) -> tuple[str, ...]:
    """Those that a query reads."""
    read = {*re.findall(r"(?:FROM|JOIN|TABLE) (\w+)", text(query, "flink"))}
    return tuple(stream for stream in STREAMS if stream in read)
