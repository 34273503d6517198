"""Fields evaluated at other points: u(0, t) beside u(x, t)."""

import functools

import sympy as sp

from keraspinn.expressions.field import Field
from keraspinn.expressions.line_integral import LineIntegral, without_line_integrals
from keraspinn.expressions.parameter import Parameter


class At(sp.Expr):
    """Field, or a derivative of it, at the image of a point.

    `with_images` creates it from the result of SymPy's `subs`.

    Args:
        node: The field of plain coordinates, or its derivative.
        *images: Coordinates, each followed by the expression that replaces it.
    """

    is_commutative = True

    def __new__(cls, node, *images, **options):
        if len(images) % 2:
            raise ValueError("Every coordinate needs the expression that replaces it.")
        return super().__new__(cls, node, *images)

    @property
    def node(self):
        """Field or derivative."""
        return self.args[0]

    @property
    def images(self):
        """Pairs of a coordinate and the expression that replaces it."""
        return tuple(zip(self.args[1::2], self.args[2::2], strict=True))

    def _eval_derivative(self, symbol):
        return sp.S.Zero

    def _eval_subs(self, old, new):
        images = [(symbol, value._subs(old, new)) for symbol, value in self.images]
        return self.func(self.node, *(part for pair in images for part in pair))

    def _sympystr(self, printer):
        return f"{printer._print(self.node)}[{self._printed_images(printer)}]"

    def _latex(self, printer):
        images = self._printed_images(printer)
        return rf"\left.{printer._print(self.node)}\right|_{{{images}}}"

    def _printed_images(self, printer):
        pairs = (map(printer._print, pair) for pair in self.images)
        return ", ".join(map("=".join, pairs))


def with_images(expressions, fields=()):
    """Replace fields that are evaluated at other points by `At`.

    The same field, applied to plain coordinates, tells which coordinate an argument
    replaces. Without such an occurrence an expression stays unchanged.

    Args:
        expressions: Tuple of normalized SymPy expressions.
        fields: Iterable of fields, applied to their coordinates, or of expressions
            that contain them.

    Example:

    >>> x, t = sp.symbols("x t")
    >>> u = sp.Function("u")(x, t)
    >>> with_images((u.diff(x) - u.diff(x).subs(x, 0),))
    (-Derivative(u(x, t), x)[x=0] + Derivative(u(x, t), x),)
    """
    plain = plain_fields((*expressions, *fields))
    return tuple(_converted(expression, plain) for expression in expressions)


@functools.lru_cache(maxsize=64)  # a declaration repeats the call
def with_sums(expressions, coordinates, parts=(0.0, 1.0), fields=()):
    """Replace `LineIntegral`s by sums of fields at other points.

    Args:
        expressions: Tuple of normalized SymPy expressions.
        coordinates: The domain's symbols.
        parts: As in `LineIntegral.at_nodes`.
        fields: Tuple of fields, applied to their coordinates.

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

    def summed(*integral):
        return LineIntegral(*integral).at_nodes(parts)

    sums = (e.replace(LineIntegral, summed) for e in expressions)
    return tuple(_converted(total, plain) for total in sums)


def plain_fields(expressions, coordinates=()):
    """Return a dict from functions to the plain coordinates they are applied to.

    Args:
        expressions: Iterable of normalized SymPy expressions.
        coordinates: The domain's symbols: the arguments of a field that occurs only
            in integrals and has as many.
    """
    plain = {}
    for expression in expressions:
        # A variable of integration replaces no coordinate.
        outside = without_line_integrals(expression)
        for field in outside.atoms(Field):
            # SymPy's chain rule writes a replaced argument as a Dummy.
            named = [a for a in set(field.args) if type(a) is sp.Symbol]
            if len(named) == len(field.args):
                plain.setdefault(field.func, field.args)
    for integral in set().union(*(e.atoms(LineIntegral) for e in expressions)):
        for field in integral.replace(At, lambda node, *_: node).atoms(Field):
            if len(field.args) == len(coordinates):
                plain.setdefault(field.func, tuple(coordinates))
    return plain


def _converted(node, plain):
    if isinstance(node, sp.Subs):
        bound = dict(zip(node.variables, node.point, strict=True))
        return _image(node.expr, bound, plain) or node
    if isinstance(node, (sp.Derivative, Field)):
        return _image(node, {}, plain) or node
    if not node.args or isinstance(node, At):
        return node
    return node.func(*(_converted(argument, plain) for argument in node.args))


def _image(node, bound, plain):
    """Return a field or derivative as it is or as an `At`; `None` for other nodes."""
    field = node.expr if isinstance(node, sp.Derivative) else node
    if not isinstance(field, Field) or field.func not in plain:
        return None
    coordinates, images, names = plain[field.func], [], {}
    if len(coordinates) != len(field.args):
        return None
    is_all_symbols = all(argument.is_Symbol for argument in field.args)
    may_be_mistaken = is_all_symbols or len(field.free_symbols) > 1
    for symbol, argument in zip(coordinates, field.args, strict=True):
        value = bound.get(argument, argument)
        if argument.is_Symbol:
            names[argument] = symbol
            is_value = argument in bound or isinstance(argument, Parameter)
            if argument != symbol and not is_value and may_be_mistaken:
                return None  # arguments in two orders
        if value != symbol:
            images += [symbol, value]
    result = field.func(*coordinates)
    if isinstance(node, sp.Derivative):
        if not all(symbol in names for symbol, _ in node.variable_count):
            return None
        by = [(names[symbol], count) for symbol, count in node.variable_count]
        result = sp.Derivative(result, *by)
    return At(result, *images) if images else result
