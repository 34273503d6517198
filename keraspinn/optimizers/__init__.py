"""Optimizers beyond Keras's, most of them second-order."""

from keraspinn.optimizers.base import Objective, Optimizer
from keraspinn.optimizers.bfgs import BFGS
from keraspinn.optimizers.by_name import get
from keraspinn.optimizers.gauss_newton import GaussNewton
from keraspinn.optimizers.lbfgs import LBFGS
from keraspinn.optimizers.soap import SOAP
from keraspinn.optimizers.ssbroyden import SSBFGS, SSBroyden

__all__ = [
    "BFGS",
    "LBFGS",
    "SOAP",
    "SSBFGS",
    "GaussNewton",
    "Objective",
    "Optimizer",
    "SSBroyden",
    "get",
]
