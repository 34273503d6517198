"""A network's fields and their derivatives, and expressions in them."""

import numpy as np
from keras import ops

from keraspinn import backend
from keraspinn.derivatives import choose_engine, jvp_derivatives, taylor_derivatives
from keraspinn.expressions import Program, normalize, validate
from keraspinn.taylor import propagate


class Fields:
    """The fields that a network stands for, evaluated with their derivatives.

    Args:
        problem: The `Problem`, which names the fields and coordinates.
        forward: Function of `(points, apply)` that composes the network's layers
            with `apply(layer, *inputs)`, on tensors or on Taylor series.
        coefficients: Dict from names of unknown parameters to variables.
        dtype: Floating-point type of points.

    Attributes:
        engine: `"taylor"` or `"jvp"`.
    """

    def __init__(self, problem, forward, coefficients, dtype):
        self._problem = problem
        self._names = problem.field_names
        self._coordinates = [symbol.name for symbol in problem.coordinates]
        self._forward = forward
        self._coefficients = coefficients
        self._dtype = dtype
        self._functions = {}
        self.engine = choose_engine(self._series, len(self._coordinates), dtype)

    def _series(self, points):
        return self._forward(points, propagate)

    def values(self, points):
        """All fields at points `(N, d)`: a tensor `(N, F)`."""
        return self._forward(points, lambda layer, *inputs: layer(*inputs))

    def derivatives(self, points, required, combinations=()):
        """Derivatives of fields at points.

        Args:
            points: Tensor `(N, d)`.
            required: Dict from field names to sets of multi-indices.
            combinations: Those in which alone the highest derivatives matter, as
                `Program` finds them.

        Returns:
            Dict from `(field name, multi-index)` to tensors `(N,)`.
        """
        indices = sorted(set().union(*required.values()))
        if not indices:
            return {}
        if self.engine == "taylor":
            values = taylor_derivatives(self._series, points, indices, combinations)
        else:
            values = jvp_derivatives(self.values, points, indices)
        return {
            (name, index): values[index][..., self._names.index(name)]
            for name in required
            for index in required[name]
        }

    def evaluate(self, program, points):
        """Values `(N,)` of each of a program's expressions at points."""
        columns = {
            name: points[..., place] for place, name in enumerate(self._coordinates)
        }
        derivatives = self.derivatives(
            points, program.derivatives, program.combinations
        )
        coefficients = {
            name: ops.convert_to_tensor(variable)
            for name, variable in self._coefficients.items()
        }
        return program(columns, derivatives, coefficients)

    def predict(self, expression, points, batch_size):
        """Values of an expression, or of each of a list, at an array of points."""
        several = isinstance(expression, (list, tuple))
        function = self._function(
            tuple(map(normalize, expression if several else [expression]))
        )
        parts = np.split(points, range(batch_size, len(points), batch_size))
        batches = [function(ops.convert_to_tensor(part, self._dtype)) for part in parts]
        values = [
            np.concatenate([ops.convert_to_numpy(value) for value in column])
            for column in zip(*batches, strict=True)
        ]
        return values if several else values[0]

    def _function(self, expressions):
        if expressions not in self._functions:
            known = [*self._problem.fields, *self._problem.parameters]
            validate(
                [*known, *expressions],
                self._problem.coordinates,
                where="the expression",
            )
            program = Program(expressions, self._problem.coordinates)
            missing = set(program.derivatives) - set(self._names)
            if missing:
                raise ValueError(
                    f"The problem has no fields {sorted(missing)}; it has "
                    f"{list(self._names)}."
                )
            self._functions[expressions] = backend.compiled(
                lambda points: self.evaluate(program, points)
            )
        return self._functions[expressions]
