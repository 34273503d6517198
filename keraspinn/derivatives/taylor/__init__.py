"""Truncated multivariate Taylor arithmetic, with a rule for each Keras layer."""

from keraspinn.derivatives.taylor import normalizations, operations  # noqa: F401
from keraspinn.derivatives.taylor.activations import register_activation
from keraspinn.derivatives.taylor.indices import IndexSet, factorial, plus  # noqa: F401
from keraspinn.derivatives.taylor.rules import MissingRule, propagate, register_rule
from keraspinn.derivatives.taylor.rules import SeriesLayer as SeriesLayer
from keraspinn.derivatives.taylor.rules import concatenated as concatenated
from keraspinn.derivatives.taylor.series import Taylor, add_to  # noqa: F401

__all__ = [
    "IndexSet",
    "MissingRule",
    "Taylor",
    "propagate",
    "register_activation",
    "register_rule",
]
