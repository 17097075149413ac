"""The auction streams of the examples, tests and benchmarks: auctions open, get bids, and close.

Every value is a hash of the ids and the seed, so a stream is the same on every machine and however it is cut.
A row's *position* is its place in the stream, in thousandths of an event. Auction i opens at event 16 i.
Its bids lie strictly before its close, and its close is a punctuation among the bids: `{"auction": i}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from caesura.testing.slices import Format, Histogram, even_cuts, write_slices

AUCTION_SCHEMA = "id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP"
BID_SCHEMA = "auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP, _punctuation STRING"

EVENTS_PER_AUCTION = 16  # the auction itself and, on average, 15 bids
FEWEST_BIDS, MOST_BIDS = 10, 20
SHORTEST_LIFE, LONGEST_LIFE = 0.2, 1.5  # in slices
EARLIEST_BID = 0.2  # in slices before the auction, for the bids that may come early
TICKS = 1_000  # positions per event; a tick is a millisecond, so an event is a second
START = 1_767_225_600_000  # 2026-01-01T00:00:00Z, the time of position 0
BINS_PER_SLICE = 1_024


@dataclass(frozen=True)
class AuctionStreams:
    """What was written: a file per slice in `auction/` and in `bid/`, both in the same number."""

    directory: Path
    format: Format
    slices: int
    auctions: int
    bids: int

    @property
    def auction(self) -> Path:
        return self.directory / "auction"

    @property
    def bid(self) -> Path:
        return self.directory / "bid"

    @property
    def punctuations(self) -> int:
        """Every auction is closed by the end."""
        return self.auctions

    @property
    def events(self) -> int:
        """The rows without the punctuations."""
        return self.auctions + self.bids


def write_auction_streams(
    spark: SparkSession,
    directory: Path,
    events: int,
    slices: int,
    *,
    cuts: Sequence[float] | None = None,
    early_bids: float = 0.0,
    seed: int = 0,
    format: Format = "parquet",
) -> AuctionStreams:
    """Write about `events` rows (for each 16 an auction and about 15 bids) and the punctuations between them.

    Where the stream is cut does not change it: `slices` says how long auctions live (0.2 to 1.5 slices of
    `events / slices` rows), and `cuts` at which fractions of the stream a slice ends, by default evenly.
    `early_bids` is the fraction of bids that come before their auction, by up to 0.2 slices.
    """
    slice_length = events * TICKS // slices
    auctions = events // EVENTS_PER_AUCTION
    opened = _auctions(spark, auctions, slice_length, seed)
    auction, bid = _auction_rows(opened, seed), _bid_rows(opened, slice_length, early_bids, seed)

    both = auction.select("position").union(bid.select("position"))
    histogram = Histogram.of(both, width=max(1, slice_length // BINS_PER_SLICE))
    ends = [histogram.position_after(cut) for cut in (even_cuts(slices) if cuts is None else sorted(cuts))]

    write_slices(auction, directory / "auction", ends, format)
    write_slices(bid, directory / "bid", ends, format)
    bids = histogram.rows - 2 * auctions  # an auction has a row among the auctions and a close among the bids
    return AuctionStreams(directory, format, len(ends) + 1, auctions, bids)


def _auctions(spark: SparkSession, count: int, slice_length: int, seed: int) -> DataFrame:
    """When each auction opens and closes."""
    shortest, longest = int(SHORTEST_LIFE * slice_length), int(LONGEST_LIFE * slice_length)
    opens = sf.col("id") * (EVENTS_PER_AUCTION * TICKS)
    closes = opens + shortest + _hash(longest - shortest + 1, "life", seed, "id")
    return spark.range(count).select("id", opens.alias("opens"), closes.alias("closes"))


def _auction_rows(opened: DataFrame, seed: int) -> DataFrame:
    return opened.select(
        sf.col("opens").alias("position"),
        "id",
        _hash(10_000, "seller", seed, "id").alias("seller"),
        (_hash(5, "category", seed, "id") + 10).cast("int").alias("category"),
        _time(sf.col("opens")).alias("opened"),
        _time(sf.col("closes")).alias("expires"),
    )


def _bid_rows(opened: DataFrame, slice_length: int, early_bids: float, seed: int) -> DataFrame:
    """The bids of every auction, numbered from 1, and as number 0 the punctuation that closes it."""
    bids = _hash(MOST_BIDS - FEWEST_BIDS + 1, "bids", seed, "id") + FEWEST_BIDS
    numbered = opened.withColumn("number", sf.explode(sf.sequence(sf.lit(0).cast("bigint"), bids)))

    def drawn(what: str, below: Column | int) -> Column:
        return _hash(below, what, seed, "id", "number")

    def of_bid(value: Column) -> Column:
        return sf.when(sf.col("number") > 0, value)

    opens, closes = sf.col("opens"), sf.col("closes")
    live = opens + 1 + drawn("live", closes - opens - 1)
    early = opens - 1 - drawn("early", int(EARLIEST_BID * slice_length))
    is_early = drawn("is early", 1_000_000) < round(early_bids * 1_000_000)
    position = sf.when(sf.col("number") == 0, closes).when(is_early, early).otherwise(live)
    return numbered.withColumn("position", position).select(
        "position",
        of_bid(sf.col("id")).alias("auction"),
        of_bid(drawn("bidder", 100_000)).alias("bidder"),
        of_bid((drawn("price", 1_000_000) + 100) / 100.0).alias("price"),
        of_bid(_time(sf.col("position"))).alias("at"),
        sf.when(sf.col("number") == 0, sf.concat(sf.lit('{"auction": '), "id", sf.lit("}"))).alias("_punctuation"),
    )


def _hash(below: Column | int, what: str, seed: int, *ids: str) -> Column:
    """A number from 0 up to `below`, always the same for the same ids; `what` makes draws independent."""
    return sf.pmod(sf.xxhash64(sf.lit(what), sf.lit(seed), *ids), sf.lit(below))


def _time(position: Column) -> Column:
    return sf.timestamp_millis(position + START)
