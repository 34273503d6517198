"""A physical problem, declared in SymPy: checked data, no tensors."""

from keraspinn.declaration.computed_reference import ComputedReference
from keraspinn.declaration.conditions import Condition, Data, Reference
from keraspinn.declaration.integrals import integral
from keraspinn.declaration.problem import Problem
from keraspinn.declaration.regional import Equation, interface_condition
from keraspinn.declaration.scaling.scales import Scales

__all__ = [
    "ComputedReference",
    "Condition",
    "Data",
    "Equation",
    "Problem",
    "Reference",
    "Scales",
    "integral",
    "interface_condition",
]
