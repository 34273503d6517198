"""Instruments: how gradients are balanced, and how stiff their flow is."""

from keraspinn.diagnostics.gradients import (
    GradientProbe,
    GradientStatistics,
    gradient_statistics,
)
from keraspinn.diagnostics.hessian import (
    LossHessian,
    hessian_eigenvalues,
    hessian_spectrum,
)

__all__ = [
    "GradientProbe",
    "GradientStatistics",
    "LossHessian",
    "gradient_statistics",
    "hessian_eigenvalues",
    "hessian_spectrum",
]
