"""The terms of one expression, how large each is, and what sizes of fields they ask."""

import functools
import math

import numpy as np
import sympy as sp
from keras import ops
from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import values_at
from keraspinn.declaration.scaling.forcing import answer, grid, sides_with
from keraspinn.declaration.scaling.monomials import OPAQUE, monomials
from keraspinn.expressions import NormalComponent, Parameter
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes

LONGEST_SOURCE = 1000  # operations, above which its derivatives are not taken
# Which part of the values is no larger than the size: any of them may have a pole, and
# what is given a narrow pulse.
SHARE, SHARE_GIVEN = 0.99, 0.998
TYPICAL = 0.75  # of a field's largest value, what it is in between
MANY = 10  # data that say how large a field is, whatever an equation with unknowns says


class Balance:
    """One expression as terms with sizes: coefficients with the coordinates' scales.

    Args:
        expression: Normalized SymPy expression.
        target: The size of what it should equal, beside the source it holds.
        domain: The geometry.
        points: Points at which coefficients are looked at, `(n, d)`.
        is_given: Whether the source is a value that is given, of which a narrow pulse
            counts.
        is_mean: Whether it holds on average alone.
        sizes: Optional dict from names of fields to sizes, at which functions of them
            such as exp(-1/u) are as large as they are; 1, if left out.
    """

    def __init__(
        self,
        expression,
        target,
        domain,
        points,
        is_given=False,
        is_mean=False,
        sizes=None,
    ):
        opaque = sizes and functools.partial(_typical, sizes, domain, points)
        found = monomials(expression, domain.coordinates, opaque)
        source = found.pop(frozenset(), None)
        self._domain, self._half = domain, domain.half.tolist()
        # Functions of fields that are measured from an offset are known there.
        self._known = {OPAQUE[0]} if sizes and not all(sizes.values()) else set()
        self.holds_functions = any(OPAQUE in dict(monomial) for monomial in found)
        self._coefficients, self._unknown = found, 0.0
        sizes = _sizes(list(found.values()), domain, points)
        if not any(sizes):  # each holds an unknown number that starts from zero
            self._unknown = 1.0
            sizes = _sizes(list(found.values()), domain, points, zero=1.0)
        self.terms = {
            monomial: size
            for monomial, size in zip(found, sizes, strict=True)
            if size > 0
        }
        # Values on the boundary do not say what is inside.
        inner = abs(points - domain.centre) < 0.99 * domain.half
        inner = points[inner.all(axis=1)]
        is_wide = len(inner) >= MANY and np.all(np.ptp(inner, axis=0) >= domain.half)
        self._is_measured, self._is_mean = target > 0 and is_wide, is_mean
        self.source, self._source, self._points = target, source, points
        if source is not None:
            (started,) = _started([source], 0.0)
            share = SHARE_GIVEN if is_given else SHARE
            self.source = max(target, _size(started, domain, points, share))

    @functools.cached_property
    def _slopes(self):
        """How much larger derivatives of the source are than itself, by multi-index."""
        if self._source is None or self._source.count_ops() > LONGEST_SOURCE:
            return {}
        orders = {index for m in self.terms for (_, index), _ in m if any(index)}
        slopes = {}
        for order in sorted(orders):
            derivative = self._source
            # A derivative at another point has a place more.
            for symbol, count in zip(self._domain.coordinates, order, strict=False):
                derivative = derivative.diff(symbol, count)
            (size,) = _sizes([derivative], self._domain, self._points)
            slopes[order] = size / self.source
        return slopes

    def size(self, monomial, sizes, slopes=None):
        """A term's size, fields being of given sizes and derivatives of theirs."""
        total = self.terms[monomial]
        for (field, index), power in monomial:
            rate = math.prod(h**-n for h, n in zip(self._half, index, strict=False))
            rate = max(rate, (slopes or {}).get(index, 0.0))
            total *= (sizes.get(field, 1.0) * rate) ** power
        return float(total)

    def largest(self, sizes):
        """The largest term's size, 1 where all vanish.

        The source is none of them. One that oscillates is as large as the derivatives
        of a solution that does, but those of a network that is not there yet are as
        small as its coordinates' scales make them: divided by the source, Helmholtz's
        equation is neglected beside its boundary, and nothing is learned.
        """
        found = [self.size(monomial, sizes) for monomial in self.terms]
        largest = max(found, default=0.0)
        return largest if math.isfinite(largest) and largest > 0 else 1.0

    def asked(self, field, equations=None, held=None):
        """Sizes of a field that this expression asks for by itself.

        Args:
            field: Name of the field.
            equations: Of a condition, the equations' `Balance`s; `None` of an equation.
            held: On which sides conditions hold the field, booleans `(d, 2)`; all of
                them, if not said.
        """
        is_equation = equations is None
        own = {m: p for m in self.terms if (p := _degree(m, field)) and len(m) == 1}
        if is_equation:  # u^2 u'' too, as of a conductivity that grows with u
            own |= {m: _degree(m, field) for m in self.terms if _is_alone(m, field)}
        asked = []
        if self.source and own:
            driven = self._driven(own, held) if is_equation else 0.0
            reach = [] if is_equation else self._reach(field, equations, held)
            found = {
                m: self._settling(m, power, reach)
                for m, power in own.items()
                if power != 1 or not driven
            }
            values = [size for m, size in found.items() if not _is_derivative(m)]
            # A condition with the value itself, Robin's too, says it.
            known = values if values and not is_equation else found.values()
            asked.append(min([*known, driven] if driven else known))
        if is_equation:
            asked += self._reactions(field)
        return [size for size in asked if math.isfinite(size) and size > 0]

    def measures(self, field):
        """Whether these are data of the field itself from all over the domain."""
        own = [m for m in self.terms if _degree(m, field) == 1]
        alone = len(own) == len(self.terms) == 1 and len(*own) == 1
        return self._is_measured and alone and not _is_derivative(*own)

    def holds_alone(self, field):
        """Whether no other field stands here."""
        return all(name == field for m in self.terms for (name, _), _ in m)

    def gives(self, field):
        """Whether this says how large the field itself is."""
        own = [m for m in self.terms if _degree(m, field) and len(m) == 1]
        return self.source > 0 and not all(map(_is_derivative, own))

    def held(self, field):
        """On which sides this, a condition, says what the field itself is: `(d, 2)`."""
        own = [m for m in self.terms if _degree(m, field)]
        size = {m: self.size(m, {}) for m in own}
        plain = max((size[m] for m in own if not _is_derivative(m)), default=0.0)
        if self._is_mean or not plain or plain < max(size.values()):
            return np.zeros((self._domain.dimension, 2), bool)
        return sides_with(self._points, self._domain)

    def _driven(self, own, held):
        """The size that the source drives through linear terms, 0 if that is open."""
        linear = [m for m, power in own.items() if power == 1]
        places = grid(self._domain) if linear and self._source is not None else None
        if places is None:
            return 0.0
        expressions = [self._source, *(self._coefficients[m] for m in linear)]
        expressions = _started(expressions, self._unknown)
        domain = self._domain
        held = np.ones((domain.dimension, 2), bool) if held is None else held
        joined = [symbol in domain.periodic for symbol in domain.coordinates]
        held = held | np.array(joined)[:, None]  # where sine waves fit
        is_even = not any(expression.free_symbols for expression in expressions)
        if is_even and held.any(axis=1).all():
            return 0.0
        try:
            found = values_at(expressions, domain.coordinates, places)
        except ValueError:  # a derivative that cannot be evaluated
            return 0.0
        source, *coefficients = (np.broadcast_to(v, len(places)) for v in found)
        inside = domain.contains(domain.interior, places - domain.centre)
        inside = ops.convert_to_numpy(inside) & np.isfinite(source)
        source = np.where(inside, source, 0.0)
        if abs(source).max() < self.source / 10:  # faster than the grid can show
            return 0.0
        coefficients = [np.nan_to_num(values) for values in coefficients]
        sizes = [self.terms[m] for m in linear]
        # A derivative at another point has a place more.
        orders = [index[: len(self._half)] for m in linear for (_, index), _ in m]
        return answer(source, coefficients, sizes, orders, self._half, held)

    def _settling(self, monomial, power, reach):
        factors = []
        for found in reach:  # by a condition, whose terms have one derivative each
            (((_, index), _),) = monomial
            counts = enumerate(index[: len(self._half)])
            factors.append(math.prod(found(*count) for count in counts))
        settled = self.source / self.size(monomial, {}, self._slopes)
        return settled ** (1 / power) * min(factors, default=1.0)

    def _reach(self, field, equations, held):
        """How far what is given here reaches, by each equation.

        A slope at a face makes a field as large as the distance over which it decays: a
        beam on springs bends beside its load alone, and heat comes no further than time
        lets it.
        """
        if not any(_is_derivative(m) for m in self.terms):
            return []
        every = [list(e._linear_terms(field, self._points)) for e in equations]
        faces = sides_with(self._points, self._domain).any(axis=1)
        return [
            functools.partial(_distance, own, held, faces) for own in every if own[1:]
        ]

    def _linear_terms(self, field, points):
        """Pairs of a multi-index and how large its term is at points."""
        own = [m for m in self.terms if len(m) == _degree(m, field) == 1]
        coefficients = [self._coefficients[m] for m in own]
        sizes = _sizes(coefficients, self._domain, points, self._unknown)
        for (((_, order), _),), size in zip(own, sizes, strict=True):
            pairs = zip(self._half, order, strict=False)
            yield order, size * math.prod(h**-n for h, n in pairs)

    def _reactions(self, field):
        """Sizes at which undifferentiated terms that differ by the field balance."""
        plain = [m for m in self.terms if m and not _is_derivative(m)]
        for low in plain:
            for high in plain:
                more = _degree(high, field) - _degree(low, field)
                if more > 0 and _without(low, field) == _without(high, field):
                    yield (self.terms[low] / self.terms[high]) ** (1 / more)

    def pace(self):
        """How much faster in time a given value changes than its interval says."""
        domain, source = self._domain, self._source
        if domain.time_coordinate is None or source is None or not self.source:
            return 1.0
        is_start = np.ptp(self._points[:, -1]) == 0
        if is_start or source.count_ops() > LONGEST_SOURCE:
            return 1.0
        change = source.diff(domain.time_coordinate)
        (size,) = _sizes([change], domain, self._points)
        return max(1.0, size / self.source * self._half[-1])

    def is_instant(self, field):
        """Whether it holds no derivative of a field by time."""
        last = len(self._half) - 1
        return not any(
            name == field and index[last]
            for monomial in self.terms
            for (name, index), _ in monomial
        )

    def balancing(self, field, sizes, pace=1.0):
        """The size at which a field's terms match the others', 0 if none is known.

        Args:
            field: Name of the field.
            sizes: Dict from names of fields to their sizes, where these are known.
            pace: What derivatives by time are larger by than the interval says.
        """
        known, own = [self.source], []
        for monomial in self.terms:
            power = _degree(monomial, field)
            others = {f for (f, _), _ in monomial} - {field} - self._known
            if not others <= set(sizes):
                continue
            if power:
                own.append((monomial, power))
            else:
                last = len(self._half) - 1
                changes = [(i[last], n) for (f, i), n in monomial if f]
                fast = pace ** sum(count * power for count, power in changes)
                known.append(self.size(monomial, sizes) * fast)
        if not own or not max(known):
            return 0.0
        return min(
            (max(known) / self.size(m, sizes | {field: 1.0})) ** (1 / p) for m, p in own
        )


def _degree(monomial, field):
    return sum(power for (name, _), power in monomial if name == field)


def _is_alone(monomial, field):
    return bool(monomial) and all(name == field for (name, _), _ in monomial)


def _distance(terms, held, faces, axis, count):
    """What a derivative at a face makes of a field, of what half widths alone would.

    Along an axis that ends in the face; a derivative along the face says nothing.
    Where the largest term is of a lower order than another, both meet at a shorter
    distance. Where it is not, and no side along the axis holds the field, a flux fills
    it up until what is undifferentiated along the axis takes it.
    """
    orders = {}
    for order, size in terms:
        others = [k for k, n in enumerate(order[: len(held)]) if n and k != axis]
        if all(held[k].any() for k in others):  # else it need not vary along them
            orders[order[axis]] = max(size, orders.get(order[axis], 0.0))
    low = max(orders, key=lambda n: (orders[n], n), default=0)
    if not count or not faces[axis] or not orders.get(low):
        return 1.0
    if low == count + 1 and orders.get(0) and not held[axis].any():
        return orders[low] / orders[0]
    meets = [(orders[n] / orders[low]) ** (1 / (n - low)) for n in orders if n > low]
    return max([m for m in meets if m > 0], default=1.0) ** count


def _without(monomial, field):
    return frozenset(pair for pair in monomial if pair[0][0] != field)


def _is_derivative(monomial):
    return any(any(index) for (_, index), _ in monomial)


def _typical(fields, domain, points, node):
    """How large a function of fields is where these are as large as they are."""
    stand_ins = {}
    for found in distinct_nodes([node]):
        if isinstance(found, (sp.Derivative, AppliedUndef, At)):
            own = found.node if isinstance(found, At) else found
            name, index = field_and_index(own, domain.coordinates)
            rate = math.prod(h**-n for h, n in zip(domain.half, index, strict=True))
            stand_ins[found] = sp.Float(TYPICAL * fields.get(name, 1.0) * rate)
    (size,) = _sizes([node.xreplace(stand_ins)], domain, points)
    return sp.Float(size) if size > 0 else sp.S.One


def _sizes(expressions, domain, points, zero=0.0):
    """The largest absolute values at points; unknown numbers are as at the start."""
    started = _started(expressions, zero)
    return [_size(expression, domain, points) for expression in started]


def _started(expressions, zero):
    """Expressions with unknown numbers as at the start, and normals of size one.

    A number that starts from zero may come to any size: what it multiplies counts for
    nothing beside what is known, as a correction does.
    """
    stand_ins = {}
    for node in distinct_nodes(expressions):
        if isinstance(node, Parameter):
            stand_ins[node] = sp.Float(node.initial or zero)
        elif isinstance(node, NormalComponent):
            stand_ins[node] = sp.S.One
    return [sp.sympify(expression).xreplace(stand_ins) for expression in expressions]


def _size(expression, domain, points, share=SHARE):
    try:
        values = abs(values_at([expression], domain.coordinates, points)[0])
    except ValueError:  # a derivative that cannot be evaluated, of |x| for one
        return 0.0
    values = values[np.isfinite(values)]
    return float(np.quantile(values, share, method="higher")) if len(values) else 0.0
