"""Guided examples for `caesura demo`."""

from caesura.demo.auction import auction

__all__ = ["auction"]
