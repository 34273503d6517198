"""The Keras model that solves a problem, and the steps that train it."""

from keraspinn.training.ensemble import Ensemble
from keraspinn.training.loading import load_model
from keraspinn.training.model import PINNModel

__all__ = ["Ensemble", "PINNModel", "load_model"]
