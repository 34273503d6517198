"""Fields at other points than an equation's own: u(0, t) beside u(x, t)."""

import functools

import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.expressions.line_integral import LineIntegral
from keraspinn.expressions.parameter import Parameter


class At(sp.Expr):
    """A field or a derivative of it at the image of a point.

    `with_images` makes it of what SymPy's `subs` returns; nobody writes it by hand.

    Args:
        node: The field, of plain coordinates, or its derivative.
        *images: Coordinates, each followed by the expression that stands for it.
    """

    is_commutative = True

    def __new__(cls, node, *images, **options):
        return super().__new__(cls, node, *images)

    @property
    def node(self):
        """The field or derivative."""
        return self.args[0]

    @property
    def images(self):
        """Tuple of pairs of a coordinate and what stands for it."""
        return tuple(zip(self.args[1::2], self.args[2::2], strict=True))

    def _eval_derivative(self, symbol):
        return sp.S.Zero

    def _eval_subs(self, old, new):
        images = [(symbol, value._subs(old, new)) for symbol, value in self.images]
        return self.func(self.node, *(own for pair in images for own in pair))

    def _sympystr(self, printer):
        images = ", ".join(f"{s}={printer._print(value)}" for s, value in self.images)
        return f"{printer._print(self.node)}[{images}]"

    def _latex(self, printer):
        images = ", ".join(
            f"{printer._print(s)}={printer._print(value)}" for s, value in self.images
        )
        return rf"\left.{printer._print(self.node)}\right|_{{{images}}}"


def with_images(expressions, fields=()):
    """Expressions with `At` for fields that are taken at other points.

    Which coordinate a number stands for is known from where the same field stands
    with its coordinates; without such a place expressions stay as they are.

    Args:
        expressions: Tuple of normalized SymPy expressions.
        fields: Iterable of fields, applied to their coordinates, or of expressions
            that they stand in so.

    Example:

    >>> x, t = sp.symbols("x t")
    >>> u = sp.Function("u")(x, t)
    >>> with_images((u.diff(x) - u.diff(x).subs(x, 0),))
    (-Derivative(u(x, t), x)[x=0] + Derivative(u(x, t), x),)
    """
    plain = plain_fields((*expressions, *fields))
    return tuple(_converted(expression, plain) for expression in expressions)


@functools.lru_cache(maxsize=64)  # a declaration asks for the same several times
def with_sums(expressions, coordinates, parts=(0.0, 1.0), fields=()):
    """Expressions with sums of fields at other points for `LineIntegral`s.

    Args:
        expressions: Tuple of normalized SymPy expressions.
        coordinates: The domain's symbols.
        parts: As in `LineIntegral.at_nodes`.
        fields: Tuple of fields, applied to their coordinates.

    Raises:
        ValueError: If it cannot be told which coordinate a symbol stands for.

    Example:

    >>> x, s = sp.symbols("x s")
    >>> u = sp.Function("u")
    >>> [total] = with_sums((LineIntegral(u(s), s, 0, x),), (x,))
    >>> len(total.args)
    20
    """
    if not any(e.has(LineIntegral) for e in expressions):
        return expressions
    plain = plain_fields((*expressions, *fields), coordinates)
    for field in set().union(*(e.atoms(AppliedUndef) for e in expressions)):
        if field.func not in plain:
            raise ValueError(
                f"{field} stands in an integral alone, and has fewer arguments than "
                f"the coordinates {', '.join(map(str, coordinates))}: which of them "
                "it depends on is not said. Let it stand outside of the integral too."
            )

    def summed(*integral):
        return LineIntegral(*integral).at_nodes(parts)

    sums = (e.replace(LineIntegral, summed) for e in expressions)
    return tuple(_converted(own, plain) for own in sums)


def plain_fields(expressions, coordinates=()):
    """Dict from functions to the coordinates that they are once applied to.

    Args:
        expressions: Iterable of normalized SymPy expressions.
        coordinates: The domain's symbols, in the order of a field that stands in
            integrals alone and has as many arguments.
    """
    plain = {}
    for expression in expressions:
        # What an integral is taken by stands for no coordinate.
        outside = expression.replace(LineIntegral, lambda *_: sp.S.Zero)
        for field in outside.atoms(AppliedUndef):
            own = set(field.args)
            # A Dummy is what SymPy's chain rule calls an argument that is replaced.
            named = [a for a in own if type(a) is sp.Symbol]
            if len(named) == len(field.args):
                plain.setdefault(field.func, field.args)
    for integral in set().union(*(e.atoms(LineIntegral) for e in expressions)):
        for field in integral.replace(At, lambda node, *_: node).atoms(AppliedUndef):
            if len(field.args) == len(coordinates):
                plain.setdefault(field.func, tuple(coordinates))
    return plain


def _converted(node, plain):
    if isinstance(node, sp.Subs):
        bound = dict(zip(node.variables, node.point, strict=True))
        return _image(node.expr, bound, plain) or node
    if isinstance(node, (sp.Derivative, AppliedUndef)):
        return _image(node, {}, plain) or node
    if not node.args or isinstance(node, At):
        return node
    return node.func(*(_converted(argument, plain) for argument in node.args))


def _image(node, bound, plain):
    """A field or derivative as it is or as an `At`; `None` if it is neither."""
    field = node.expr if isinstance(node, sp.Derivative) else node
    if not isinstance(field, AppliedUndef) or field.func not in plain:
        return None
    own, images, names = plain[field.func], [], {}
    if len(own) != len(field.args):
        return None
    for symbol, argument in zip(own, field.args, strict=True):
        value = bound.get(argument, argument)
        if argument.is_Symbol:
            names[argument] = symbol
            is_value = argument in bound or isinstance(argument, Parameter)
            if argument != symbol and not is_value:
                return None  # two orders of arguments
        if value != symbol:
            images += [symbol, value]
    result = field.func(*own)
    if isinstance(node, sp.Derivative):
        if not all(symbol in names for symbol, _ in node.variable_count):
            return None
        by = [(names[symbol], count) for symbol, count in node.variable_count]
        result = sp.Derivative(result, *by)
    return At(result, *images) if images else result
