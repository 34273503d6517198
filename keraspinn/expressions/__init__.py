"""SymPy expressions: validate, evaluate, save and load them."""

from keraspinn.expressions.derivatives import fields_of, required_derivatives
from keraspinn.expressions.integral import PartIntegral
from keraspinn.expressions.json_tree import from_json, to_json
from keraspinn.expressions.normal_component import NormalComponent, normal_derivative
from keraspinn.expressions.normal_form import normalize
from keraspinn.expressions.parameter import Parameter
from keraspinn.expressions.program import Program
from keraspinn.expressions.tabulated import Interpolation, Tabulated
from keraspinn.expressions.validation import validate

__all__ = [
    "Interpolation",
    "NormalComponent",
    "Parameter",
    "PartIntegral",
    "Program",
    "Tabulated",
    "fields_of",
    "from_json",
    "normal_derivative",
    "normalize",
    "required_derivatives",
    "to_json",
    "validate",
]
