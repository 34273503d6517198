"""Keras layers of physics-informed networks."""

from keraspinn.layers.gated import GatedDense

__all__ = ["GatedDense"]
