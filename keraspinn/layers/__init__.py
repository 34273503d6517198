"""Keras layers of physics-informed networks."""

from keraspinn.layers.adaptive_skip import AdaptiveSkip
from keraspinn.layers.corners import Corners
from keraspinn.layers.factorized import FactorizedDense
from keraspinn.layers.fourier_features import FourierFeatures
from keraspinn.layers.gated import GatedDense
from keraspinn.layers.kinks import Kinks
from keraspinn.layers.periodic import Periodic
from keraspinn.layers.sine import SineDense

__all__ = [
    "AdaptiveSkip",
    "Corners",
    "FactorizedDense",
    "FourierFeatures",
    "GatedDense",
    "Kinks",
    "Periodic",
    "SineDense",
]
