"""Fields of a network with their derivatives, and expressions in them."""

import functools

import numpy as np
from keras import ops

from keraspinn import backend
from keraspinn.common.checks import check_known
from keraspinn.declaration.scaling.offsets import network_offsets
from keraspinn.declaration.validation import shifted_arguments
from keraspinn.declaration.validation.dtype_range import check_numbers
from keraspinn.derivatives import engines
from keraspinn.derivatives.taylor import Taylor, propagate
from keraspinn.expressions import Program, normalize, validate
from keraspinn.expressions.image import with_images, with_sums
from keraspinn.expressions.program import columns, moved
from keraspinn.residuals.hard import HardConstraint


class Fields:
    """The fields that a network represents, evaluated with their derivatives.

    Points and values are in the problem's scales, ξ and û. A network of keraspinn that
    is adapted to the scales takes and returns these. Any other network takes the
    coordinates in the user's units, and returns the fields in the user's units.

    Args:
        problem: The `Problem`, which names the fields and coordinates.
        network: The Keras layer or model.
        coefficients: Dict from names of unknown parameters to variables.
        dtype: Floating-point type of points.

    Attributes:
        engine: `"taylor"` or `"jvp"`.
        names: The fields' names, in the order of columns.
    """

    def __init__(self, problem, network, coefficients, dtype):
        self._problem = problem
        self._scales = problem.scales
        self.names = problem.field_names
        self._network = network
        self._coefficients = coefficients
        self._dtype = dtype
        self._sizes = np.array([problem.scales.field(name) for name in self.names])
        self._offsets = np.array([problem.scales.offset(n) for n in self.names])
        self._network_offsets = np.array(network_offsets(problem))
        scales = getattr(network, "scales", None)
        self._adapted = scales == problem.scales and network.is_its_forward
        self._time_shift = getattr(network, "time_shift", None)
        self._hard = HardConstraint(problem) if problem.hard else None
        self._function = functools.cache(self._function)
        dimension = problem.domain.dimension
        self.engine = engines.choose_engine(self.scaled_values, dimension, dtype)

    def scaled_values(self, points, coordinates=None, names=None):
        """Return the scaled fields at scaled points: tensors or Taylor series.

        Args:
            points: Tensor `(N, d)`, or a `Taylor` series of it.
            coordinates: Tensor `(N, d)`, the value of a series in the user's units.
            names: Names of the fields that are read, all if not given.
        """
        if self._adapted:
            wanted = names and not self._hard and [*map(self.names.index, names)]
            fields = self._network.scaled(points, wanted or None)
        else:
            fields = propagate(self._network, self._unscaled(points, coordinates))
            fields = fields - ops.cast(self._network_offsets, self._dtype)
            fields = fields * ops.cast(1.0 / self._sizes, self._dtype)
        if self._hard is None:
            return fields
        half = float(self._scales.half[-1])
        if isinstance(points, Taylor):
            return self._hard.series(self._later(points.value, half), fields)
        return self._hard.values(self._later(points, half), fields)

    def _later(self, points, half=1.0):
        """Return points at the network's times, which may be later than the problem's.

        Args:
            points: Tensor `(N, d)`.
            half: Unit of their times.
        """
        if self._time_shift is None:
            return points
        shift = ops.convert_to_tensor(self._time_shift) / half
        return ops.concatenate([points[..., :-1], points[..., -1:] + shift], axis=-1)

    def _unscaled(self, points, coordinates):
        unscaled = points * ops.cast(self._scales.half, points.dtype)
        if coordinates is None:
            return unscaled + ops.cast(self._scales.centre, points.dtype)
        # The value as the user has it, to the last digit; its gradient is by ξ.
        value = {points.indices.zero: coordinates}
        return Taylor(points.indices, unscaled.coefficients | value)

    def values(self, points, coordinates):
        """Return all fields in the user's units, a tensor `(N, F)`.

        Args:
            points: Tensor `(N, d)`, scaled.
            coordinates: Tensor `(N, d)`, the same points in the user's units.
        """
        if not self._adapted and not self._hard:
            return self._network(coordinates)
        fields = self.scaled_values(points) * ops.cast(self._sizes, self._dtype)
        return fields + ops.cast(self._offsets, self._dtype)

    def derivatives(self, points, required, combinations=(), coordinates=None):
        """Return derivatives of scaled fields by scaled coordinates.

        Args:
            points: Tensor `(N, d)`, scaled.
            required: Dict from field names to sets of multi-indices.
            combinations: The only sums in which the highest derivatives are needed, as
                `Program` derives them.
            coordinates: Tensor `(N, d)`, the same points in the user's units.

        Returns:
            Dict from `(field name, multi-index)` to tensors `(N,)`.
        """
        indices = sorted(set().union(*required.values()))
        if not indices:
            return {}
        if self.engine == "taylor":

            def series(points):
                return self.scaled_values(points, coordinates, [*required])

            values = engines.taylor_derivatives(series, points, indices, combinations)
        else:
            values = engines.jvp_derivatives(self.scaled_values, points, indices)
        keys = [(name, index) for name in required for index in required[name]]
        return {(n, i): values[i][..., self.names.index(n)] for n, i in keys}

    def evaluate(self, program, points, coordinates, normals=None):
        """Return values `(N,)` of each of a program's scaled expressions.

        Args:
            program: The `Program`.
            points: Tensor `(N, d)`, scaled.
            coordinates: Tensor `(N, d)`, the same points in the user's units.
            normals: Tensor `(N, s)`, if the program holds the outward normal.
        """
        by_name = columns(self._problem.coordinates, self._later(coordinates))
        needed = program.derivatives, program.combinations
        derivatives = self.derivatives(points, *needed, coordinates)
        derivatives |= self._at_images(program, by_name, points)
        coefficients = self.coefficients()
        if normals is not None:
            coefficients |= columns(self._problem.domain.normal, normals)
        return program(by_name, derivatives, coefficients)

    def at(self, program, batch):
        """Return values `(N,)` of each of a program's expressions at a `Batch`."""
        return self.evaluate(program, batch.points, batch.coordinates, batch.normals)

    def _at_images(self, program, by_name, points):
        """Return the derivatives that a program needs at images of points.

        Images with the same derivatives share one pass; an integral's sum is over
        twenty images.
        """
        alike, derivatives = {}, {}
        for images, required in program.images.items():
            alike.setdefault(frozenset(required.items()), []).append(images)
        for required, group in alike.items():
            pairs = [self._moved(images, by_name, points) for images in group]
            moved_points, coordinates = (
                ops.concatenate(parts, axis=-2) for parts in zip(*pairs, strict=True)
            )
            values = self.derivatives(moved_points, dict(required), (), coordinates)
            for key, value in values.items():
                parts = ops.split(value, len(group), axis=-1)
                for images, part in zip(group, parts, strict=True):
                    derivatives[images, key] = part
        return derivatives

    def _moved(self, images, by_name, points):
        """Return images of points: in the problem's scales, and in the user's units."""
        coordinates = moved(images, self._problem.coordinates)(by_name)
        pairs = zip(coordinates, self._scales.coordinates.items(), strict=True)
        known = [symbol for symbol, _ in images]
        scaled = [
            (value - centre) * (1 / half) if symbol in known else points[..., column]
            for column, (value, (symbol, (centre, half))) in enumerate(pairs)
        ]
        return ops.stack(scaled, axis=-1), ops.stack(coordinates, axis=-1)

    def coefficients(self):
        """Return the unknown coefficients' values by name, scalars."""
        return {n: ops.convert_to_tensor(v) for n, v in self._coefficients.items()}

    def predict(self, expression, points, locate, size, normals=None):
        """Return values of an expression, or of each of a list, in the user's units.

        Args:
            expression: SymPy expression, or a list of them.
            points: Float64 array `(n, d)`.
            locate: Function from a tensor of points to scaled and unscaled ones.
            size: Number of points at a time.
            normals: Array `(n, s)` of outward normals at the points, or `None`.
        """
        several = isinstance(expression, (list, tuple))
        requested = expression if several else [expression]
        requested = tuple(normalize(e, "An expression to predict") for e in requested)
        function = self._function(requested, normals is not None)
        batches = []
        for start in range(0, len(points), size):
            rows = slice(start, start + size)
            with backend.double_precision():
                batch = locate(ops.convert_to_tensor(points[rows], "float64"))
            if normals is not None:
                batch = (*batch, ops.convert_to_tensor(normals[rows], self._dtype))
            batches.append(function(*batch))
        parts = zip(*batches, strict=True)  # of each expression
        values = [np.concatenate([*map(ops.convert_to_numpy, p)]) for p in parts]
        return values if several else values[0]

    def _function(self, expressions, on_boundary):
        program = self._checked_program(expressions, on_boundary)
        read = [*self._network.variables, *self._coefficients.values()]
        return backend.compiled(lambda *points: self.evaluate(program, *points), read)

    def _checked_program(self, expressions, on_boundary):
        problem, domain = self._problem, self._problem.domain
        sums = with_images(expressions, problem.fields)
        sums = with_sums(sums, problem.coordinates, fields=problem.fields)
        normal = domain.normal if on_boundary else ()
        known = [*problem.fields, *problem.parameters, *sums]
        validate(known, problem.coordinates, normal, where="the expression")
        interior = domain, domain.blocks("interior"), "the expression"
        shifted_arguments.check_kernels(expressions, *interior)
        shifted_arguments.check_shifted_points(sums, *interior)
        scaled = [self._scales.apply(expression) for expression in sums]
        check_numbers(scaled, domain, self._dtype)
        program = Program(scaled, problem.coordinates)
        needed, kind = program.derivatives, "fields of the problem"
        check_known("expression", needed, self.names, kind)
        return program
