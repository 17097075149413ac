"""People open auctions, and others bid: three streams that are joined on different keys.

A block is 50 events, as in NEXMark: a person, three auctions and 46 bids. An auction is of a seller from the last
`SELLING` blocks, a bid is on an auction from the last `BIDDING` blocks. So each block closes the seller and the
auctions of the block that has just become too old.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from bench.files import in_order

AUCTIONS, BIDS = 3, 46
EVENTS_PER_BLOCK = 1 + AUCTIONS + BIDS
SELLING, BIDDING = 5_000, 2_000

QUERY = """
SELECT b.price, b.bidder, a.category, p.city
FROM bid AS b JOIN auction AS a ON b.auction = a.id JOIN person AS p ON a.seller = p.id
"""
COLUMNS = {
    "person": "id BIGINT, city INT",
    "auction": "id BIGINT, seller BIGINT, category INT",
    "bid": "auction BIGINT, bidder BIGINT, price DOUBLE",
}
PROMISES = {
    "person": "UNIQUE (id)",
    "auction": "UNIQUE (id), PUNCTUATED BY (seller)",
    "bid": "PUNCTUATED BY (auction)",
}


@dataclass(frozen=True)
class Market:
    directory: Path
    blocks: int

    @property
    def events(self) -> int:
        return self.blocks * EVENTS_PER_BLOCK

    @property
    def bids(self) -> int:
        """Each has its auction, and that its seller."""
        return self.blocks * BIDS

    @property
    def csv(self) -> Path:
        """The same rows as Flink can read them."""
        return self.directory / "csv"

    @property
    def pipeline(self) -> str:
        """As Caesura reads it, a file of each stream a slice."""
        declared = (
            f"CREATE STREAM {name} ({columns}, {PROMISES[name]}) USING parquet LOCATION '{self.directory / name}'"
            " OPTIONS (maxFilesPerTrigger 1);"
            for name, columns in COLUMNS.items()
        )
        return "\n".join((*declared, f"{QUERY};"))


def write_market(spark: SparkSession, directory: Path, events: int, slices: int, seed: int = 0) -> Market:
    blocks = events // EVENTS_PER_BLOCK // slices * slices

    def drawn(what: str, below: int) -> str:
        return f"pmod(xxhash64('{what}', {seed}, id), {below})"

    def age(blocks: int) -> str:
        """A block that is not too old; before the first there is none."""
        return f"greatest(block - {drawn('age', blocks)}, 0)"

    streams = {
        "person": (1, 0, {"id": "block", "city": f"CAST({drawn('city', 100)} AS INT)"}, "CAST(NULL AS STRING)"),
        "auction": (
            AUCTIONS,
            1,
            {
                "id": f"block * {AUCTIONS} + place",
                "seller": age(SELLING),
                "category": f"CAST({drawn('category', 5)} AS INT)",
            },
            f"""concat('{{"seller": ', block - {SELLING}, '}}')""",
        ),
        "bid": (
            BIDS,
            AUCTIONS,
            {
                "auction": f"{age(BIDDING)} * {AUCTIONS} + {drawn('which', AUCTIONS)}",
                "bidder": drawn("bidder", 100_000),
                "price": f"{drawn('price', 1_000_000)} / 100D",
            },
            f"""concat('{{"auction": ', (block - {BIDDING}) * {AUCTIONS} + place - {BIDS}, '}}')""",
        ),
    }
    market = Market(directory, blocks)
    for name, (rows, punctuations, columns, punctuation) in streams.items():
        places = rows + punctuations
        values = (f"IF(place < {rows}, {sql}, NULL) AS {column}" for column, sql in columns.items())
        written = (
            spark.range(0, blocks * places, 1, slices)  # a partition becomes a file, so nothing is shuffled
            .selectExpr("id", f"id DIV {places} AS block", f"id % {places} AS place")
            .selectExpr(*values, f"IF(place < {rows}, NULL, {punctuation}) AS _punctuation")
        )
        written.write.mode("overwrite").parquet(str(directory / name))
        in_order(directory / name)
        only_rows = spark.read.parquet(str(directory / name)).where("_punctuation IS NULL").drop("_punctuation")
        only_rows.write.mode("overwrite").csv(str(market.csv / name))
    return market
