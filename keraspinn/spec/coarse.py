"""A coarse solution by polynomials: how large fields are that hang on one another.

Of several fields, sizes do not follow term by term: a slender beam's deflection and
rotation nearly cancel in its shear, and are a thousand times what the load and the
shear's stiffness say. So all equations and conditions together are solved by least
squares in Chebyshev polynomials of low degree, by Newton's steps from zero, which takes
some hundredths of a second; in one coordinate, where that does not do, of a higher one,
which takes up to a second or two. No answer, but as large as one.
"""

import itertools
import math

import numpy as np
import sympy as sp
from keras import ops
from numpy.polynomial import chebyshev
from sympy.core.function import AppliedUndef

from keraspinn import backend
from keraspinn.expressions import NormalComponent, Parameter, Program
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.spec.offsets import shifted
from keraspinn.spec.sampled import columns, sampled, sampled_normals
from keraspinn.spec.terms import RESIDUAL

POINTS, UNKNOWNS, DEGREE, STEPS = 100, 150, 10, 30
# Times the degree and points, in one dimension where the first do not do; and how far
# apart the two may be.
FINE, AGREED = (4, 3), 1.5
# Of singular values, below which a direction is left as it is.
RANK = 1e-7
# A step of what it has led to, below which no other is made.
SETTLED = 1e-2
# What an equation may be missed by, of its largest term.
MISSED = 0.3
# A field that is smaller than this, of what was expected, is zero; a given value that
# is smaller than this, of what it could be, is rounding.
NOTHING, ROUNDING = 1e-6, 1e-12


def coarse_sizes(domain, terms, field_names, offsets, expected):
    """Dict from names of fields to their largest absolute values.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        field_names: Names of the fields.
        offsets: Dict from names of fields to what they are measured from.
        expected: Dict from names of all fields to sizes that are about right.

    Returns:
        The dict; empty where polynomials do not solve an equation or an expression
        cannot be linearised. A field that is next to nothing is 0.
    """
    expressions = [e for term in terms.values() for e in term.pointwise]
    if any(e.has(At) for e in expressions) or any(
        len(term.regions) > 1 for term in terms.values()
    ):
        return {}

    def solution(fineness):
        return _solution(domain, terms, field_names, offsets, expected, fineness)

    try:
        if (found := solution(1)) or domain.dimension > 1:
            return found
        found = solution(FINE[0])
        other = found and solution(FINE[1])
    except ValueError:  # a derivative by a field that cannot be evaluated
        return {}
    # Newton's steps may lead beyond a pole, to a field that is none.
    return found if other and _agree(found, other) else {}


def _agree(found, other):
    pairs = [(found[name], other[name]) for name in found]
    return all(max(pair) <= AGREED * min(pair) for pair in pairs)


def _solution(domain, terms, field_names, offsets, expected, fineness):
    polynomials = Polynomials(domain, field_names, fineness * DEGREE)
    count = fineness * POINTS
    rows = [
        Linearised(name, k, term, domain, polynomials, offsets, count)
        for name, term in terms.items()
        for k in range(len(term.pointwise))
    ]
    inside = sampled(domain, domain.blocks("interior"), count)
    values = polynomials.derivative(inside, (0,) * domain.dimension)
    with np.errstate(all="ignore"):  # what is not finite ends it
        return _solved(field_names, values, rows, expected)


def _solved(field_names, values, rows, expected):
    sizes = np.array([expected[name] for name in field_names])
    smallest = NOTHING * sizes
    found = np.zeros((len(field_names), values.shape[1]))
    for _ in range(STEPS):
        step = _newton_step(rows, found, sizes)
        if step is None:
            return {}
        found = found + step
        reached = abs(found @ values.T).max(axis=1)
        change = np.linalg.norm(step / sizes[:, None])
        change /= np.linalg.norm(found / sizes[:, None]) or 1.0
        if change < SETTLED:
            break
        sizes = np.where(reached > smallest, reached, sizes)
    if change > MISSED or not all(row.is_solved(found, sizes) for row in rows):
        return {}
    reached = np.where(reached > smallest, reached, 0.0)
    return dict(zip(field_names, reached.tolist(), strict=True))


def _newton_step(rows, found, sizes):
    """The change that makes all rows least, or `None` if they are not finite."""
    residuals, jacobians = [], []
    for row in rows:
        residual, jacobian = row(found)
        jacobian = (jacobian * sizes[:, None]).reshape(len(residual), -1)
        weight = np.linalg.norm(jacobian) or 1.0
        residuals.append(residual / weight)
        jacobians.append(jacobian / weight)
    residual, jacobian = np.concatenate(residuals), np.concatenate(jacobians)
    if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
        return None
    step = np.linalg.lstsq(jacobian, -residual, rcond=RANK)[0]
    return step.reshape(found.shape) * sizes[:, None]


class Polynomials:
    """Products of Chebyshev polynomials in the coordinates, from −1 to 1.

    Args:
        domain: The geometry.
        field_names: Names of the fields, each a sum of all products up to a degree.
        degree: The largest degree, less where that makes too many products.

    Attributes:
        field_names: As given.
        count: Number of products.
    """

    def __init__(self, domain, field_names, degree):
        self.field_names = list(field_names)
        self._centre, self._half = domain.centre, domain.half
        d, fields = domain.dimension, len(self.field_names)
        self._degree = max(
            n
            for n in range(1, degree + 1)
            if n == 1 or fields * math.comb(n + d, d) <= UNKNOWNS
        )
        # Of as many factors as the degree, each a coordinate or one.
        factors = itertools.combinations_with_replacement(range(d + 1), self._degree)
        self._degrees = np.array([[own.count(k) for k in range(d)] for own in factors])
        self.count = len(self._degrees)

    def derivative(self, points, index):
        """A derivative of each product at points `(n, d)`: `(n, count)`."""
        relative = (points - self._centre) / self._half
        total = np.ones((len(points), self.count))
        for x, half, order, own in zip(
            relative.T, self._half, index, self._degrees.T, strict=True
        ):
            every = chebyshev.chebder(np.eye(self._degree + 1), order)
            total *= chebyshev.chebval(x, every).T[:, own] / half**order
        return total


class Linearised:
    """One expression at its points, and its derivatives by the polynomials' factors.

    Args:
        name: Name of the term.
        place: Number of the expression in it.
        term: The `Term`.
        domain: The geometry.
        polynomials: The `Polynomials`.
        offsets: Dict from names of fields to what they are measured from.
        count: Number of points.

    Raises:
        ValueError: If the expression or a derivative of it cannot be evaluated; also
            when called.
    """

    def __init__(self, name, place, term, domain, polynomials, offsets, count):
        self._is_equation = name == RESIDUAL
        self._is_mean = bool(term.regions)
        points, self._target = _places(domain, term, place, count)
        expression = shifted(term.pointwise[place], offsets)
        stand_ins, self._nodes, self._rates, places = {}, [], [], [points]
        known, fields = list(domain.coordinates), []
        for node in distinct_nodes([expression]):
            if isinstance(node, Parameter):
                stand_ins[node] = sp.Float(node.initial)
            elif isinstance(node, NormalComponent):
                known.append(stand_ins.setdefault(node, sp.Dummy()))
                axis = domain.normal.index(node)
                normals = sampled_normals(domain, term.blocks, count)
                places.append(normals[:, [axis]])
            elif isinstance(node, (sp.Derivative, AppliedUndef)):
                fields.append(stand_ins.setdefault(node, sp.Dummy()))
                field, index = field_and_index(node, domain.coordinates)
                field = polynomials.field_names.index(field)
                self._nodes.append((field, polynomials.derivative(points, index)))
                self._rates.append(np.prod(domain.half ** -np.array(index, float)))
        plain = expression.xreplace(stand_ins)
        self._symbols = [*known, *fields]
        self._places = np.concatenate(places, axis=1)
        expressions = [plain, *(plain.diff(symbol) for symbol in fields)]
        self._program = Program(expressions, self._symbols)

    def __call__(self, found):
        """What the expression misses, `(n,)`, and its derivatives, `(n, f, count)`."""
        values, slopes = self._evaluated(found)
        jacobian = np.zeros((len(values), *found.shape))
        for (field, products), slope in zip(self._nodes, slopes, strict=True):
            jacobian[:, field] += slope[:, None] * products
        if self._is_mean:
            return values.mean(keepdims=True), jacobian.mean(axis=0, keepdims=True)
        return values, jacobian

    def is_solved(self, found, sizes):
        """Whether it is missed by little: of its terms, or of what they could be."""
        values, slopes = self._evaluated(found)
        pairs = zip(self._nodes, slopes, strict=True)
        terms = [slope * (own @ found[field]) for (field, own), slope in pairs]
        source = _rms(values - sum(terms))
        if len(terms) == 1:  # q' = 0 is zero, of what it could be
            terms = [slopes[0] * sizes[self._nodes[0][0]] * self._rates[0]]
        left, jacobian = self(found)
        possible = _rms(jacobian * sizes[:, None])
        if self._is_equation:
            allowed = max(MISSED * max(source, *map(_rms, terms)), NOTHING * possible)
        else:
            is_given = source > ROUNDING * possible
            allowed = MISSED * (source if is_given else possible)
        return _rms(left) <= allowed

    def _evaluated(self, found):
        nodes = [(products @ found[field])[:, None] for field, products in self._nodes]
        places = np.concatenate([self._places, *nodes], axis=1)
        with backend.double_precision():
            values = self._program(columns(self._symbols, places), {})
            values = [ops.convert_to_numpy(value) for value in values]
        values, *slopes = [np.broadcast_to(v, len(places)) for v in values]
        return values - self._target, slopes


def _places(domain, term, place, count):
    """Points where an expression holds, `(n, d)`, and what it should equal there."""
    if term.table is None:
        return sampled(domain, term.blocks, count), 0.0
    points, values = term.table
    chosen = np.linspace(0, len(points) - 1, min(count, len(points))).astype(int)
    return points[chosen], values[chosen, place]


def _rms(values):
    return float(np.sqrt(np.mean(np.square(values))))
