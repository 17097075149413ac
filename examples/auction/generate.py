"""Write `data/` and `expected.csv`: python examples/auction/generate.py

Auctions are held in sales. A file of bids is one whole sale: all bids for its auctions, and their closes. A sale
is announced a file ahead, so while the bids of one are read, the auctions of the next wait in the state.

Spark reads the files of a folder by modification time, which git does not keep, and files of the same time in no
particular order. Here no order is wrong: what a file of bids closes, no other file bids for.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from caesura.spark.session import embedded
from caesura.testing.auction import EVENTS_PER_AUCTION, write_auction_streams

HERE = Path(__file__).parent
SALES = 6
AUCTIONS_PER_SALE = 16

Row = dict[str, Any]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        events = SALES * AUCTIONS_PER_SALE * EVENTS_PER_AUCTION
        streams = write_auction_streams(embedded(), Path(folder), events, SALES, format="json")
        auctions, bids = _rows(streams.auction), _rows(streams.bid)
    _write("auction", auctions, [max(0, _sale(row["id"]) - 1) for row in auctions])
    _write("bid", bids, [_sale(_auction_of(row)) for row in bids])
    _write_winners(auctions, bids)


def _rows(folder: Path) -> list[Row]:
    """The stream in its order: the names of the files follow it."""
    return [json.loads(line) for file in sorted(folder.glob("*.json")) for line in file.read_text().splitlines()]


def _sale(auction: int) -> int:
    return auction // AUCTIONS_PER_SALE


def _auction_of(bid: Row) -> int:
    return int(bid["auction"] if "auction" in bid else json.loads(bid["_punctuation"])["auction"])


def _write(stream: str, rows: list[Row], files: list[int]) -> None:
    folder = HERE / "data" / stream
    folder.mkdir(parents=True, exist_ok=True)
    for number in sorted(set(files)):
        lines = [json.dumps(row) + "\n" for row, file in zip(rows, files, strict=True) if file == number]
        (folder / f"{number + 1}.json").write_text("".join(lines))


def _write_winners(auctions: list[Row], bids: list[Row]) -> None:
    """The query, in plain Python."""
    prices: dict[int, list[float]] = defaultdict(list)
    for bid in bids:
        if "auction" in bid:
            prices[bid["auction"]].append(bid["price"])
    with (HERE / "expected.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "category", "bids", "price"])
        for auction in auctions:
            mine = prices[auction["id"]]
            writer.writerow([auction["id"], auction["category"], len(mine), max(mine)])


if __name__ == "__main__":
    main()
