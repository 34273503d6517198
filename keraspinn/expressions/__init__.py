"""SymPy expressions: validate, evaluate, save and load them.

`__all__` is public; the other names are for the package itself.
"""

from keraspinn.expressions.derivatives import field_and_index as field_and_index
from keraspinn.expressions.derivatives import fields_of, required_derivatives
from keraspinn.expressions.derivatives import highest_order as highest_order
from keraspinn.expressions.field import Field as Field
from keraspinn.expressions.image import At as At
from keraspinn.expressions.integral import PartIntegral
from keraspinn.expressions.json_tree import from_json, to_json
from keraspinn.expressions.line_integral import LineIntegral as LineIntegral
from keraspinn.expressions.nodes import distinct_nodes as distinct_nodes
from keraspinn.expressions.normal_component import NormalComponent, normal_derivative
from keraspinn.expressions.normal_form import normalize
from keraspinn.expressions.parameter import Parameter
from keraspinn.expressions.program import Program
from keraspinn.expressions.program import columns as columns
from keraspinn.expressions.second_variation import SecondVariation as SecondVariation
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
