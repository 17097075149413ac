"""Streams to try pipelines on: deterministic, of any size, with punctuations that keep their promise."""

from caesura.testing.arrivals import ArrivalPattern
from caesura.testing.auction import AuctionStreams, write_auction_streams
from caesura.testing.nexmark import (
    NexmarkStreams,
    live_nexmark_streams,
    nexmark_declarations,
    write_nexmark_streams,
)
from caesura.testing.punctuated import PunctuatedStream, write_punctuated_streams
from caesura.testing.slices import even_cuts, random_cuts
from caesura.testing.warehouse import WarehouseStreams, write_warehouse_streams

__all__ = [
    "ArrivalPattern",
    "AuctionStreams",
    "NexmarkStreams",
    "PunctuatedStream",
    "WarehouseStreams",
    "even_cuts",
    "live_nexmark_streams",
    "nexmark_declarations",
    "random_cuts",
    "write_auction_streams",
    "write_nexmark_streams",
    "write_punctuated_streams",
    "write_warehouse_streams",
]
