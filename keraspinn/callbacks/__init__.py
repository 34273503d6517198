"""Callbacks for `PINNModel.fit`."""

from keraspinn.callbacks.annealing import LearningRateAnnealing
from keraspinn.callbacks.gradient_histogram import GradientHistogram
from keraspinn.callbacks.hessian_eigenvalue import HessianEigenvalue

__all__ = ["GradientHistogram", "HessianEigenvalue", "LearningRateAnnealing"]
