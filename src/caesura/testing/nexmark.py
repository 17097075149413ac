"""The streams of NEXMark: persons, auctions that they open, and bids, in the proportions 1 : 3 : 46.

Events are numbered, and every value is a hash of the number and the seed: a stream is the same on every machine
and however it is cut. An *epoch* is 50 events: a person, three auctions, 46 bids. Ids, sizes and hot keys are
those of the public generator (github.com/nexmark/nexmark). Half of the bids are for the first of each hundred
auctions, three in four bids are by the second of each hundred persons, three in four auctions of the first. All
others choose among the last 100 auctions or 1,000 persons, or 10 that are yet to come.

Punctuations, of which the public generator has none, say just that: no more bids for auctions that are older, nor
by persons who are, and no more auctions of theirs. Times are in microseconds, and no two events have the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from caesura.testing.chance import HASHES, OfColumns
from caesura.testing.slices import Format, even_cuts, write_slices

PERSONS, AUCTIONS, BIDS = 1, 3, 46  # of an epoch, in this order
EPOCH = PERSONS + AUCTIONS + BIDS
FIRST_ID = 1_000  # of persons and of auctions
FIRST_CATEGORY, CATEGORIES = 10, 5
IN_FLIGHT = 100  # auctions that may get bids
ACTIVE = 1_000  # persons who may sell and bid
LEAD = 10  # persons and auctions to come who may be named
HOT = 100  # one in so many is hot
HOT_AUCTION, HOT_SELLER, HOT_BIDDER, HOT_CHANNEL = 2, 4, 4, 2  # all but one in so many choose a hot one
HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
CHANNELS = 10_000
WITHOUT_ID = 10  # the address of one channel in so many does not name it
SIDE_KEYS = 10_000  # of the table that query 13 looks into
PERSON_BYTES, AUCTION_BYTES, BID_BYTES = 200, 500, 100  # on average
STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
CITIES = (
    "Phoenix",
    "Los Angeles",
    "San Francisco",
    "Boise",
    "Portland",
    "Bend",
    "Redmond",
    "Seattle",
    "Kent",
    "Cheyenne",
)
FIRST_NAMES = ("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter")
LAST_NAMES = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")
START = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z, the time of event 0, in microseconds
PLACES = 3  # per event, so that a punctuation has room before it

STREAMS = ("person", "auction", "bid")


@dataclass(frozen=True)
class NexmarkStreams:
    """What was written: for each stream a folder of its name with a file per slice, and the table `side_input`."""

    directory: Path
    slices: int
    events: int

    @property
    def persons(self) -> int:
        return _count(self.events, 0, PERSONS)

    @property
    def auctions(self) -> int:
        return _count(self.events, PERSONS, AUCTIONS)

    @property
    def bids(self) -> int:
        return _count(self.events, PERSONS + AUCTIONS, BIDS)


def nexmark_declarations(directory: str = "data", format: Format = "parquet") -> str:
    """The streams as SQL, with what is promised of them, one file a slice."""
    source = f"USING {format} LOCATION '{directory}/{{}}' OPTIONS (maxFilesPerTrigger 1);"
    return f"""\
CREATE STREAM person (
  id BIGINT NOT NULL, name STRING, email_address STRING, credit_card STRING, city STRING, state STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  UNIQUE (id), ORDERED BY (date_time)
) {source.format("person")}
CREATE STREAM auction (
  id BIGINT NOT NULL, item_name STRING, description STRING, initial_bid BIGINT, reserve BIGINT,
  date_time TIMESTAMP NOT NULL, expires TIMESTAMP, seller BIGINT NOT NULL, category BIGINT, extra STRING,
  UNIQUE (id), PUNCTUATED BY (seller), ORDERED BY (date_time), CHECK (category BETWEEN 10 AND 14)
) {source.format("auction")}
CREATE STREAM bid (
  auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP NOT NULL, extra STRING,
  PUNCTUATED BY (auction), PUNCTUATED BY (bidder), ORDERED BY (date_time)
) {source.format("bid")}
"""


def write_nexmark_streams(
    spark: SparkSession,
    directory: Path,
    events: int,
    slices: int,
    *,
    cuts: Sequence[float] | None = None,
    per_second: float = 10_000,
    seed: int = 0,
    format: Format = "parquet",
    streams: Sequence[str] = STREAMS,
) -> NexmarkStreams:
    """Write so many events, and at the end of each slice the punctuations that are true then.

    `per_second` are the events in a second of their own time. `cuts`: at which fractions of the stream a slice
    ends, by default evenly; where it is cut does not change its rows. `streams`: those that are written.
    """
    fractions = even_cuts(slices) if cuts is None else sorted(cuts)
    ends = [round(cut * events) for cut in fractions]
    made = _Made(OfColumns(seed), per_second)
    numbered = spark.range(events).withColumnRenamed("id", "event")
    at_ends = spark.createDataFrame([(end,) for end in dict.fromkeys((*ends, events))], "event BIGINT")
    for name in streams:
        rows = made.rows(name, numbered).unionByName(made.closes(name, at_ends), allowMissingColumns=True)
        write_slices(rows, directory / name, [end * PLACES for end in ends], format)
    side = spark.range(SIDE_KEYS).select("id", sf.col("id").cast("string").alias("value"))
    side.coalesce(1).write.csv(str(directory / "side_input"))
    return NexmarkStreams(directory, len(ends) + 1, events)


def live_nexmark_streams(
    spark: SparkSession, per_second: int, *, punctuated_every: int = 10_000, seed: int = 0
) -> Mapping[str, DataFrame]:
    """The streams without an end, so many events a second; every so many events come punctuations.

    They are declared by `Session.stream` with the promises of `nexmark_declarations`.
    """
    made = _Made(OfColumns(seed), per_second)

    def live(name: str) -> DataFrame:
        ticks = spark.readStream.format("rate").option("rowsPerSecond", per_second).load()
        numbered = ticks.select(sf.col("value").alias("event"))
        closing = numbered.where(sf.col("event") % punctuated_every == 0)
        rows = made.rows(name, numbered).unionByName(made.closes(name, closing), allowMissingColumns=True)
        return rows.drop("position")

    return {name: live(name) for name in STREAMS}


@dataclass(frozen=True)
class _Made:
    """The definition: from the number of an event to its row, and to what is closed before it."""

    chance: OfColumns
    per_second: float

    def rows(self, stream: str, numbered: DataFrame) -> DataFrame:
        match stream:
            case "person":
                return self._select(numbered, 0, PERSONS, self._person())
            case "auction":
                return self._select(numbered, PERSONS, AUCTIONS, self._auction())
            case _:
                return self._select(numbered, PERSONS + AUCTIONS, BIDS, self._bid())

    def closes(self, stream: str, numbered: DataFrame) -> DataFrame:
        """The punctuations that are true from these events on, as ranges: the last of each column says all."""
        oldest_person = _epoch() + (FIRST_ID + 1 - ACTIVE)
        oldest_auction = _last_auction() + (FIRST_ID - IN_FLIGHT)
        oldest = {
            "person": {},
            "auction": {"seller": oldest_person},
            "bid": {"auction": oldest_auction, "bidder": oldest_person},
        }[stream]
        texts = [
            sf.when(least > FIRST_ID, sf.format_string(f'{{"{column}": {{"lt": %d}}}}', least))
            for column, least in oldest.items()
        ]
        said = sf.explode(sf.array_compact(sf.array(*texts))) if texts else sf.lit(None).cast("string")
        found = numbered.select((sf.col("event") * PLACES - 1).alias("position"), said.alias("_punctuation"))
        return found.where("_punctuation IS NOT NULL")

    def _select(self, numbered: DataFrame, first: int, many: int, values: Mapping[str, Column]) -> DataFrame:
        place = _event() % EPOCH
        named = (value.alias(name) for name, value in values.items())
        return numbered.where(place.between(first, first + many - 1)).select(
            (_event() * PLACES).alias("position"), *named
        )

    def _person(self) -> dict[str, Column]:
        name = sf.concat_ws(" ", self._one_of(FIRST_NAMES, "first name"), self._one_of(LAST_NAMES, "last name"))
        email = sf.concat(self._word("mailbox", 7), sf.lit("@"), self._word("host", 5), sf.lit(".com"))
        digits = [sf.lpad(self._below(10_000, f"card {i}").cast("string"), 4, "0") for i in range(4)]
        return {
            "id": _epoch() + FIRST_ID,
            "name": name,
            "email_address": email,
            "credit_card": sf.concat_ws(" ", *digits),
            "city": self._one_of(CITIES, "city"),
            "state": self._one_of(STATES, "state"),
            "date_time": self._time(),
            "extra": self._filling(PERSON_BYTES - 70),
        }

    def _auction(self) -> dict[str, Column]:
        hot = _epoch() - _epoch() % HOT
        first_bid = self._price("initial bid")
        length = round(2 * IN_FLIGHT * EPOCH / AUCTIONS * self._microseconds)
        expires = self._micros() + 1_000 + self._below(length, "length")
        return {
            "id": _epoch() * AUCTIONS + _event() % EPOCH - PERSONS + FIRST_ID,
            "item_name": self._word("item", 20),
            "description": self._word("description", 100),
            "initial_bid": first_bid,
            "reserve": first_bid + self._price("reserve"),
            "date_time": self._time(),
            "expires": sf.timestamp_micros(expires),
            "seller": self._mostly(hot, HOT_SELLER, self._some_person("seller"), "hot seller") + FIRST_ID,
            "category": self._below(CATEGORIES, "category") + FIRST_CATEGORY,
            "extra": self._filling(AUCTION_BYTES - 110),
        }

    def _bid(self) -> dict[str, Column]:
        last = _last_auction()
        oldest = sf.greatest(last - IN_FLIGHT, sf.lit(0))
        auction = oldest + self._below(last - oldest + 1 + LEAD, "auction")
        second = _epoch() - _epoch() % HOT + 1  # the first one is the hot seller
        channel, url = self._channel()
        return {
            "auction": self._mostly(last - last % HOT, HOT_AUCTION, auction, "hot auction") + FIRST_ID,
            "bidder": self._mostly(second, HOT_BIDDER, self._some_person("bidder"), "hot bidder") + FIRST_ID,
            "price": self._price("price"),
            "channel": channel,
            "url": url,
            "date_time": self._time(),
            "extra": self._filling(BID_BYTES - 32),
        }

    def _channel(self) -> tuple[Column, Column]:
        """By name, and the address that bids come through; both depend on the number of the channel alone."""
        cold = self._below(CHANNELS, "channel") + len(HOT_CHANNELS)
        number = self._mostly(self._below(len(HOT_CHANNELS), "which"), HOT_CHANNEL, cold, "hot channel")
        is_hot = number < len(HOT_CHANNELS)
        name = sf.when(is_hot, _listed(HOT_CHANNELS, number)).otherwise(sf.concat(sf.lit("channel-"), number))
        parts = [_letters(self.chance.hash(f"part {i}", number), 5) for i in range(3)]
        address = sf.concat(
            sf.lit("https://www.nexmark.com/"), sf.concat_ws("/", *parts), sf.lit("/item.htm?query=1")
        )
        id = sf.concat(sf.lit("&channel_id="), self.chance.below(1 << 31, "channel id", number))
        named = ~is_hot & (self.chance.below(WITHOUT_ID, "named", number) > 0)
        return name, sf.concat(address, sf.when(named, id).otherwise(""))

    def _some_person(self, what: str) -> Column:
        active = sf.least(_epoch() + 1, sf.lit(ACTIVE))
        return _epoch() + 1 - active + self._below(active + LEAD, what)

    def _mostly(self, hot: Column, ratio: int, other: Column, what: str) -> Column:
        return sf.when(self._below(ratio, what) > 0, hot).otherwise(other)

    def _below(self, bound: Column | int, what: str) -> Column:
        return self.chance.below(bound, what, _event())

    def _one_of(self, values: Sequence[str], what: str) -> Column:
        return _listed(values, self._below(len(values), what))

    def _price(self, what: str) -> Column:
        """From 1 to a million, in hundredths: each power of ten as often as the others."""
        fraction = self.chance.hash(what, _event()) / float(HASHES)
        return sf.round(sf.pow(sf.lit(10.0), fraction * 6) * 100).cast("bigint")

    def _word(self, what: str, longest: int) -> Column:
        return self._text(what, self._below(longest - 3, f"{what}, length") + 3, longest)

    def _filling(self, bytes: int) -> Column:
        """A fifth more or less."""
        spread = bytes // 5
        length = self._below(2 * spread + 1, "extra, length") + (bytes - spread)
        return self._text("extra", length, bytes + spread)

    def _text(self, what: str, length: Column, longest: int) -> Column:
        seed = [sf.lit(f"{what} {self.chance.seed}"), _event().cast("string")]
        parts = [sf.sha2(sf.concat_ws(" ", *seed, sf.lit(i)), 512) for i in range(-(-longest // 128))]
        return sf.substring(
            sf.translate(sf.concat(*parts), "0123456789", "ghijklmnop"), sf.lit(1), length.cast("int")
        )

    @property
    def _microseconds(self) -> float:
        """Between two events."""
        return 1_000_000 / self.per_second

    def _micros(self) -> Column:
        return sf.floor(_event() * self._microseconds) + START

    def _time(self) -> Column:
        return sf.timestamp_micros(self._micros())


def _count(events: int, first: int, many: int) -> int:
    """How many of the first so many events have these places in their epoch."""
    epochs, rest = divmod(events, EPOCH)
    return epochs * many + min(max(rest - first, 0), many)


def _event() -> Column:
    return sf.col("event")


def _epoch() -> Column:
    """Also the number of its person, who is the last one."""
    return sf.expr(f"event DIV {EPOCH}")


def _last_auction() -> Column:
    """The last one when the bids of the epoch come, from 0."""
    return _epoch() * AUCTIONS + (AUCTIONS - 1)


def _listed(values: Sequence[str], number: Column) -> Column:
    return sf.element_at(sf.array(*map(sf.lit, values)), (number + 1).cast("int"))


def _letters(hash: Column, many: int) -> Column:
    digits = sf.lpad(sf.lower(sf.hex(hash)), 16, "0")
    return sf.substring(sf.translate(digits, "0123456789", "ghijklmnop"), 16 - many + 1, many)
