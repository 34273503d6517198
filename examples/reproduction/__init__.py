"""Reproduces the paper's tables: `python -m examples.reproduction TABLE`.

Run it in the repository's root, where Python finds `examples` and `keraspinn`.
"""

from examples.reproduction.results import Results
from examples.reproduction.training import Training, train

__all__ = ["Results", "Training", "train"]
