"""Fields that satisfy hard constraints, from the outputs of a network."""

import functools

import sympy as sp
from keras import ops

from keraspinn.derivatives.taylor import Taylor, add_to, concatenated, factorial
from keraspinn.derivatives.taylor.algebraic import is_algebraic, series_of
from keraspinn.expressions import Program, columns
from keraspinn.geometry.part import exact_number


class HardConstraint:
    """û = (g − offset)/size + φ N̂ for each field, on tensors and on Taylor series.

    The derivatives of g and φ are SymPy's, by the scaled coordinates. The distance from
    a polygon with re-entrant corners is evaluated by Taylor arithmetic: its derivatives
    take SymPy minutes.

    Args:
        problem: The `Problem`.
    """

    def __init__(self, problem):
        scales = problem.scales
        self._symbols = tuple(sp.Symbol(s.name, real=True) for s in problem.coordinates)
        scaled = scales.in_scaled(self._symbols)
        values, factors = [], []
        for name in problem.field_names:
            form = problem.hard.get(name)
            size = exact_number(scales.field(name))
            offset = exact_number(scales.offset(name))
            value = form.value.xreplace(scaled) - offset if form else sp.S.Zero
            values.append(value / size)
            factors.append(form.factor.xreplace(scaled) if form else sp.S.One)
        self._values, self._factors = tuple(values), tuple(factors)
        self._compiled = functools.cache(self._compiled)
        has_branches = any(e.has(sp.Piecewise) for e in self._factors)
        self._is_arithmetic = has_branches and all(map(is_algebraic, self._factors))

    def values(self, points, network):
        """Return scaled fields `(..., N, F)` from scaled points and network outputs."""
        zero = (0,) * len(self._symbols)
        both = self._values, self._factors
        value, factor = (self._evaluated(f, points, (zero,))[zero] for f in both)
        return value + factor * network

    def series(self, points, network):
        """Return the same for a network's `Taylor` series, at points `(..., N, d)`."""
        indices = network.indices
        if self._is_arithmetic:
            x = Taylor.of_points(points, indices)
            names = [symbol.name for symbol in self._symbols]
            factors = concatenated(series_of(self._factors, names, x))
        else:
            factors = self._series(self._factors, points, indices)
        return factors * network + self._series(self._values, points, indices)

    def _series(self, forms, points, indices):
        coefficients = {}
        derivatives = self._evaluated(forms, points, tuple(sorted(indices.carried)))
        for index, derivative in derivatives.items():
            for key, share in indices.destinations(index):
                add_to(coefficients, key, derivative * (share / factorial(index)))
        return Taylor(indices, coefficients)

    def _evaluated(self, forms, points, wanted):
        """Return a dict of the nonzero derivatives of all g, or of all φ."""
        kept, program = self._compiled(forms, wanted)
        values = iter(program(columns(self._symbols, points), {}))
        return {i: ops.stack([next(values) for _ in forms], axis=-1) for i in kept}

    def _compiled(self, forms, wanted):
        kept, expressions = [], []
        for index in wanted:
            derivatives = [_derivative(e, self._symbols, index) for e in forms]
            if any(derivatives) or not any(index):
                kept.append(index)
                expressions += derivatives
        return kept, Program(expressions, self._symbols)


@functools.lru_cache(maxsize=256)
def _derivative(expression, symbols, index):
    """Return a derivative, from the cached one of one order less.

    SymPy factors the result of several derivatives at once, which takes minutes for the
    distance from a polygon.
    """
    if not any(index):
        return expression
    last = max(k for k, count in enumerate(index) if count)
    lower = tuple(count - (k == last) for k, count in enumerate(index))
    return _derivative(expression, symbols, lower).diff(symbols[last])
