"""Numbers drawn by hash: as columns for many rows, as integers for a few, and the same numbers in both.

A number depends on the seed, on what it is for, and on the ids of what it belongs to, and on nothing else: it is
the same on every machine, however many partitions there are. A definition written with a `Chance[N]` can be
read both ways, by Spark with `OfColumns` and by plain Python with `OfIntegers`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, Generic, TypeVar
from zlib import crc32

from pyspark.sql import Column
from pyspark.sql import functions as sf

N = TypeVar("N", int, Column)

HASHES = 1 << 63
"""A hash is a number from 0 up to this."""


@dataclass(frozen=True)
class Chance(ABC, Generic[N]):
    """`what` makes draws for the same ids independent of each other."""

    seed: int

    @abstractmethod
    def hash(self, what: str, *ids: N) -> N: ...

    def below(self, bound: N | int, what: str, *ids: N) -> N:
        """Evenly from 0 up to `bound`."""
        return self.hash(what, *ids) % bound

    def poisson(self, mean: int, what: str, *ids: N) -> N:
        """By the inverse of its distribution: how many of its steps the hash has passed."""
        return self._passed(_poisson_steps(mean), self.hash(what, *ids))

    def geometric(self, mean: float, what: str, *ids: N) -> N:
        """At least 1: what an exponential distribution is in whole numbers, rounded up, with just this mean."""
        return self._log_floor(self.hash(what, *ids), math.log1p(-1 / mean)) + 1

    @abstractmethod
    def least(self, one: N, other: N | int) -> N: ...

    @abstractmethod
    def either(self, condition: Any, yes: N, no: N | int) -> N: ...

    @abstractmethod
    def quotient(self, dividend: N, divisor: int) -> N:
        """In whole numbers, rounded down."""

    @abstractmethod
    def _passed(self, steps: Sequence[int], hash: N) -> N: ...

    @abstractmethod
    def _log_floor(self, hash: N, divisor: float) -> N:
        """⌊ln u / divisor⌋, where u, between 0 and 1, is the hash over all hashes."""


class OfColumns(Chance[Column]):
    def hash(self, what: str, *ids: Column) -> Column:
        numbers = (sf.lit(crc32(what.encode())), sf.lit(self.seed), *ids)
        return sf.xxhash64(*(number.cast("bigint") for number in numbers)).bitwiseAND(sf.lit(HASHES - 1))

    def least(self, one: Column, other: Column | int) -> Column:
        return sf.least(one, sf.lit(other))

    def either(self, condition: Any, yes: Column, no: Column | int) -> Column:
        return sf.when(condition, yes).otherwise(no)

    def quotient(self, dividend: Column, divisor: int) -> Column:
        return sf.floor(dividend / divisor)

    def _passed(self, steps: Sequence[int], hash: Column) -> Column:
        array = sf.expr(f"array({', '.join(map(str, steps))})")
        return sf.size(sf.filter(array, lambda step: step <= hash)).cast("bigint")

    def _log_floor(self, hash: Column, divisor: float) -> Column:
        return sf.floor(sf.log((hash + 0.5) / float(HASHES)) / divisor)


class OfIntegers(Chance[int]):
    def hash(self, what: str, *ids: int) -> int:
        return _xxhash64(crc32(what.encode()), self.seed, *ids) & (HASHES - 1)

    def least(self, one: int, other: int) -> int:
        return min(one, other)

    def either(self, condition: Any, yes: int, no: int) -> int:
        return yes if condition else no

    def quotient(self, dividend: int, divisor: int) -> int:
        return dividend // divisor

    def _passed(self, steps: Sequence[int], hash: int) -> int:
        return bisect_right(steps, hash)

    def _log_floor(self, hash: int, divisor: float) -> int:
        return math.floor(math.log((hash + 0.5) / float(HASHES)) / divisor)


@cache
def _poisson_steps(mean: int) -> tuple[int, ...]:
    """The probabilities of at most 0, 1, 2, … as hashes, as far as a Poisson number ever gets."""
    most = mean + round(10 * math.sqrt(mean)) + 20
    probabilities = (math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(most))
    return tuple(min(int(total * HASHES), HASHES - 1) for total in accumulate(probabilities))


PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
WORD = (1 << 64) - 1


def _xxhash64(*numbers: int) -> int:
    """What Spark's function gives for BIGINTs, without a sign: each is hashed with the hash so far as its seed."""
    hash = 42
    for number in numbers:
        hash = (hash + PRIMES[4] + 8) ^ (_rotated((number * PRIMES[1]) & WORD, 31) * PRIMES[0])
        hash = _rotated(hash & WORD, 27) * PRIMES[0] + PRIMES[3] & WORD
        hash = (hash ^ hash >> 33) * PRIMES[1] & WORD
        hash = (hash ^ hash >> 29) * PRIMES[2] & WORD
        hash ^= hash >> 32
    return hash


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & WORD
