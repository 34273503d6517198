"""The terms of one expression, how large each is, and what sizes of fields they ask."""

import functools
import math

import numpy as np
import sympy as sp
from keras import ops

from keraspinn.expressions import NormalComponent, Parameter
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.spec.monomials import monomials
from keraspinn.spec.sampled import values_at
from keraspinn.spec.sources import answer, grid

LONGEST_SOURCE = 1000  # operations, above which its derivatives are not taken
# Which part of the values is no larger than the size: any of them may have a pole, and
# what is given a narrow pulse.
SHARE, SHARE_GIVEN = 0.99, 0.998
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
    """

    def __init__(self, expression, target, domain, points, is_given=False):
        found = monomials(expression, domain.coordinates)
        source = found.pop(frozenset(), None)
        self._domain, self._half = domain, domain.half.tolist()
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
        self._is_measured = target > 0 and is_wide
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

    def asked(self, field, is_equation):
        """Sizes of a field that this expression asks for by itself."""
        own = {m: p for m in self.terms if (p := _degree(m, field)) and len(m) == 1}
        asked = []
        if self.source and own:
            driven = self._driven(own) if is_equation else 0.0
            found = {
                m: self._settling(m, power)
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

    def _driven(self, own):
        """The size that the source drives through linear terms, 0 if that is open."""
        linear = [m for m, power in own.items() if power == 1]
        places = grid(self._domain) if linear and self._source is not None else None
        if places is None:
            return 0.0
        expressions = [self._source, *(self._coefficients[m] for m in linear)]
        expressions = _started(expressions, self._unknown)
        if not any(expression.free_symbols for expression in expressions):
            return 0.0
        domain = self._domain
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
        orders = [index for m in linear for (_, index), _ in m]
        return answer(source, coefficients, sizes, orders, self._half)

    def _settling(self, monomial, power):
        return (self.source / self.size(monomial, {}, self._slopes)) ** (1 / power)

    def _reactions(self, field):
        """Sizes at which undifferentiated terms that differ by the field balance."""
        plain = [m for m in self.terms if m and not _is_derivative(m)]
        for low in plain:
            for high in plain:
                more = _degree(high, field) - _degree(low, field)
                if more > 0 and _without(low, field) == _without(high, field):
                    yield (self.terms[low] / self.terms[high]) ** (1 / more)

    def balancing(self, field, sizes):
        """The size at which a field's terms match the others', 0 if none is known."""
        known, own = [self.source], []
        for monomial in self.terms:
            power = _degree(monomial, field)
            others = {f for (f, _), _ in monomial} - {field}
            if not others <= set(sizes):
                continue
            if power:
                own.append((monomial, power))
            else:
                known.append(self.size(monomial, sizes))
        if not own or not max(known):
            return 0.0
        return min(
            (max(known) / self.size(m, sizes | {field: 1.0})) ** (1 / p) for m, p in own
        )


def _degree(monomial, field):
    return sum(power for (name, _), power in monomial if name == field)


def _without(monomial, field):
    return frozenset(pair for pair in monomial if pair[0][0] != field)


def _is_derivative(monomial):
    return any(any(index) for (_, index), _ in monomial)


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
