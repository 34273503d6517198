"""Fields that keep hard conditions, from what a network makes of points."""

import math

import sympy as sp
from keras import ops

from keraspinn.derivatives.taylor import Taylor
from keraspinn.expressions import Program
from keraspinn.geometry.part import exact_number


class HardConstraint:
    """û = (g − offset)/size + φ N̂ for each field, on tensors and on Taylor series.

    The derivatives of g and φ are SymPy's, by the scaled coordinates.

    Args:
        problem: The `Problem`.
    """

    def __init__(self, problem):
        scales = problem.scales
        self._symbols = tuple(
            sp.Symbol(symbol.name, real=True) for symbol in problem.coordinates
        )
        scaled = {
            symbol: exact_number(centre) + exact_number(half) * own
            for (symbol, (centre, half)), own in zip(
                scales.coordinates.items(), self._symbols, strict=True
            )
        }
        self._values, self._factors = [], []
        for name in problem.field_names:
            form = problem.hard.get(name)
            size = exact_number(scales.field(name))
            offset = exact_number(scales.offset(name))
            value = form.value.xreplace(scaled) - offset if form else sp.S.Zero
            self._values.append(value / size)
            self._factors.append(form.factor.xreplace(scaled) if form else sp.S.One)
        self._programs = {}

    def values(self, points, network):
        """Scaled fields `(..., N, F)` from scaled points and what the network makes."""
        zero = (0,) * len(self._symbols)
        values, factors = self._evaluated(points, (zero,))
        return values[zero] + factors[zero] * network

    def series(self, points, network):
        """The same for the network's `Taylor` series, at points `(..., N, d)`."""
        indices = network.indices
        combined = {i for own in indices.combinations for i, _ in own}
        wanted = tuple(sorted({*indices.members, *combined}))
        values, factors = (
            self._series(own, indices) for own in self._evaluated(points, wanted)
        )
        return factors * network + values

    def _series(self, derivatives, indices):
        coefficients = {}
        for index, derivative in derivatives.items():
            factorial = math.prod(map(math.factorial, index))
            for key, share in indices.destinations(index):
                own = derivative * (share / factorial)
                known = coefficients.get(key)
                coefficients[key] = own if known is None else known + own
        return Taylor(indices, coefficients)

    def _evaluated(self, points, wanted):
        """Derivatives of all g and of all φ, those that do not vanish: two dicts."""
        if wanted not in self._programs:
            self._programs[wanted] = self._compiled(wanted)
        kept, program = self._programs[wanted]
        columns = {
            symbol.name: points[..., place]
            for place, symbol in enumerate(self._symbols)
        }
        found = iter(program(columns, {}))
        results = {}, {}
        for place, index in kept:
            of_fields = [next(found) for _ in self._values]
            results[place][index] = ops.stack(of_fields, axis=-1)
        return results

    def _compiled(self, wanted):
        kept, expressions = [], []
        for place, own in enumerate((self._values, self._factors)):
            for index in wanted:
                derivatives = [self._derivative(e, index) for e in own]
                if any(derivatives) or not any(index):
                    kept.append((place, index))
                    expressions += derivatives
        return kept, Program(expressions, self._symbols)

    def _derivative(self, expression, index):
        for symbol, count in zip(self._symbols, index, strict=True):
            expression = expression.diff(symbol, count, simplify=False)
        return expression
