"""Physics-informed neural networks in Keras: declare the PDE in SymPy, call `fit`."""

from keraspinn import (
    callbacks,
    diagnostics,
    geometry,
    layers,
    metrics,
    networks,
    optimizers,
    plot,
    problems,
    recipes,
    sampling,
    weighting,
)
from keraspinn.declaration import Condition, Data, Problem, Reference, Scales, integral
from keraspinn.declaration.regional import Equation, interface_condition
from keraspinn.derivatives import taylor
from keraspinn.expressions import Parameter, Tabulated, normal_derivative
from keraspinn.geometry import by_region
from keraspinn.layers import activations
from keraspinn.recipes import continuation, march, solve
from keraspinn.training import Ensemble, PINNModel, load_model
from keraspinn.version import __version__

__all__ = [
    "Condition",
    "Data",
    "Ensemble",
    "Equation",
    "PINNModel",
    "Parameter",
    "Problem",
    "Reference",
    "Scales",
    "Tabulated",
    "__version__",
    "activations",
    "by_region",
    "callbacks",
    "continuation",
    "diagnostics",
    "geometry",
    "integral",
    "interface_condition",
    "layers",
    "load_model",
    "march",
    "metrics",
    "networks",
    "normal_derivative",
    "optimizers",
    "plot",
    "problems",
    "recipes",
    "sampling",
    "solve",
    "taylor",
    "weighting",
]
