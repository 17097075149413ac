"""Streams to try pipelines on: deterministic, of any size, with punctuations that keep their promise."""

from caesura.testing.auction import AuctionStreams, write_auction_streams
from caesura.testing.slices import even_cuts, random_cuts

__all__ = ["AuctionStreams", "even_cuts", "random_cuts", "write_auction_streams"]
