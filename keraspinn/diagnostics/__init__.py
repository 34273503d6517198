"""Instruments: the error without a reference, gradients, stiffness."""

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
from keraspinn.diagnostics.verdicts import Verdict, verdict

__all__ = [
    "GradientProbe",
    "GradientStatistics",
    "LossHessian",
    "Verdict",
    "gradient_statistics",
    "hessian_eigenvalues",
    "hessian_spectrum",
    "verdict",
]
