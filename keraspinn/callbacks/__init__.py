"""Callbacks for `PINNModel.fit`."""

from keraspinn.callbacks.annealing import LearningRateAnnealing

__all__ = ["LearningRateAnnealing"]
