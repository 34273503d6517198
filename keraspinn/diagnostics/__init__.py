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
from keraspinn.diagnostics.verdicts.energy_gap import EnergyGap, energy_gap
from keraspinn.diagnostics.verdicts.measure import verdict
from keraspinn.diagnostics.verdicts.verdict import Verdict

__all__ = [
    "EnergyGap",
    "GradientProbe",
    "GradientStatistics",
    "LossHessian",
    "Verdict",
    "energy_gap",
    "gradient_statistics",
    "hessian_eigenvalues",
    "hessian_spectrum",
    "verdict",
]
