"""Callbacks for `PINNModel.fit`."""

from keraspinn.callbacks.annealing import LearningRateAnnealing
from keraspinn.callbacks.backup_and_restore import BackupAndRestore
from keraspinn.callbacks.gradient_histogram import GradientHistogram
from keraspinn.callbacks.hessian_eigenvalue import HessianEigenvalue
from keraspinn.callbacks.loss_weighting import LossWeighting
from keraspinn.callbacks.restore import RestoreOnNonFinite

__all__ = [
    "BackupAndRestore",
    "GradientHistogram",
    "HessianEigenvalue",
    "LearningRateAnnealing",
    "LossWeighting",
    "RestoreOnNonFinite",
]
