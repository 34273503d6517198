"""Domains: where collocation points come from."""

from keraspinn.geometry.box import Box

__all__ = ["Box"]
