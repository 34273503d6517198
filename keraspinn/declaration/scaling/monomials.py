"""Expansion of equations into coefficients times powers of derivatives."""

import collections

import sympy as sp

from keraspinn.expressions import At, Field, field_and_index

# Number of monomials above which a product is not expanded.
MOST_MONOMIALS = 400
# Key of a function of fields, such as sin(u).
OPAQUE = ("", ())


def monomials(expression, coordinates, opaque=lambda node: sp.S.One):
    """Expand an expression into monomials in the fields and their derivatives.

    Args:
        expression: Normalized SymPy expression.
        coordinates: The domain's symbols.
        opaque: Optional function from a node that is no product, such as sin(u), to
            its coefficient; 1 if left out.

    Returns:
        Dict from monomials to their coefficients, expressions without fields. A
        monomial is a frozenset of pairs `((field, multi-index), power)`; the empty one
        is the source term. Functions of fields are `(OPAQUE, 1.0)`.

    Example:

    >>> x = sp.Symbol("x")
    >>> u = sp.Function("u")(x)
    >>> terms = monomials(3 * x * u.diff(x) ** 2 - sp.sin(x), (x,))
    >>> [(list(monomial), coefficient) for monomial, coefficient in terms.items()]
    [([(('u', (1,)), 2.0)], 3*x), ([], -sin(x))]
    """
    summands = collections.defaultdict(list)
    for monomial, coefficient in _terms(expression, tuple(coordinates), opaque):
        summands[monomial].append(coefficient)
    total = {monomial: sp.Add(*parts) for monomial, parts in summands.items()}
    # Source terms last: an order that does not depend on hashes of symbols.
    return dict(sorted(total.items(), key=lambda item: (not item[0], str(item[0]))))


def has_derivative(monomial, name=""):
    """Return whether a monomial holds a derivative, of one field if a name is given."""
    return any(any(order) and name in ("", field) for (field, order), _ in monomial)


def _terms(node, coordinates, opaque):
    """Return pairs of a monomial and its coefficient."""
    if not node.has(Field):
        return [(frozenset(), node)]
    if isinstance(node, (sp.Derivative, Field)):
        return [(frozenset({(field_and_index(node, coordinates), 1.0)}), sp.S.One)]
    if isinstance(node, At):
        # One more entry distinguishes it from the field without a shift.
        field, index = field_and_index(node.node, coordinates)
        return [(frozenset({((field, (*index, 0)), 1.0)}), sp.S.One)]
    if isinstance(node, sp.Add):
        return [t for part in node.args for t in _terms(part, coordinates, opaque)]
    if isinstance(node, sp.Mul):
        product = [(frozenset(), sp.S.One)]
        for factor in node.args:
            terms = _terms(factor, coordinates, opaque)
            if len(product) * len(terms) > MOST_MONOMIALS:
                return [(frozenset({(OPAQUE, 1.0)}), opaque(node))]
            product = [_times(left, right) for left in product for right in terms]
        return product
    if isinstance(node, sp.Pow) and node.exp.is_number and node.exp.is_positive:
        # (a + b)^p is about as large as the larger of a^p and b^p.
        return [_raised(t, node.exp) for t in _terms(node.base, coordinates, opaque)]
    return [(frozenset({(OPAQUE, 1.0)}), opaque(node))]


def _times(left, right):
    powers = collections.Counter(dict(left[0])) + collections.Counter(dict(right[0]))
    return frozenset(powers.items()), left[1] * right[1]


def _raised(term, exponent):
    monomial, coefficient = term
    raised = frozenset((key, power * float(exponent)) for key, power in monomial)
    return raised, coefficient if exponent == 1 else sp.Abs(coefficient) ** exponent
