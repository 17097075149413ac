"""Guided examples for `caesura demo`."""

from caesura.demo.tour import auction

__all__ = ["auction"]
