"""A physical problem, declared in SymPy: checked data, no tensors."""

from keraspinn.spec.computed import ComputedReference
from keraspinn.spec.conditions import Condition, Data, Reference
from keraspinn.spec.integrals import integral
from keraspinn.spec.problem import Problem
from keraspinn.spec.scales import Scales

__all__ = [
    "ComputedReference",
    "Condition",
    "Data",
    "Problem",
    "Reference",
    "Scales",
    "integral",
]
