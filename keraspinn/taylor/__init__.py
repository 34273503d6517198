"""Truncated multivariate Taylor arithmetic, and a rule for every Keras layer."""

from keraspinn.taylor.activations import register_activation
from keraspinn.taylor.indices import IndexSet
from keraspinn.taylor.rules import MissingRule, propagate, register_rule
from keraspinn.taylor.series import Taylor

__all__ = [
    "IndexSet",
    "MissingRule",
    "Taylor",
    "propagate",
    "register_activation",
    "register_rule",
]
