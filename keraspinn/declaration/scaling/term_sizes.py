"""Term magnitudes of one expression, and the field magnitudes that they imply."""

import functools
import itertools
import math

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import (
    evaluate_at,
    initial_values,
    probe_points,
)
from keraspinn.declaration.scaling.monomials import OPAQUE, has_derivative, monomials
from keraspinn.expressions import At, Field, distinct_nodes, field_and_index

# Number of operations in a source term, from which on it is not differentiated.
LONGEST_SOURCE = 1000
# Quantile of absolute values that is a coefficient's magnitude: it may have a pole.
QUANTILE = 0.99
# Quantile for boundary and initial values, which may be a narrow pulse.
CONDITION_QUANTILE = 0.998
# Median of a source's absolute values relative to the largest, up to which the source
# is narrow.
LARGEST_MEDIAN = 0.05
# Prescribed value relative to its formula inside the domain, below which it is zero.
ROUND_OFF = 1e-12
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
        sizes: Dict from names of fields to the magnitudes at which functions such as
            exp(-1/u) are evaluated.

    Attributes:
        terms: Dict from monomials in the fields to magnitudes of their coefficients.
        source: Magnitude of the terms without fields.
        is_narrow: Whether these are small in most of their part.
    """

    def __init__(self, expression, target, domain, points, is_condition, sizes):
        self._half, self.is_condition = domain.half.tolist(), is_condition
        # Functions of fields with an offset are known there.
        self._known = () if all(sizes.values()) else (OPAQUE[0],)
        opaque = functools.partial(_typical, sizes, domain, points)
        coefficients = monomials(expression, domain.coordinates, opaque)
        source = coefficients.pop(frozenset(), sp.S.Zero)
        # A parameter that is initially zero does not count beside known terms.
        for zero in (0.0, 1.0):
            self.terms = {
                monomial: size
                for monomial, coefficient in coefficients.items()
                if (size := _magnitude(coefficient, domain, points, zero=zero)) > 0
            }
            if self.terms:
                break
        quantile = CONDITION_QUANTILE if is_condition else QUANTILE
        source_at = functools.partial(_magnitude, source, domain, points)
        self.source = max(target, source_at(quantile))
        if is_condition and source.free_symbols:  # zero here, as sin(pi x) at x = 1
            inside = probe_points(domain, domain.blocks("interior"))
            if self.source < ROUND_OFF * _magnitude(source, domain, inside):
                self.source = 0.0
        is_low = source_at(0.5) <= LARGEST_MEDIAN * source_at(1.0)
        self.is_narrow = is_low and bool(source.free_symbols)
        self._rates = {}  # relative derivatives of an oscillating source
        if self.source and not is_condition and source.count_ops() < LONGEST_SOURCE:
            for index in {i for m in self.terms for (_, i), _ in m if any(i)}:
                pairs = zip(domain.coordinates, index, strict=False)
                derivative = source.diff(*((s, n) for s, n in pairs if n))
                rate = _magnitude(derivative, domain, points) / self.source
                self._rates[index] = rate

    def size(self, monomial, sizes, rates=None):
        """Return a term's magnitude for magnitudes of the fields, 1 if left out."""
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
        is_prescribed = self.is_condition and self.source > 0
        is_rate = all(map(has_derivative, self.terms))
        return is_prescribed and self.holds_alone(field) and not is_rate

    @property
    def prescribes_rate(self):
        """True if a condition prescribes derivatives by the last coordinate alone."""
        is_rate = all(order[-1:] > (0,) for m in self.terms for (_, order), _ in m)
        return self.is_condition and self.source > 0 and is_rate

    @property
    def relates_values(self):
        """True for a condition without derivatives, as of the values of two fields."""
        return self.is_condition and not any(map(has_derivative, self.terms))

    def balancing(self, field, sizes):
        """Return the field's magnitude at which its terms match the others, or 0.

        Args:
            field: Name of the field.
            sizes: Dict from names of fields to their magnitudes, if known.
        """
        known, powers = [self.source], {}
        for monomial in self.terms:
            if {name for (name, _), _ in monomial} <= {field, *self._known, *sizes}:
                power, _ = _split(monomial, field)
                rates = {} if sizes else self._rates
                size = self.size(monomial, sizes | {field: 1.0}, rates)
                if power:
                    powers[monomial] = power, size
                else:
                    known.append(size)
        if self.is_condition:  # a Robin condition prescribes the value
            values = {m: p for m, p in powers.items() if not has_derivative(m)}
            powers = values or powers
        roots = [(max(known) / size) ** (1 / power) for power, size in powers.values()]
        return min(filter(math.isfinite, roots), default=0.0)

    def reactions(self, field, and_derivatives=False):
        """Yield magnitudes at which two terms of different powers balance.

        A reaction a u - b u² settles at u = a / b.

        Args:
            field: Name of the field.
            and_derivatives: Whether terms with derivatives count too.
        """
        terms = [m for m in self.terms if and_derivatives or not has_derivative(m)]
        for low, high in itertools.permutations(terms, 2):
            powers, rests = zip(*(_split(m, field) for m in (low, high)), strict=True)
            if powers[0] < powers[1] and rests[0] == rests[1]:
                ratio = self.size(low, {}) / self.size(high, {})
                yield ratio ** (1 / (powers[1] - powers[0]))


def _split(monomial, field):
    """Return the power of a field in a monomial, and the monomial without the field."""
    rest = frozenset(pair for pair in monomial if pair[0][0] != field)
    return sum(power for _, power in monomial - rest), rest


def _typical(fields, domain, points, node):
    """Return the magnitude of a function of fields at the fields' magnitudes."""
    stand_ins = {}
    for atom in distinct_nodes([node], (sp.Derivative, Field, At)):
        inner = atom.node if isinstance(atom, At) else atom
        name, index = field_and_index(inner, domain.coordinates)
        rate = math.prod(h**-n for h, n in zip(domain.half, index, strict=True))
        stand_ins[atom] = sp.Float(TYPICAL_PART * fields.get(name, 1.0) * rate)
    size = _magnitude(node.xreplace(stand_ins), domain, points)
    return sp.Float(size) if size > 0 else sp.S.One


def _magnitude(expression, domain, points, quantile=QUANTILE, zero=0.0):
    """Return a quantile of absolute values, with unit normals.

    Parameters have their initial values, or `zero` instead of zero.
    """
    known = expression.xreplace(initial_values(expression, zero))
    try:
        values = abs(evaluate_at([known], domain.coordinates, points)[0])
    except ValueError:  # a derivative without values, as of |x|
        return 0.0
    values = values[np.isfinite(values)]
    return float(np.quantile(values, quantile, method="higher")) if len(values) else 0.0
