"""Keras layers of physics-informed networks."""

from keraspinn.layers.adaptive_skip import AdaptiveSkip
from keraspinn.layers.factorized import FactorizedDense
from keraspinn.layers.features import Features
from keraspinn.layers.fourier_features import FourierFeatures
from keraspinn.layers.gated import GatedDense
from keraspinn.layers.periodic import Periodic
from keraspinn.layers.sine import SineDense

__all__ = [
    "AdaptiveSkip",
    "FactorizedDense",
    "Features",
    "FourierFeatures",
    "GatedDense",
    "Periodic",
    "SineDense",
]
