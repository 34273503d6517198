"""Evaluation of a trained network: losses, errors and integrals."""

import numpy as np
from keras import ops

from keraspinn import backend
from keraspinn.common.checks import check_count
from keraspinn.declaration import Reference, integral, resolve_parts
from keraspinn.declaration.field_parts import lives_at
from keraspinn.declaration.terms import LARGEST_SHARE
from keraspinn.expressions import NormalComponent, PartIntegral, Program, fields_of
from keraspinn.sampling.given import EVALUATION_BATCH_SIZE, check_batch
from keraspinn.sampling.lattice import lattice
from keraspinn.sampling.sources import PointSources

# Points on each part of the domain that a condition's loss is evaluated at.
EVALUATION_POINTS = 1024
# The golden ratio less one, whose multiples are far from all fractions.
GOLDEN = 0.6180339887


class Evaluation:
    """Losses of a problem, and errors against its reference, at given points.

    Args:
        problem: The `Problem`.
        dtype: Floating-point type of points.

    Attributes:
        sources: The `PointSources` of the conditions' fixed points.
        place: The `Place` of the residual's points.
    """

    def __init__(self, problem, dtype):
        self._problem = problem
        self.sources = PointSources(problem, dtype, EVALUATION_POINTS, shared=False)
        self.place = self.sources.places["residual"]
        expressions = problem.reference_expressions
        self._levels = [_level(problem, name) for name in expressions]
        scaled = map(problem.scales.apply, expressions.values())
        pairs = zip(scaled, self._levels, strict=True)
        varying = [e - e.as_coeff_Add()[0] if level else e for e, level in pairs]
        self._reference = Program(varying, problem.coordinates)

    def update(self, model, x, y, seed):
        """Update the logs of a model; return them.

        Args:
            model: The `PINNModel`.
            x: Tensor `(n, d)`.
            y: Dict from reference names to tensors `(n,)`, or `None`.
            seed: Integer that the conditions' points follow from.
        """
        check_batch(self._problem, "evaluation", x)
        batches = self.sources.draw(seed, -1)
        if not self.place.term.is_energy:  # which needs lattice points
            batches["residual"] = self.place.given(x)
        located, batches = backend.shard((self.place.locate(x), batches))
        weights, variables = model.loss_weights, model.trainable_variables
        losses = model._objective.losses(batches, weights, variables)
        logs = model._logs.update(losses, steps=ops.shape(x)[0])
        if y is not None:
            self._problem.check_reference_names(y)
            values = model._fields.evaluate(self._reference, *located)
            parts = model._logs.errors, values, self._levels
            for error, value, level in zip(*parts, strict=True):
                name = error.name.removesuffix("_relative_l2")
                known = ops.cast(ops.reshape(y[name], ops.shape(value)), value.dtype)
                error.update_state(known - level, value)
                logs[error.name] = error.result()
        return logs


def integrate(model, expression, over, where, points):
    """Integrate an expression; the other arguments are those of `PINNModel.integrate`.

    Args:
        model: The `PINNModel`.
    """
    problem, locate = model.problem, model._evaluation.place.locate
    domain = problem.domain
    check_count("points", points)
    if not isinstance(expression, PartIntegral):
        expression = integral(expression, over, where)
    has_normals, total = expression.integrand.has(NormalComponent), 0.0
    for part in resolve_parts(expression.region, domain):
        with backend.double_precision():
            # Not where the fold has its ends: fields may have poles on faces.
            shift = (np.arange(1, domain.draws(part) + 1) * GOLDEN % 1)[None]
            drawn = domain.sample(part, np.asarray(lattice((points,), shift)))
            there = np.asarray(domain.absolute(part, drawn))
            normals = np.asarray(domain.normals(part, drawn)) if has_normals else None
        alive = lives_at(domain, problem.field_parts, expression.integrand, there)
        if np.mean(alive) < 1 - LARGEST_SHARE:
            fields = ", ".join(fields_of([expression.integrand]))
            raise ValueError(
                f"{fields} do not all live on {part}. Integrate over the part where "
                "they do, over=..., or the field of all, keraspinn.by_region(...)."
            )
        batches = there, locate, EVALUATION_BATCH_SIZE, normals
        values = model._fields.predict(expression.integrand, *batches)
        total += domain.measure(part) * float(np.mean(values, dtype="float64"))
    return total


def _level(problem, name):
    """Return a constant to subtract from a reference that is determined up to one.

    Means of squares around 101,325 Pa would be lost in rounding. There a constant is
    subtracted on both sides, which changes nothing else.
    """
    table = problem.reference
    if not (isinstance(table, Reference) and problem.determined_up_to_constant(name)):
        return 0.0
    return float(np.nanmean(table.targets[:, table.names.index(name)]))
