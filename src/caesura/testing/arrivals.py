"""The arrival patterns of PWJoin's experiments (Ding and Rundensteiner, sections 5.1 and 6.1), in their notation.

- `cluster-[order]-[size]`: the rows of one key arrive together, and then the punctuation of that key.
- `punct-[order]-[size]-[match]`: rows arrive in segments. Each ends with the punctuation of one key, and `match`
  per cent of its rows carry that key. The others carry any of the keys that later segments close.
- `uniform-[keys]`: no punctuations, and keys drawn evenly from 0 up to `keys`. Figure 12 of the paper has such a
  stream, but no notation for it.

The order is that of the punctuated keys: asc, desc or random. Sizes and percentages are Poisson numbers with these
means, a percentage at most 100. A Poisson number may be 0: then a punctuation follows another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

GRAMMAR = """\
cluster-[asc|desc|random]-[size], punct-[asc|desc|random]-[size]-[match] or uniform-[keys], \
where numbers start at 1 and match is a percentage"""


class Order(StrEnum):
    ASC = "asc"
    DESC = "desc"
    RANDOM = "random"


class ArrivalPattern:
    """How rows and punctuations arrive."""

    order: Order
    size: int
    """Of a segment, on average. A cluster is a segment, too: all its rows match."""

    @staticmethod
    def parse(notation: str) -> ArrivalPattern:
        """The inverse of `str`."""
        try:
            match notation.split("-"):
                case "cluster", order, size:
                    return Cluster(Order(order), _number(size))
                case "punct", order, size, percentage:
                    return Punct(Order(order), _number(size), _number(percentage))
                case "uniform", keys:
                    return Uniform(_number(keys))
                case _:
                    raise ValueError("of no such kind")
        except ValueError as error:
            raise ValueError(f"{notation!r} is no arrival pattern; these are {GRAMMAR}") from error

    def segments(self, rows: int) -> int:
        """How many there are of about so many rows."""
        return max(1, round(rows / self.size))

    def keys(self, rows: int) -> int:
        """Every segment closes one."""
        return self.segments(rows)


@dataclass(frozen=True)
class Cluster(ArrivalPattern):
    order: Order
    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError("a cluster has at least one row, on average")

    def __str__(self) -> str:
        return f"cluster-{self.order}-{self.size}"


@dataclass(frozen=True)
class Punct(ArrivalPattern):
    order: Order
    size: int
    match: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError("a segment has at least one row, on average")
        if not 1 <= self.match <= 100:
            raise ValueError("a match is a percentage from 1 to 100")

    def __str__(self) -> str:
        return f"punct-{self.order}-{self.size}-{self.match}"


@dataclass(frozen=True)
class Uniform(ArrivalPattern):
    """Its segments end without a punctuation, so they do not show."""

    among: int
    order: Order = field(default=Order.ASC, init=False)
    size: int = field(default=100, init=False)

    def __post_init__(self) -> None:
        if self.among < 1:
            raise ValueError("there is at least one key")

    def __str__(self) -> str:
        return f"uniform-{self.among}"

    def keys(self, rows: int) -> int:
        return self.among


def _number(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]*", text):
        raise ValueError(f"{text!r} is no number from 1 on")
    return int(text)
