"""A physical problem, declared in SymPy: checked data, no tensors."""

from keraspinn.declaration.conditions import Condition, Data, Reference  # noqa: F401
from keraspinn.declaration.features import features_of as features_of
from keraspinn.declaration.integrals import integral, resolve_parts  # noqa: F401
from keraspinn.declaration.problem import Problem
from keraspinn.declaration.scaling.scales import Scales as Scales

__all__ = ["Condition", "Problem"]
