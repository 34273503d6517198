"""Physics-informed neural networks in Keras: declare the PDE in SymPy, call `fit`."""

from keraspinn import (
    activations,
    callbacks,
    diagnostics,
    geometry,
    layers,
    metrics,
    networks,
    plot,
    problems,
    taylor,
)
from keraspinn.conditions import Condition, Data, Reference
from keraspinn.expressions import Parameter
from keraspinn.loading import load_model
from keraspinn.model import PINNModel
from keraspinn.problem import Problem
from keraspinn.version import __version__

__all__ = [
    "Condition",
    "Data",
    "PINNModel",
    "Parameter",
    "Problem",
    "Reference",
    "__version__",
    "activations",
    "callbacks",
    "diagnostics",
    "geometry",
    "layers",
    "load_model",
    "metrics",
    "networks",
    "plot",
    "problems",
    "taylor",
]
