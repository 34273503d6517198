"""Term magnitudes of one expression, and the field magnitudes that they imply."""

import functools
import itertools
import math

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import evaluate_at
from keraspinn.declaration.scaling.monomials import OPAQUE, monomials
from keraspinn.expressions import NormalComponent, Parameter
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes

# Number of operations in a source term, from which on it is not differentiated.
LONGEST_SOURCE = 1000
# Quantile of absolute values that is a coefficient's magnitude: it may have a pole.
QUANTILE = 0.99
# Quantile for boundary and initial values, which may be a narrow pulse.
CONDITION_QUANTILE = 0.998
# Quantile of local coefficients at which a source term drives a field.
SOFT_QUANTILE = 0.25
# Smallest softness: coefficients may have a zero.
LEAST_SOFTNESS = 1e-2
# Part of a field's magnitude at which functions of it are evaluated.
TYPICAL_PART = 0.75


class TermSizes:
    """Magnitudes of one expression's terms, from coefficients and the domain's extent.

    Args:
        expression: Normalized SymPy expression.
        target: Magnitude of its tabulated target values, 0 if there are none.
        domain: The geometry.
        points: Points at which coefficients are evaluated, `(n, d)`.
        is_condition: Whether it is a condition or data, not an equation.
        sizes: Optional dict from names of fields to the magnitudes at which functions
            such as exp(-1/u) are evaluated; 1 if left out.
    """

    def __init__(
        self, expression, target, domain, points, is_condition=False, sizes=None
    ):
        opaque = sizes and functools.partial(_typical, sizes, domain, points)
        coefficients = monomials(expression, domain.coordinates, opaque)
        self._source = coefficients.pop(frozenset(), sp.S.Zero)
        self._domain, self._half, self._points = domain, domain.half.tolist(), points
        self.is_condition = is_condition
        # Functions of fields with an offset are known there.
        self._known = {OPAQUE[0]} if sizes and not all(sizes.values()) else set()
        self._coefficients = coefficients
        self.holds_functions = any(OPAQUE in dict(m) for m in coefficients)
        factors = list(coefficients.values())
        magnitudes = _magnitudes(factors, domain, points)
        if not any(magnitudes):  # each has a parameter with the initial value zero
            magnitudes = _magnitudes(factors, domain, points, zero=1.0)
        pairs = zip(coefficients, magnitudes, strict=True)
        self.terms = {monomial: size for monomial, size in pairs if size > 0}
        quantile = CONDITION_QUANTILE if is_condition else QUANTILE
        (source,) = _at_initial_parameters([self._source], 0.0)
        self.source = max(target, _magnitude(source, domain, points, quantile))
        self._mean = 0.0 if is_condition else _mean(source, domain, points)

    @functools.cached_property
    def _waves(self):
        """List of magnitudes and relative derivatives of the source's terms.

        The first entry is its mean over the points, without derivatives.
        """
        waves = [(self._mean / self._softness, {})]
        orders = {index for m in self.terms for (_, index), _ in m if any(index)}
        for part in sp.Add.make_args(self._source):
            (size,) = _magnitudes([part], self._domain, self._points)
            rates = {}
            if size and part.count_ops() < LONGEST_SOURCE:
                for order in sorted(orders):
                    derivative = part
                    # The index of a shifted derivative has one entry more.
                    pairs = zip(self._domain.coordinates, order, strict=False)
                    for symbol, count in pairs:
                        derivative = derivative.diff(symbol, count)
                    (rate,) = _magnitudes([derivative], self._domain, self._points)
                    rates[order] = rate / size
            waves.append((size / self._softness, rates))
        return waves

    @functools.cached_property
    def _softness(self):
        """Sum of the terms where coefficients are small, relative to their largest."""
        local, total = 0.0, 0.0
        for monomial, largest in self.terms.items():
            (coefficient,) = _at_initial_parameters([self._coefficients[monomial]], 1.0)
            size = self.size(monomial, {})
            values = abs(_values(coefficient, self._domain, self._points))
            local, total = local + size * values / largest, total + size
        local = np.nan_to_num(local / total, nan=1.0, posinf=1.0)
        return float(np.clip(np.quantile(local, SOFT_QUANTILE), LEAST_SOFTNESS, 1.0))

    def size(self, monomial, sizes, rates=None):
        """Return a term's magnitude for magnitudes of the fields."""
        total = self.terms[monomial]
        for (field, index), power in monomial:
            rate = math.prod(h**-n for h, n in zip(self._half, index, strict=False))
            rate = max(rate, (rates or {}).get(index, 0.0))
            total *= (sizes.get(field, 1.0) * rate) ** power
        return float(total)

    def largest(self, sizes):
        """Return the largest term's magnitude, 1 if all vanish.

        The source term does not count. An oscillating one is as large as the solution's
        derivatives, but an untrained network has much smaller derivatives: divided by
        its source term, Helmholtz's equation is neglected beside its boundary
        conditions, and training fails.
        """
        largest = max((self.size(m, sizes) for m in self.terms), default=0.0)
        return largest if math.isfinite(largest) and largest > 0 else 1.0

    def holds_alone(self, field):
        """Return whether no other field occurs here."""
        return all(name == field for m in self.terms for (name, _), _ in m)

    def gives(self, field):
        """Return whether a condition prescribes the field itself."""
        values = any(_degree(m, field) and not _is_derivative(m) for m in self.terms)
        has_value = self.is_condition and self.source > 0
        return has_value and values and self.holds_alone(field)

    def balancing(self, field, sizes):
        """Return the field's magnitude at which its terms match the others, or 0.

        Args:
            field: Name of the field.
            sizes: Dict from names of fields to their magnitudes, if known.
        """
        known, powers = [self.source], {}
        for monomial in self.terms:
            power = _degree(monomial, field)
            if {f for (f, _), _ in monomial} - {field, *self._known, *sizes}:
                continue
            if power:
                powers[monomial] = power
            else:
                known.append(self.size(monomial, sizes))
        if self.is_condition:  # a Robin condition prescribes the value
            values = {m: p for m, p in powers.items() if not _is_derivative(m)}
            powers = values or powers
        if not powers or not max(known):
            return 0.0
        sizes = sizes | {field: 1.0}
        is_driven = self.source == max(known) and not self.is_condition
        solutions = []
        for most, rates in self._waves if is_driven else [(max(known), {})]:
            sums = {}  # derivatives of one power oppose the source together
            for monomial, power in powers.items():
                key = power, _is_derivative(monomial)
                sums[key] = sums.get(key, 0.0) + self.size(monomial, sizes, rates)
            roots = [(most / total) ** (1 / p) for (p, _), total in sums.items()]
            solutions.append(min(roots))
        return max(solutions) if math.isfinite(max(solutions)) else 0.0

    def reactions(self, field, and_derivatives=False):
        """Yield magnitudes at which two terms of different powers balance.

        A reaction a u - b u² settles at u = a / b.

        Args:
            field: Name of the field.
            and_derivatives: Whether terms with derivatives count too.
        """
        terms = [m for m in self.terms if and_derivatives or not _is_derivative(m)]
        for low, high in itertools.permutations(terms, 2):
            more = _degree(high, field) - _degree(low, field)
            if more > 0 and _without(low, field) == _without(high, field):
                yield (self.size(low, {}) / self.size(high, {})) ** (1 / more)


def _degree(monomial, field):
    return sum(power for (name, _), power in monomial if name == field)


def _without(monomial, field):
    return frozenset(pair for pair in monomial if pair[0][0] != field)


def _is_derivative(monomial):
    return any(any(index) for (_, index), _ in monomial)


def _typical(fields, domain, points, node):
    """Return the magnitude of a function of fields at the fields' magnitudes."""
    stand_ins = {}
    for atom in distinct_nodes([node]):
        if isinstance(atom, (sp.Derivative, AppliedUndef, At)):
            inner = atom.node if isinstance(atom, At) else atom
            name, index = field_and_index(inner, domain.coordinates)
            rate = math.prod(h**-n for h, n in zip(domain.half, index, strict=True))
            stand_ins[atom] = sp.Float(TYPICAL_PART * fields.get(name, 1.0) * rate)
    (size,) = _magnitudes([node.xreplace(stand_ins)], domain, points)
    return sp.Float(size) if size > 0 else sp.S.One


def _magnitudes(expressions, domain, points, zero=0.0):
    """Return magnitudes at points; parameters have their initial values."""
    expressions = _at_initial_parameters(expressions, zero)
    return [_magnitude(expression, domain, points) for expression in expressions]


def _at_initial_parameters(expressions, zero):
    """Return expressions with parameters at their initial values, and unit normals.

    Terms with a parameter that is initially zero do not count beside known terms.
    """
    stand_ins = {}
    for node in distinct_nodes(expressions):
        if isinstance(node, Parameter):
            stand_ins[node] = sp.Float(node.initial or zero)
        elif isinstance(node, NormalComponent):
            stand_ins[node] = sp.S.One
    return [sp.sympify(expression).xreplace(stand_ins) for expression in expressions]


def _magnitude(expression, domain, points, quantile=QUANTILE):
    values = abs(_values(expression, domain, points))
    values = values[np.isfinite(values)]
    return float(np.quantile(values, quantile, method="higher")) if len(values) else 0.0


def _mean(expression, domain, points):
    mean = abs(np.mean(_values(expression, domain, points)))
    return float(mean) if np.isfinite(mean) else 0.0


def _values(expression, domain, points):
    """Return values at points, zero for derivatives without values, as of |x|."""
    try:
        return evaluate_at([expression], domain.coordinates, points)[0]
    except ValueError:
        return np.zeros(len(points))
