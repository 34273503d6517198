"""A coarse solution by polynomials: how large fields are where no term says it.

Sizes do not follow term by term: a body that gives heat off slowly grows as warm as it
must, and a slender beam's deflection and rotation nearly cancel in its shear. So all
equations and conditions together are solved by least squares in Chebyshev polynomials,
waves where sides are joined, by Newton's steps, in some hundredths of a second.
It is believed where two degrees agree, and tried with higher ones where they do not. No
answer, but as large as one.
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

# By the number of coordinates that fields vary along: degrees that are tried, and how
# many factors of polynomials there may be.
DEGREES, UNKNOWNS = {1: (10, 40), 2: (10, 20)}, {1: 300, 2: 300}
FURTHER = (10,), 150
# The degree, of another's, that must lead to the same; and how far apart they may be.
LOWER, AGREED = 0.75, 1.5
POINTS = 10  # on each part, for each degree
# Newton's steps, and how many times the unknowns, for the time that it takes.
STEPS, WORK = 30, 3000
# Of singular values, below which a direction is left as it is.
RANK = 1e-7
# A step of what it has led to, below which no other is made; and above which, after so
# many, none will settle.
SETTLED, LOST, TRIED = 5e-2, 0.4, 6
# What an equation may be missed by, of its largest term.
MISSED = 0.3
# A field that is smaller than this, of what was expected, is zero; a given value that
# is smaller than this, of what it could be, is rounding.
NOTHING, ROUNDING = 1e-6, 1e-12


def coarse_sizes(domain, terms, offsets, expected, fixed):
    """Dict from names of fields to their largest absolute values.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        offsets: Dict from names of fields to what they are measured from.
        expected: Dict from names of all fields to sizes that are about right.
        fixed: Dict from coordinates that nothing is derived by to values of theirs.

    Returns:
        The dict; empty where polynomials do not solve an equation or an expression
        cannot be linearised. A field that is next to nothing is 0.
    """
    expressions = [e for term in terms.values() for e in term.pointwise]
    if any(e.has(At) for e in expressions) or any(
        len(term.regions) > 1 for term in terms.values()
    ):
        return {}
    if fixed:  # data are of other values
        terms = {name: term for name, term in terms.items() if term.table is None}

    def polynomials(degree):
        return Polynomials(domain, expected, degree, fixed)

    try:
        for degree in DEGREES.get(domain.dimension - len(fixed), FURTHER[0]):
            own = polynomials(degree)
            lower = polynomials(LOWER * own.degree)
            found = _solution(domain, terms, own, offsets, expected)
            other = found and _solution(domain, terms, lower, offsets, expected)
            # Newton's steps may lead beyond a pole, to a field that is none.
            if other and _agree(found, other):
                return found
    except ValueError:  # a derivative by a field that cannot be evaluated
        pass
    return {}


def _agree(found, other):
    pairs = [(found[name], other[name]) for name in found]
    return all(max(pair) <= AGREED * min(pair) for pair in pairs)


def _solution(domain, terms, polynomials, offsets, expected):
    rows = [
        Linearised(name, k, term, domain, polynomials, offsets)
        for name, term in terms.items()
        for k in range(len(term.pointwise))
    ]
    inside = sampled(domain, domain.blocks("interior"), polynomials.points)
    values = polynomials.derivative(inside, (0,) * domain.dimension)
    sizes = np.array([expected[name] for name in polynomials.field_names])
    even = sizes[:, None] * polynomials.even
    with np.errstate(all="ignore"):  # what is not finite ends it
        found = _solved(values, rows, sizes, 0 * even)
        # A fourth power has no slope at zero.
        if found is None and not all(row.is_linear for row in rows):
            found = _solved(values, rows, sizes, even)
    if found is None:
        return {}
    return dict(zip(polynomials.field_names, found.tolist(), strict=True))


def _solved(values, rows, sizes, found):
    """The largest values that Newton's steps lead to, an array; `None` if to none."""
    smallest = NOTHING * sizes
    for number in range(min(STEPS, WORK // found.size)):
        step = _newton_step(rows, found, sizes)
        if step is None:
            return None
        found = found + step
        reached = abs(found @ values.T).max(axis=1)
        change = np.linalg.norm(step / sizes[:, None])
        change /= np.linalg.norm(found / sizes[:, None]) or 1.0
        if change < SETTLED or (number > TRIED and change > LOST):
            break
        sizes = np.where(reached > smallest, reached, sizes)
    if change > MISSED or not all(row.is_solved(found, sizes) for row in rows):
        return None
    return np.where(reached > smallest, reached, 0.0)


def _newton_step(rows, found, sizes):
    """The change that makes all rows least; `None` if they are not finite, or leave
    more open than a constant of each field.
    """
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
    step, _, rank, _ = np.linalg.lstsq(jacobian, -residual, rcond=RANK)
    if rank < found.size - len(found):
        return None
    return step.reshape(found.shape) * sizes[:, None]


class Polynomials:
    """Products of Chebyshev polynomials in the coordinates, from −1 to 1.

    Args:
        domain: The geometry; along its periodic coordinates, waves.
        field_names: Names of the fields, each a sum of all products up to a degree.
        degree: The largest degree, less where that makes too many products.
        fixed: Dict from coordinates that have one value to this.

    Attributes:
        field_names: As given.
        degree: The largest degree.
        count: Number of products.
        even: The factors of the product that is one everywhere, `(count,)`.
        points: Number of points on each part that tell all products apart.
    """

    def __init__(self, domain, field_names, degree, fixed):
        self.field_names = list(field_names)
        self._centre, self._half = domain.centre, domain.half
        self._is_wave = [symbol in domain.periodic for symbol in domain.coordinates]
        self._fixed = [fixed.get(symbol) for symbol in domain.coordinates]
        axes = [k for k, value in enumerate(self._fixed) if value is None]
        d, most = len(axes), UNKNOWNS.get(len(axes), FURTHER[1])
        self.degree = max(
            n
            for n in range(1, int(degree) + 1)
            if n == 1 or len(self.field_names) * math.comb(n + d, d) <= most
        )
        # Of as many factors as the degree, each a coordinate or one.
        factors = itertools.combinations_with_replacement([*axes, None], self.degree)
        places = range(domain.dimension)
        self._degrees = np.array([[own.count(k) for k in places] for own in factors])
        self.count = len(self._degrees)
        self.even = (self._degrees.sum(axis=1) == 0).astype(float)
        self.points = max(POINTS * self.degree, 2 * self.count)

    def moved(self, points):
        """Points with the fixed coordinates' values, `(n, d)`."""
        pairs = zip(points.T, self._fixed, strict=True)
        return np.stack([x if own is None else x * 0 + own for x, own in pairs], -1)

    def derivative(self, points, index):
        """A derivative of each product at points `(n, d)`: `(n, count)`."""
        relative = (points - self._centre) / self._half
        total = np.ones((len(points), self.count))
        for x, half, order, own, is_wave in zip(
            relative.T, self._half, index, self._degrees.T, self._is_wave, strict=True
        ):
            if is_wave:
                every = _waves(x, self.degree, order)
            else:
                unit = chebyshev.chebder(np.eye(self.degree + 1), order)
                every = chebyshev.chebval(x, unit).T
            total *= every[:, own] / half**order
        return total


def _waves(x, degree, order):
    """Derivatives of 1, cos πx, sin πx, cos 2πx, … at points: `(n, degree + 1)`."""
    number = np.arange(degree + 1)
    rates = np.pi * ((number + 1) // 2)
    turned = np.where(number % 2, order, order - 1) * np.pi / 2
    turned[0] = order * np.pi / 2
    return rates**order * np.cos(rates * x[:, None] + turned)


class Linearised:
    """One expression at its points, and its derivatives by the polynomials' factors.

    Args:
        name: Name of the term.
        place: Number of the expression in it.
        term: The `Term`.
        domain: The geometry.
        polynomials: The `Polynomials`.
        offsets: Dict from names of fields to what they are measured from.

    Attributes:
        is_linear: Whether it is linear in the fields.

    Raises:
        ValueError: If the expression or a derivative of it cannot be evaluated; also
            when called.
    """

    def __init__(self, name, place, term, domain, polynomials, offsets):
        self._is_equation = name == RESIDUAL
        self._is_mean = bool(term.regions)
        points, self._target = _places(domain, term, place, polynomials.points)
        moved = polynomials.moved(points)
        expression = shifted(term.pointwise[place], offsets)
        stand_ins, self._nodes, self._rates, places = {}, [], [], [moved]
        known, fields = list(domain.coordinates), []
        for node in distinct_nodes([expression]):
            if isinstance(node, Parameter):
                stand_ins[node] = sp.Float(node.initial)
            elif isinstance(node, NormalComponent):
                known.append(stand_ins.setdefault(node, sp.Dummy()))
                axis = domain.normal.index(node)
                normals = sampled_normals(domain, term.blocks, polynomials.points)
                places.append(normals[:, [axis]])
            elif isinstance(node, (sp.Derivative, AppliedUndef)):
                fields.append(stand_ins.setdefault(node, sp.Dummy()))
                field, index = field_and_index(node, domain.coordinates)
                field = polynomials.field_names.index(field)
                self._nodes.append((field, polynomials.derivative(moved, index)))
                self._rates.append(np.prod(domain.half ** -np.array(index, float)))
        plain = expression.xreplace(stand_ins)
        self._symbols = [*known, *fields]
        self._places = np.concatenate(places, axis=1)
        slopes = [plain.diff(symbol) for symbol in fields]
        self._program = Program([plain, *slopes], self._symbols)
        self.is_linear = not any(e.free_symbols & {*fields} for e in slopes)
        self._at_zero = None

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
        """What the expression misses, and its derivatives by fields and their own."""
        nodes = [products @ found[field] for field, products in self._nodes]
        if not self.is_linear:
            return self._computed(nodes)
        if self._at_zero is None:
            self._at_zero = self._computed([0 * node for node in nodes])
        values, slopes = self._at_zero
        pairs = zip(slopes, nodes, strict=True)
        return values + sum(slope * node for slope, node in pairs), slopes

    def _computed(self, nodes):
        places = np.column_stack([self._places, *nodes])
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
