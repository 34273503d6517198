"""Metrics of a solution's error."""

from keraspinn.metrics.relative_l2 import RelativeL2

__all__ = ["RelativeL2"]
