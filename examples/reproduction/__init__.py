"""Reproduction of the paper's tables: `python -m examples.reproduction TABLE`.

Run it in the root of the repository, where Python finds `examples` and `keraspinn`.
"""

from examples.reproduction.results import Results
from examples.reproduction.training import Training, train

__all__ = ["Results", "Training", "train"]
