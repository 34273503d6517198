"""Reproduces the paper's tables: `python -m keraspinn.reproduce TABLE`."""

from keraspinn.reproduce.results import Results
from keraspinn.reproduce.training import Training, train

__all__ = ["Results", "Training", "train"]
