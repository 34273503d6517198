"""A physical problem, declared in SymPy: checked data, no tensors."""

from keraspinn.declaration.conditions import Condition
from keraspinn.declaration.problem import Problem

__all__ = ["Condition", "Problem"]
