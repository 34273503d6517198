"""A model linearized in its parameters, for Newton steps and covariances."""

import contextlib
import math

import numpy as np
from keras import config, ops, tree
from keras.initializers import GlorotNormal

from keraspinn import backend
from keraspinn.backend.scopes import assign, joined, substituted
from keraspinn.networks import MLP
from keraspinn.sampling import Batch, PointSources, at_most_once, systematic
from keraspinn.training.flat import row_jacobians, split
from keraspinn.training.precision import with_units

FIELDS = "fields"
# Points to choose from, for each one that is chosen by its residual.
POOL = 20
# Points at which residuals are evaluated at a time.
LARGEST = 2_000


def stacked(pairs, divisors):
    """Return residuals `(N,)` and Jacobians `(N, P)` one after another, divided.

    Args:
        pairs: List of pairs `(n,)` and `(n, P)`.
        divisors: A number for each pair.
    """
    scaled = [(r / n, j / n) for (r, j), n in zip(pairs, divisors, strict=True)]
    return [np.concatenate(parts) for parts in zip(*scaled, strict=True)]


class Tangent:
    """Residuals of a model at drawn points, and their derivatives by its parameters.

    Computed in double precision for a model of any type. The number P counts the
    network's trainable parameters and the problem's unknown ones, which come last.

    Args:
        model: A `PINNModel`.
        inside: Number of points of equations, or of an energy.
        on_face: Number of points on each face, and of rows of `Data`.
        whole: Names of `Data` of which all rows are used.

    Raises:
        ValueError: If P is zero.

    Attributes:
        size: P.
        rows: Function `_rows`, compiled, with arrays as its results.
        moved: The same of `_moved`.
        field_rows: The same of `_field_rows`.
        squares: The same of `_squares`.
    """

    def __init__(self, model, inside, on_face, whole=()):
        if model.variable_dtype != "float64":
            model = model.astype("float64")
        self.model = model
        self._objective, self._fields = model._objective, model._fields
        coefficients = model.coefficients.values()
        self._variables = [*model.network.trainable_variables, *coefficients]
        self.size = sum(math.prod(variable.shape) for variable in self._variables)
        if not self.size:
            raise ValueError(
                "All weights are frozen, so that no correction of the model estimates "
                "its error. Set network.trainable = True."
            )
        self._inside, self._on_face, self._whole = inside, on_face, whole
        self._wider = None
        functions = self._rows, self._moved, self._field_rows, self._squares
        compiled = map(self.compiled, functions)
        self.rows, self.moved, self.field_rows, self.squares = compiled

    @classmethod
    def kept(cls, model, *sizes):
        """Return the model's tangent that an earlier call compiled, if there is one."""
        if model.variable_dtype != "float64":
            return cls(model, *sizes)
        key = sizes, id(model._objective), *map(id, model.trainable_variables)
        tangents = vars(model).setdefault("_tangents", {})  # Keras does not track it
        if key not in tangents:
            tangents[key] = cls(model, *sizes)
        return tangents[key]

    def finer(self, factor):
        """Return the tangent with more points."""
        return self.kept(self.model, factor * self._inside, factor * self._on_face)

    def widened(self, factor):
        """Return the tangent of a network with more units and the same values.

        Returns:
            The `Tangent`, or `None` for measurements, frozen weights, and networks
            but an `MLP`.
        """
        model, network = self.model, self.model.network
        if type(network) is not MLP or model.problem.measured:
            return None
        if len(network.trainable_variables) != 2 * network.depth + 2:  # frozen
            return None
        units = factor * network.units
        new = with_units(model, units, kernel_initializer=GlorotNormal(model.seed))
        self._wider = self._wider or new  # Keras would save one of the model
        assign(self._wider.variables, new.variables)
        return self.kept(self._wider, self._inside, self._on_face)

    def draw(self, number, inside=None):
        """Draw batches by term name.

        Args:
            number: A negative integer; others draw other points.
            inside: Number of points of equations, if not the usual one.
        """
        problem, inside = self.model.problem, inside or self._inside
        pairs = [(n, t) for n, t in problem.terms.items() if n not in self._whole]
        sizes = {n: inside if t.is_equation else self._on_face for n, t in pairs}
        return PointSources(problem, "float64", sizes).draw(self.model.seed, number)

    def rows_by_residual(self, number):
        """Return `rows` with more points of equations where residuals are large.

        Rows are divided by the root of the density, so that sums of squares have the
        mean that they have for uniform points.
        """
        batches, pool = self.draw(number), self.draw(number, POOL * self._inside)
        roots = {}
        for name, term in self._objective.terms.items():
            if self.model.problem.terms[name].is_equation and term.is_pointwise:
                count, part = pool[name].parts(LARGEST)
                squares = [self.squares({name: part(k)})[name] for k in range(count)]
                size = ops.sqrt(np.concatenate(squares)[: POOL * self._inside])
                mean = ops.mean(size) + config.epsilon() ** 2
                density = at_most_once(size / mean + 1, self._inside)
                density = density / ops.mean(density)
                taken = systematic(density, self._inside, 0.5)
                drawn = pool[name].by_point() | {"density": density}
                drawn = {n: ops.take(x, taken, axis=0) for n, x in drawn.items()}
                roots[name] = np.sqrt(ops.convert_to_numpy(drawn.pop("density")))
                batches[name] = Batch(**drawn)
        return {
            name: [(r / root, j / root[:, None]) for r, j in pairs]
            for name, pairs in self.rows(batches).items()
            for root in [roots.get(name, np.ones(1))]
        }

    def compiled(self, function):
        """Compile a function that reads the model, with arrays as its results."""
        program = backend.compiled(function, read=self.model.variables)
        return lambda *arguments: tree.map_structure(
            ops.convert_to_numpy, program(*arguments)
        )

    def norm(self):
        """Return the norm of the parameters."""
        return float(np.linalg.norm([np.linalg.norm(v) for v in self._variables]))

    @contextlib.contextmanager
    def moved_by(self, change):
        """Evaluate the model with its parameters moved by `(P,)`, then restore them."""
        before = [ops.convert_to_numpy(variable) for variable in self._variables]
        parts = map(ops.convert_to_numpy, split(change, self._variables))
        try:
            assign(self._variables, map(np.add, before, parts))
            yield self.model
        finally:
            assign(self._variables, before)

    def _rows(self, batches):
        """Return residuals and their Jacobians.

        Returns:
            Dict from term names to a list, for each of the term's expressions, of
            `(N,)` and `(N, P)`.
        """
        objective, variables = self._objective, self._variables
        pairs, values = {}, backend.snapshot(variables)
        for name, batch in batches.items():
            residuals = objective.residuals(name, batch)
            if objective.terms[name].is_pointwise:
                batch = batch._replace(weights=1.0)
            jacobians = row_jacobians(objective, name, batch, variables, values)
            pairs[name] = list(zip(residuals, jacobians, strict=True))
        return pairs

    def _squares(self, batches):
        """Return squared residuals, summed over each term's expressions, a dict."""
        terms = self._objective.terms
        return {n: terms[n].squared(self._fields, b) for n, b in batches.items()}

    def _field_rows(self, batches):
        """Return the Jacobians `(N, P)` of the fields, at points where each lives."""

        def fields(values, points):
            with substituted(self._variables, values):
                return self._columns(Batch(**points))

        values = backend.snapshot(self._variables)
        return self._where_each_lives(
            lambda name: backend.jacobian(fields, values, batches[name].by_point())
        )

    def _columns(self, batch):
        """Return the values of each field, a list of `(N,)`."""
        return ops.unstack(self._fields.values(batch.points, batch.coordinates), axis=1)

    def _where_each_lives(self, values_of):
        """Return each field's rows at the points of the equations where it lives.

        Args:
            values_of: Function from a term's name to the rows of all fields there.
        """
        homes = self.model.problem.field_terms.values()
        rows = {name: values_of(name) for names in homes for name in names}
        parts = ([rows[name][k] for name in names] for k, names in enumerate(homes))
        return [*map(ops.concatenate, parts)]

    def _moved(self, batches, direction):
        """Return residuals and fields, and their derivatives in a direction `(P,)`.

        Returns:
            Two dicts from term names, and `"fields"` for the fields where each lives,
            to lists of `(N,)`: the values, and their changes.
        """

        def values(parameters):
            with substituted(self._variables, split(parameters, self._variables)):
                rows = {n: self._objective.residuals(n, b) for n, b in batches.items()}
                fields = self._where_each_lives(lambda n: self._columns(batches[n]))
            return rows | {FIELDS: fields}

        return backend.jvp(values, joined(backend.snapshot(self._variables)), direction)
