"""What a trained network says at points, and how far off it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from keras import ops
from numpy.typing import ArrayLike

from keraspinn import backend
from keraspinn.common import arguments
from keraspinn.expressions import Program
from keraspinn.sampling.given import (
    EVALUATION_BATCH_SIZE,
    check_batch,
    evaluation_data,
)
from keraspinn.sampling.sources import PointSources, checked_points
from keraspinn.spec.sampled import sampled
from keraspinn.training.deviation import parameter_deviation
from keraspinn.training.problem_model import ProblemModel

if TYPE_CHECKING:
    import sympy as sp

EVALUATION_POINTS = 1024


class EvaluatedModel(ProblemModel):
    """The half of `PINNModel` that trains nothing: `predict`, `evaluate`.

    A subclass has the attributes `problem` and `seed`, makes `_fields`, `_objective`
    and `_logs`, and calls `_prepare_evaluation` when it is made.
    """

    def _prepare_evaluation(self, problem, dtype):
        self._evaluation_sources = PointSources(
            problem, dtype, EVALUATION_POINTS, across_replicas=lambda count: count
        )
        scaled = map(problem.scales.apply, problem.reference_expressions.values())
        self._reference = Program(scaled, problem.coordinates)

    def summary(self, *args, print_fn=None, **kwargs):
        """Keras's table of the network, and what it is trained on.

        Args:
            *args, **kwargs: As in `keras.Model.summary`.
            print_fn: Function that prints a text; the default is `print`.
        """
        super().summary(*args, print_fn=print_fn, **kwargs)
        values = {f"{name}_weight": v for name, v in self.loss_weights.items()}
        values |= self.coefficients
        numbers = [f"{k} = {float(v.numpy()):.4g}" for k, v in values.items()]
        engine = ", ".join([f"Derivatives by {self.derivative_engine}", *numbers])
        (print_fn or print)(f"{self.problem}\n{engine}")

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
            for error, value in zip(self._logs.errors, values, strict=True):
                name = error.name.removesuffix("_relative_l2")
                error.update_state(ops.reshape(y[name], ops.shape(value)), value)
                logs[error.name] = error.result()
        return logs

    def evaluate(
        self,
        x: ArrayLike | Iterable[Any] | None = None,
        y: Mapping[str, ArrayLike] | None = None,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        **kwargs: Any,
    ) -> Any:
        """Losses, and relative L2 errors against the reference.

        The residual's loss is taken at the points given, the conditions' at fixed ones.

        Args:
            x: Points `(n, d)`, as `problem.test_data` returns them, or a dataset.
            y: Optional dict from reference names to values `(n,)`.
            batch_size: Number of points at a time.
            **kwargs: As in `keras.Model.evaluate`, like `verbose`.

        Returns:
            `loss` and further values, or a dict with `return_dict=True`.
        """
        self.refuse_in_several_workers("evaluate")
        ready = kwargs.get("_use_cached_eval_dataset")  # seen to by `fit`
        if not ready and not arguments.is_stream("evaluate", x):
            x, y, batch_size = self._dataset(x, y, batch_size=batch_size), None, None
        return super().evaluate(x, y, batch_size, verbose, **kwargs)

    def predict(
        self,
        x: ArrayLike | Iterable[Any],
        batch_size: int | None = None,
        verbose: str | int = "auto",
        **kwargs: Any,
    ) -> np.ndarray:
        """The fields at points: an array `(n, F)`; see `keras.Model.predict`."""
        if not arguments.is_stream("predict", x):
            x, batch_size = self._dataset(x, batch_size=batch_size), None
        return super().predict(x, batch_size, verbose, **kwargs)

    def predict_step(self, data):
        """The fields at given points."""
        x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
        check_batch(self.problem, "evaluation", x)
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

    def sampled_fields(self):
        """The fields at some points inside, always the same: an array `(16, F)`.

        Other fields of the same weights are those of another network.
        """
        domain = self.problem.domain
        points = sampled(domain, domain.blocks("interior"), 16)
        with backend.double_precision():
            points = ops.convert_to_tensor(points, "float64")
            located = self._evaluation_sources.places["residual"].locate(points)
        return ops.convert_to_numpy(self._fields.values(*located))

    def parameter_deviation(self) -> dict[str, float]:
        """The standard deviation of each unknown parameter, from noise in the data.

        Of the Gauss–Newton covariance at the present state,

            C = (Σ_i Jᵢᵀ Jᵢ / σᵢ²  +  κ Eᵀ E)⁻¹,        σᵢ² = rᵢᵀrᵢ / (nᵢ − hᵢ)

        the block of the unknown parameters: the network's weights are marginalised. rᵢ
        are the nᵢ residuals of the i-th measured expression and Jᵢ their derivative by
        all parameters; E are those of the equations and other conditions, at drawn
        points, with κ so large that these hold exactly, whatever the loss weights are;
        hᵢ is the trace of Jᵢ C Jᵢᵀ / σᵢ², the degrees of freedom that the data lose.

        Assumed are a training that has come to its end (see `diagnostics.verdict`);
        noise that is independent, and normal with one σᵢ for each measured expression;
        an equation that is right; and parameters that move by little. A network too
        small for the solution makes σᵢ, and so the deviation, too large.

        Computed in double precision. Time grows with the cube of the number of
        parameters, memory with its square, so keep to a few thousand.

        Returns:
            Dict from the names of the unknown parameters to numbers, in their units.

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

    def _dataset(self, x, y=None, *, batch_size=None):
        replicas = self.replica_count
        return evaluation_data(self.problem, x, y, batch_size, replicas)
