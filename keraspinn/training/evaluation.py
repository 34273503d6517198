"""What a trained network says at points, and how far off it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from keras import ops
from numpy.typing import ArrayLike

from keraspinn import backend
from keraspinn.common.checks import check_count
from keraspinn.declaration import ComputedReference, integral
from keraspinn.declaration.integrals import parts_of
from keraspinn.declaration.validation.equations import wrapped
from keraspinn.expressions import NormalComponent, Program
from keraspinn.geometry.arrays import on_host
from keraspinn.sampling.given import EVALUATION_BATCH_SIZE, check_batch
from keraspinn.sampling.lattice import lattice
from keraspinn.sampling.sources import PointSources, checked_points
from keraspinn.training.deviation import parameter_deviation
from keraspinn.training.problem_model import ProblemModel

if TYPE_CHECKING:
    import sympy as sp

    from keraspinn.geometry.part import On

EVALUATION_POINTS = 1024
GOLDEN = 0.6180339887  # its multiples are far from all fractions


class EvaluatedModel(ProblemModel):
    """The half of `PINNModel` that trains nothing: `predict`, `evaluate`.

    A subclass has the attributes `problem` and `seed`, makes `_fields`, `_objective`
    and `_logs`, and calls `_prepare_evaluation` when it is made.
    """

    def _prepare_evaluation(self, problem, dtype):
        self._evaluation_sources = PointSources(
            problem, dtype, EVALUATION_POINTS, across_replicas=lambda count: count
        )
        expressions = problem.reference_expressions
        self._levels = [_level(problem, name) for name in expressions]
        scaled = map(problem.scales.apply, expressions.values())
        varying = [
            expression - expression.as_coeff_Add()[0] if level else expression
            for expression, level in zip(scaled, self._levels, strict=True)
        ]
        self._reference = Program(varying, problem.coordinates)

    def summary(self, *args, print_fn=None, **kwargs):
        """Keras's table of the network, and what it is trained on.

        Args:
            *args, **kwargs: As in `keras.Model.summary`.
            print_fn: Function that prints a text; the default is `print`.
        """
        super().summary(*args, print_fn=print_fn, **kwargs)
        numbers = [f"{k} = {float(v):.4g}" for k, v in self._adapted().items()]
        engine = ", ".join([f"Derivatives by {self.derivative_engine}", *numbers])
        (print_fn or print)(f"{self.problem}\n{wrapped(engine)}")

    def add_loss(self, loss):
        """Raises `ValueError`: steps are made from the problem's losses alone."""
        raise ValueError(
            "A PINNModel takes its losses from the problem's equations and conditions. "
            "Write what must hold as a `keraspinn.Condition`, or regularize weights, "
            f"as with `kernel_regularizer`. Received: {loss}"
        )

    def test_step(self, data):
        """Losses at given points, and errors against reference values there."""
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        return self.evaluation_logs(x, y, self.seed)

    def evaluation_logs(self, x, y, seed):
        """What a step of `evaluate` logs.

        Args:
            x: Tensor `(n, d)`.
            y: Dict from reference names to tensors `(n,)`, or `None`.
            seed: Integer that the conditions' points follow from.
        """
        place = self._evaluation_sources.places["residual"]
        check_batch(self.problem, "evaluation", x)
        batches = self._evaluation_sources.draw(seed, -1)
        batches["residual"] = place.given(x)
        batches = backend.shard(batches)
        variables = self.trainable_variables
        losses = self._objective.losses(batches, self.loss_weights, variables)
        logs = self._logs.update(losses, steps=ops.shape(x)[0])
        if y is not None:
            self.problem.check_reference_names(y)
            values = self._fields.evaluate(self._reference, *batches["residual"][:2])
            for error, value, level in zip(
                self._logs.errors, values, self._levels, strict=True
            ):
                name = error.name.removesuffix("_relative_l2")
                known = ops.cast(ops.reshape(y[name], ops.shape(value)), value.dtype)
                error.update_state(known - level, value)
                logs[error.name] = error.result()
        return logs

    def predict_step(self, data):
        """The fields at given points."""
        x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
        check_batch(self.problem, "prediction", x)
        place = self._evaluation_sources.places["residual"]
        return self._fields.values(*backend.shard(place.locate(x)))

    def predict_expression(
        self, expression: sp.Expr | Sequence[sp.Expr], points: ArrayLike
    ) -> np.ndarray | Any:
        """Values of any expression in the fields, derivatives included.

        Args:
            expression: SymPy expression in the problem's fields, coordinates and
                parameters, or a list of them.
            points: Array `(n, d)`.

        Returns:
            Array `(n,)`, or a list of arrays.

        Raises:
            ValueError: If the expression holds what the problem does not have, or a
                number that the floating-point type cannot.

        Example:

        ```python
        flux = model.predict_expression(u.diff(x), points)
        ```
        """
        points = checked_points(self.problem, "prediction", points)
        locate = self._evaluation_sources.places["residual"].locate
        return self._fields.predict(expression, points, locate, EVALUATION_BATCH_SIZE)

    def integrate(
        self,
        expression: sp.Expr,
        over: On = "interior",
        where: sp.Basic | None = None,
        points: int = 16_384,
    ) -> float:
        """The integral of any expression in the fields over the domain or a part of it.

        A mass, a flow rate, the heat through a side, the force on a hole:

        ```python
        n = domain.normal
        drag = model.integrate(-p * n[0], over=hole)
        ```

        Args:
            expression: SymPy expression in the problem's fields, coordinates and
                parameters, and in the outward normal on a boundary.
            over: `"interior"`, all of the domain, or a part of it as for
                `keraspinn.integral`: entries of a list add up, and a geometry stands
                for what of the domain lies in it, or, if nothing does, of the boundary.
            where: Optional SymPy relation in the coordinates that restricts `over`.
            points: Number of lattice points on each part. The size of what `where` or a
                geometry cuts out is known to some 1e-4 of the whole, however many.

        Returns:
            A number, in the user's units.

        Raises:
            ValueError: If there is no such part, or the expression holds what the
                problem does not have.
        """
        domain = self.problem.domain
        check_count("points", points)
        wanted = integral(expression, over, where)
        locate = self._evaluation_sources.places["residual"].locate
        total = 0.0
        for part in parts_of(wanted.region, domain):
            with backend.double_precision():
                # Not where the fold has its ends: fields may have poles on faces.
                shift = (np.arange(1, domain.draws(part) + 1) * GOLDEN % 1)[None]
                drawn = domain.sample(part, on_host(lattice(points, shift)))
                there = on_host(domain.absolute(part, drawn))
                normals = None
                if wanted.integrand.has(NormalComponent):
                    normals = on_host(domain.normals(part, drawn))
            how = locate, EVALUATION_BATCH_SIZE, normals
            values = self._fields.predict(wanted.integrand, there, *how)
            total += domain.measure(part) * float(np.mean(values, dtype="float64"))
        return total

    def parameter_deviation(self) -> dict[str, float]:
        """The standard deviation of each unknown parameter, from noise in the data.

        Of the Gauss–Newton covariance at the present state,

            C = (Σ_i Jᵢᵀ Jᵢ / σᵢ²  +  κ Eᵀ E)⁻¹,        σᵢ² = rᵢᵀrᵢ / (nᵢ − hᵢ)

        the block of the unknown parameters: the network's weights are marginalised. rᵢ
        are the nᵢ residuals of the i-th measured expression, after the step to where
        the equations hold, and Jᵢ their derivative by all parameters; E are those of
        the equations and other conditions, at drawn points, with κ so large that these
        hold exactly, whatever the loss weights are; hᵢ is the trace of Jᵢ C Jᵢᵀ / σᵢ²,
        the degrees of freedom that the data lose. Where one of the expressions has
        fewer than ten rows, all of them share one σ.

        Equations that are bent to follow the noise, as data of much weight bend them,
        make a parameter wrong: a warning says where it would be if they held, where
        that is farther than half its deviation. Assumed are a training that has come to
        its end (see `diagnostics.verdict`);
        noise that is independent, and normal with one σᵢ for each measured expression;
        an equation that is right; and parameters that move by little. A network too
        small for the solution makes σᵢ, and so the deviation, too large.

        Computed in double precision. Time grows with the cube of the number of
        parameters, memory with its square, so keep to a few thousand.

        Returns:
            Dict from the names of the unknown parameters to numbers, in their units;
            infinite, with a warning, where data are too few to say how noisy they are,
            and for parameters of which others fit as well, as of `a*b`.

        Raises:
            ValueError: If the problem has no unknown parameters, or no `Data`.

        Example:

        ```python
        model.coefficients["nu"].numpy(), model.parameter_deviation()["nu"]
        ```

        Reference:
            Seber & Wild, "Nonlinear regression", Wiley 1989, for the covariance;
            Björck, "Numerical methods for least squares problems", SIAM 1996, for how
            it follows from a QR factorization.
        """
        return parameter_deviation(self)


def _level(problem, name):
    """About what the values of a reference are, where a constant is left open.

    Means of squares around 101,325 Pa would be lost in rounding; there a constant is
    taken from both sides, which changes nothing else.
    """
    table = problem.reference
    if not problem.determined_up_to_constant(name) or isinstance(
        table,
        ComputedReference,  # which would be computed to know it
    ):
        return 0.0
    return float(table.targets[:, table.names.index(name)].mean())
