"""Figures 10 to 17 of the demand paper, by tables II and III: which joins are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bench.clique import BUSHY, Clique, left_deep

Plan = Literal["bushy", "left-deep"]
Parameter = Literal["window", "rate", "streams", "dmax"]

AXES: dict[Parameter, str] = {
    "window": "window (min)",
    "rate": "rows a second",
    "streams": "streams",
    "dmax": "dmax",
}


@dataclass(frozen=True)
class Point:
    """`window` is in minutes. The defaults are set in bold in the paper, which its text has lost: of five values
    the middle one, which for dmax the text confirms (200, and 50 for left-deep plans). Left-deep plans have four
    numbers of streams; 4 is the first in which D is the selective one. Beyond D next to nothing is made, so that
    the choice matters little."""

    plan: Plan
    window: float
    rate: float
    streams: int
    dmax: int

    def __str__(self) -> str:
        return f"{self.plan}, N={self.streams}, w={self.window:g}, λ={self.rate:g}, dmax={self.dmax}"

    def clique(self, pace: Pace) -> Clique:
        seconds = DEFAULTS[self.plan].window * 60 / pace.slices_per_window
        bushy = self.plan == "bushy"
        return Clique(
            tree=BUSHY[self.streams] if bushy else left_deep(self.streams),
            rate=self.rate,
            window=self.window * 60,
            dmax=self.dmax,
            scale=pace.scale,
            slice=seconds,
            slices=pace.slices,
            selective=None if bushy else ("c" if self.streams == 3 else "d"),
        )


@dataclass(frozen=True)
class Pace:
    """The streams last for so many slices, and a slice for a part of the default window, whatever the window of a
    point: the paper's run for five hours with each."""

    scale: int
    slices_per_window: int
    slices: int

    def lasting(self, slices: int) -> Pace:
        return replace(self, slices=slices)


DEFAULTS: dict[Plan, Point] = {
    "bushy": Point("bushy", window=20, rate=1, streams=6, dmax=200),
    "left-deep": Point("left-deep", window=10, rate=1, streams=4, dmax=50),
}


@dataclass(frozen=True)
class Figure:
    number: int
    plan: Plan
    parameter: Parameter
    values: Sequence[float]

    @property
    def title(self) -> str:
        return f"{self.plan} plans by {AXES[self.parameter]} (figure {self.number})"

    def points(self) -> dict[float, Point]:
        return {each: replace(DEFAULTS[self.plan], **{self.parameter: each}) for each in self.values}  # type: ignore[arg-type]


RATES = (0.4, 0.7, 1, 1.3, 1.6)
FIGURES = {
    figure.number: figure
    for figure in (
        Figure(10, "bushy", "window", (10, 15, 20, 25, 30)),
        Figure(11, "bushy", "rate", RATES),
        Figure(12, "bushy", "streams", (4, 5, 6, 7, 8)),
        Figure(13, "bushy", "dmax", (100, 150, 200, 250, 300)),
        Figure(14, "left-deep", "window", (5, 7.5, 10, 12.5, 15)),
        Figure(15, "left-deep", "rate", RATES),
        Figure(16, "left-deep", "streams", (3, 4, 5, 6)),
        Figure(17, "left-deep", "dmax", (30, 40, 50, 60, 70)),
    )
}
