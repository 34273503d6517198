"""The paper's benchmarks, each a function that returns a `Problem`."""

from keraspinn.problems.helmholtz import helmholtz

__all__ = ["helmholtz"]
