"""A network's fields and their derivatives, and expressions in them."""

import numpy as np
from keras import backend as keras_backend
from keras import ops

from keraspinn import backend
from keraspinn.declaration.scaling.offsets import network_offsets
from keraspinn.declaration.validation.magnitudes import check_numbers
from keraspinn.declaration.validation.shifted_arguments import (
    check_images,
    check_kernels,
)
from keraspinn.derivatives.engines import (
    choose_engine,
    jvp_derivatives,
    taylor_derivatives,
)
from keraspinn.derivatives.taylor import MissingRule, Taylor, propagate
from keraspinn.expressions import Program, normalize, validate
from keraspinn.expressions.image import with_images, with_sums
from keraspinn.expressions.program import moved
from keraspinn.residuals.hard import HardConstraint


class Fields:
    """The fields that a network stands for, evaluated with their derivatives.

    Everything here is in the problem's scales: points are ξ, values û. A network of
    ours that is adapted to them takes and gives just these; any other sees the
    coordinates that the user declared, and gives the fields in the user's units.

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
        self._coordinates = [symbol.name for symbol in problem.coordinates]
        self._network = network
        self._coefficients = coefficients
        self._dtype = dtype
        self._sizes = np.array([problem.scales.field(name) for name in self.names])
        self._offsets = np.array([problem.scales.offset(n) for n in self.names])
        self._network_offsets = np.array(network_offsets(problem))
        self._adapted = (
            getattr(network, "scales", None) == problem.scales
            and network.is_its_forward
        )
        self._hard = HardConstraint(problem) if problem.hard else None
        self._functions = {}
        self.engine = self._chosen_engine()

    def _chosen_engine(self):
        return choose_engine(self._series, len(self._coordinates), self._dtype)

    def _series(self, points, coordinates=None):
        """The series of the scaled fields, from that of scaled points."""
        series = self._network_series(points, coordinates)
        return self._hard.series(points.value, series) if self._hard else series

    def _network_series(self, points, coordinates):
        if self._adapted:
            return self._network.scaled(points, propagate)
        # The value as the user has it, to the last digit; its slope by ξ.
        unscaled = points * ops.cast(self._scales.half, points.dtype)
        if coordinates is None:
            unscaled = unscaled + ops.cast(self._scales.centre, points.dtype)
        else:
            value = {points.indices.zero: coordinates}
            unscaled = Taylor(points.indices, unscaled.coefficients | value)
        return self._scaled(propagate(self._network, unscaled))

    def scaled_values(self, points):
        """All scaled fields at scaled points `(N, d)`: a tensor `(N, F)`."""
        values = self._network_values(points)
        return self._hard.values(points, values) if self._hard else values

    def _network_values(self, points):
        if self._adapted:
            return self._network.scaled(points, lambda layer, *x: layer(*x))
        half, centre = (
            ops.cast(numbers, points.dtype)
            for numbers in (self._scales.half, self._scales.centre)
        )
        return self._scaled(self._network(points * half + centre))

    def values(self, points, coordinates):
        """All fields in the user's units, a tensor `(N, F)`.

        Args:
            points: Tensor `(N, d)`, scaled.
            coordinates: Tensor `(N, d)`, the same points in the user's units.
        """
        if not self._adapted and not self._hard:
            return self._network(coordinates)
        fields = self.scaled_values(points) * ops.cast(self._sizes, self._dtype)
        return fields + ops.cast(self._offsets, self._dtype)

    def in_units(self, coordinates):
        """All fields in the user's units, of points `(N, d)` in these alone."""
        dtype = keras_backend.standardize_dtype(coordinates.dtype)
        if not self._hard and dtype == self._dtype:
            return self._network(coordinates)
        half, centre = (
            ops.cast(numbers, dtype)
            for numbers in (self._scales.half, self._scales.centre)
        )
        # In float64 they are scaled before they are rounded.
        points = ops.cast((coordinates - centre) / half, self._dtype)
        return self.values(points, ops.cast(coordinates, self._dtype))

    def _scaled(self, fields):
        if self._network_offsets.any():
            fields = fields - ops.cast(self._network_offsets, fields.dtype)
        if (self._sizes == 1).all():
            return fields
        return fields * ops.cast(1.0 / self._sizes, fields.dtype)

    def derivatives(self, points, required, combinations=(), coordinates=None):
        """Derivatives of scaled fields by scaled coordinates.

        Args:
            points: Tensor `(N, d)`, scaled.
            required: Dict from field names to sets of multi-indices.
            combinations: Those in which alone the highest derivatives matter, as
                `Program` finds them.
            coordinates: Tensor `(N, d)`, the same points in the user's units.

        Returns:
            Dict from `(field name, multi-index)` to tensors `(N,)`.
        """
        indices = sorted(set().union(*required.values()))
        if not indices:
            return {}
        values = None
        if self.engine == "taylor":
            try:
                values = taylor_derivatives(
                    lambda series: self._series(series, coordinates),
                    points,
                    indices,
                    combinations,
                )
            except MissingRule:  # a layer was changed since the model was made
                self.engine = self._chosen_engine()
        if values is None:
            values = jvp_derivatives(self.scaled_values, points, indices)
        return {
            (name, index): values[index][..., self.names.index(name)]
            for name in required
            for index in required[name]
        }

    def evaluate(self, program, points, coordinates, normals=None):
        """Values `(N,)` of each of a program's scaled expressions.

        Args:
            program: The `Program`.
            points: Tensor `(N, d)`, scaled.
            coordinates: Tensor `(N, d)`, the same points in the user's units.
            normals: Tensor `(N, s)`, if the program holds the outward normal.
        """
        columns = {
            name: coordinates[..., place]
            for place, name in enumerate(self._coordinates)
        }
        derivatives = self.derivatives(
            points, program.derivatives, program.combinations, coordinates
        )
        derivatives |= self._at_images(program, columns, points)
        coefficients = self.coefficients()
        if normals is not None:
            coefficients |= {
                symbol.name: normals[..., place]
                for place, symbol in enumerate(self._problem.domain.normal)
            }
        return program(columns, derivatives, coefficients)

    def _at_images(self, program, columns, points):
        """What a program needs at images of points, in one pass where it is the same.

        An integral's sum is over twenty images.
        """
        alike, found = {}, {}
        for images, required in program.images.items():
            alike.setdefault(frozenset(required.items()), []).append(images)
        for required, several in alike.items():
            moved_ = [self._moved(images, columns, points) for images in several]
            there, at = (
                ops.concatenate(own, axis=-2) for own in zip(*moved_, strict=True)
            )
            values = self.derivatives(there, dict(required), coordinates=at)
            for key, value in values.items():
                parts = ops.split(value, len(several), axis=-1)
                pairs = zip(several, parts, strict=True)
                found |= {(images, key): part for images, part in pairs}
        return found

    def _moved(self, images, columns, points):
        """Images of points: in the problem's scales, and in the user's units."""
        coordinates = moved(images, self._problem.coordinates)(columns)
        pairs = self._scales.coordinates.items()
        known = [symbol for symbol, _ in images]
        scaled = [
            (own - centre) * (1 / half) if symbol in known else points[..., place]
            for place, (own, (symbol, (centre, half))) in enumerate(
                zip(coordinates, pairs, strict=True)
            )
        ]
        return ops.stack(scaled, axis=-1), ops.stack(coordinates, axis=-1)

    def coefficients(self):
        """The unknown coefficients' values by name, scalars."""
        return {
            name: ops.convert_to_tensor(variable)
            for name, variable in self._coefficients.items()
        }

    def predict(self, expression, points, locate, size, normals=None):
        """Values of an expression, or of each of a list, in the user's units.

        Args:
            expression: SymPy expression, or a list of them.
            points: Float64 array `(n, d)`.
            locate: Function from a tensor of points to scaled and unscaled ones.
            size: Number of points at a time.
            normals: Array `(n, s)` of outward normals there, where there are any.
        """
        several = isinstance(expression, (list, tuple))
        requested = expression if several else [expression]
        called = "An expression to predict"
        requested = tuple(normalize(e, called) for e in requested)
        function = self._function(requested, normals is not None)
        places = range(size, len(points), size)
        with backend.double_precision():
            batches = [
                locate(ops.convert_to_tensor(part, "float64"))
                for part in np.split(points, places)
            ]
            if normals is not None:
                normals = ops.convert_to_tensor(normals, self._dtype)
                batches = [
                    (*batch, part)
                    for batch, part in zip(
                        batches, ops.split(normals, list(places)), strict=True
                    )
                ]
        batches = [function(*batch) for batch in batches]
        values = [
            np.concatenate([ops.convert_to_numpy(value) for value in column])
            for column in zip(*batches, strict=True)
        ]
        return values if several else values[0]

    def _check_places(self, expressions, sums):
        domain = self._problem.domain
        where = domain.blocks("interior"), "the expression"
        check_kernels(expressions, domain, *where)
        check_images(sums, domain, *where)

    def _function(self, expressions, on_boundary):
        if (expressions, on_boundary) not in self._functions:
            known = [*self._problem.fields, *self._problem.parameters]
            coordinates = self._problem.coordinates
            fields = self._problem.fields
            placed = with_images(expressions, fields)
            sums = with_sums(placed, coordinates, fields=fields)
            normal = self._problem.domain.normal if on_boundary else ()
            validate([*known, *sums], coordinates, normal, where="the expression")
            self._check_places(expressions, sums)
            scaled = [self._scales.apply(expression) for expression in sums]
            check_numbers(scaled, self._dtype)
            program = Program(scaled, self._problem.coordinates)
            missing = set(program.derivatives) - set(self.names)
            if missing:
                raise ValueError(
                    f"The problem has no fields {sorted(missing)}; it has "
                    f"{list(self.names)}."
                )
            self._functions[expressions, on_boundary] = backend.compiled(
                lambda *where: self.evaluate(program, *where),
                read=[*self._network.variables, *self._coefficients.values()],
            )
        return self._functions[expressions, on_boundary]
