"""Checks of equations at declaration."""

from collections.abc import Iterable

import sympy as sp

from keraspinn.common.checks import check_type
from keraspinn.expressions import nodes
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.field import Field
from keraspinn.expressions.image import At
from keraspinn.expressions.integral import PartIntegral, Region
from keraspinn.expressions.lowering import float_value
from keraspinn.expressions.normal_component import NormalComponent
from keraspinn.expressions.parameter import Parameter
from keraspinn.expressions.tabulated import Tabulated


def validate(
    expressions: sp.Expr | Iterable[sp.Expr],
    coordinates: Iterable[sp.Symbol],
    parameters: Iterable[sp.Symbol] = (),
    where: str = "an equation",
    integrals: bool = False,
) -> None:
    """Check that expressions can be evaluated in a domain.

    Args:
        expressions: A normalized SymPy expression, or an iterable of them.
        coordinates: Tuple of the domain's SymPy symbols.
        parameters: Iterable of further symbols that are allowed, such as a domain's
            normal. A `Parameter` is always allowed.
        where: String that names the expressions in errors, such as
            `"equation 'helmholtz'"`.
        integrals: Whether they may contain integrals over a part.

    Raises:
        TypeError: If something is not a SymPy expression.
        ValueError: If an expression contains an unknown symbol, an unsupported
            function or number, a field of other arguments than coordinates, two
            versions of one field, or a derivative that cannot be computed.

    Example:

    >>> x, k = sp.symbols("x k")
    >>> u = sp.Function("u")(x)
    >>> validate(u.diff(x, 2) + k * u, (x,), parameters=[k])
    """
    check = _Check(tuple(coordinates), tuple(parameters), integrals)
    if isinstance(expressions, sp.Basic):
        expressions = (expressions,)
    expressions = tuple(expressions)
    for expression in expressions:
        expected = "a SymPy expression, as `normalize` makes of an equation"
        check_type(f"expression in {where}", expression, sp.Expr, expected)
    try:
        for node in nodes.distinct_nodes(expressions):
            check.node(node)
    except ValueError as error:
        raise ValueError(f"In {where}: {error}") from None


class _Check:
    def __init__(self, coordinates, parameters, integrals):
        self._integrals = integrals
        self._coordinates = coordinates
        self._known = {*coordinates, *parameters}
        self._symbols = {s.name: s for s in (*parameters, *coordinates)}
        self._fields = {}
        self._names = ", ".join(symbol.name for symbol in coordinates)

    def node(self, node):
        if isinstance(node, Field) and not hasattr(node, "_imp_"):
            self._field(node)
        elif isinstance(node, sp.Derivative):
            self._derivative(node)
        elif isinstance(node, sp.Symbol):
            self._symbol(node)
        elif isinstance(node, At):
            self._image(node)
        elif isinstance(node, Tabulated):
            node.check_order()
        elif isinstance(node, PartIntegral) and not self._integrals:
            raise ValueError(
                f"an integral may occur only in a Condition. Received {node}. Write "
                "keraspinn.Condition(sympy.Eq(keraspinn.integral(...), M)), and in an "
                "equation a number or M = keraspinn.Parameter('M', initial=1.0)."
            )
        elif isinstance(node, Region) or node in (sp.true, sp.false):
            return  # a region is checked when the integral is made
        elif nodes.is_number_leaf(node):
            float_value(node)
        elif isinstance(node, sp.Expr) and not node.args:
            raise ValueError(
                f"the number {node} is not real and finite. Only real equations can be "
                "solved: split a complex one into its real and imaginary parts."
            )
        else:
            nodes.check_supported(node)

    def _symbol(self, symbol):
        self._check_name(symbol)
        if isinstance(symbol, Parameter) or symbol in self._known:
            return
        if isinstance(symbol, NormalComponent):
            raise ValueError(
                f"{symbol} is a component of the outward normal, which exists only "
                "on a boundary. It may occur in a Condition."
            )
        raise ValueError(
            f"unknown symbol {symbol}. Coordinates are {self._names}. For an unknown "
            f'coefficient write {symbol} = keraspinn.Parameter("{symbol}", initial=...)'
            "; for a known one, substitute its number."
        )

    def _check_name(self, symbol):
        """Reject a symbol that differs from another one of the same name."""
        if (other := self._symbols.setdefault(symbol.name, symbol)) != symbol:
            raise ValueError(
                f"two different symbols are called '{symbol.name}', and print alike: "
                "SymPy compares symbols by kind and assumptions too. Received "
                f"{sp.srepr(symbol)}; declared was {sp.srepr(other)}. Rename one, or "
                "create the symbol once and use that object everywhere."
            )

    def _field(self, field):
        name = field.func.__name__
        call = f"{name}({self._names})"
        for argument in field.args:
            if argument.is_Symbol:
                self._check_name(argument)
            if argument not in self._coordinates:
                raise ValueError(
                    f"a field can be applied only to the coordinates {self._names}. "
                    f"Received {field}, whose argument {argument} is not one of them. "
                    f"Write {call}; the condition's `on=` selects its points. A field "
                    "that an equation or a condition contains in this form can be "
                    f"evaluated at other points, by `{call}.subs(...)`."
                )
        if len(set(field.args)) < len(field.args):
            raise ValueError(
                "a field must be applied to each coordinate once. Received "
                f"{field}, which repeats one. Write {call}."
            )
        other = self._fields.setdefault(name, field)
        if other.args != field.args:
            raise ValueError(
                f"the field {name} depends on different coordinates in two places, "
                f"or on them in two orders. Received {other} and {field}. "
                f"Write {call} throughout, or fewer coordinates, the same everywhere."
            )
        if not isinstance(self._symbols.get(name), NormalComponent):
            self._check_name(field.func)

    def _derivative(self, derivative):
        self.node(derivative.expr)
        for symbol, _ in derivative.variable_count:
            self._check_name(symbol)
        field_and_index(derivative, self._coordinates)

    def _image(self, image):
        self.node(image.node)
        for symbol, value in image.images:
            self._symbol(symbol)
            if value.has(Field, Parameter, NormalComponent):
                raise ValueError(
                    f"a field can be evaluated only at points that follow from the "
                    f"coordinates. Received {image}."
                )
            for node in nodes.distinct_nodes([value]):
                self.node(node)
