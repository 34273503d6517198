"""The Keras model that solves a `Problem`."""

from __future__ import annotations

import random
import re
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from numpy.typing import ArrayLike

from keraspinn import backend
from keraspinn.common.checks import check_type, checked_seed
from keraspinn.declaration.problem import Problem
from keraspinn.declaration.terms import RESIDUAL
from keraspinn.residuals.fields import Fields
from keraspinn.sampling.given import EVALUATION_BATCH_SIZE, check_batch
from keraspinn.sampling.sources import check_apart, checked_points
from keraspinn.training import checks
from keraspinn.training.deviation import parameter_deviation
from keraspinn.training.digests import weights_digest
from keraspinn.training.evaluation import Evaluation, integrate
from keraspinn.training.logs import Logs
from keraspinn.training.objective import Objective
from keraspinn.training.problem_model import ProblemModel
from keraspinn.training.trainer import Trainer

if TYPE_CHECKING:
    import sympy as sp

    from keraspinn.geometry.part import On


class PINNModel(ProblemModel):
    """A network trained to satisfy a problem's equations and conditions.

    Minimises L_r(θ) + Σ λ_i L_i(θ), the residual loss and one loss for each condition,
    and the regularizers of the network's weights. Each step computes a gradient
    for every term, so that a callback such as `callbacks.LearningRateAnnealing` can
    balance them. The network runs as in inference: Dropout is inactive.

    Args:
        problem: The `Problem` to solve.
        network: A Keras layer or model from points `(N, d)` to one column for each
            of `problem.fields`, such as `networks.ModifiedMLP`; or a dict from fields,
            or tuples of fields, to networks of these fields' coordinates.
        seed: Integer that all collocation points follow from. If not given, drawn
            from Python's `random`. The network's initial weights are drawn when the
            network is made, before the model: `keras.utils.set_random_seed` first of
            all makes both reproducible.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Attributes:
        loss_weights: Read-only dict from condition names to their weights λ, variables.
        coefficients: The same from names of the problem's unknown parameters.
        derivative_engine: `"taylor"`, or `"jvp"` for a network that holds layers the
            Taylor engine has no rule for.

    Call arguments:
        points: `(N, d)`, columns in the order of `problem.coordinates`.

    Returns:
        The fields' values `(N, F)`, columns in the order of `problem.fields`.

    Raises:
        TypeError: If `problem` or `network` is of another type.
        ValueError: If the network's outputs do not match the problem's fields.

    Example:

    ```python
    model = keraspinn.PINNModel(
        keraspinn.problems.helmholtz(), keraspinn.networks.ModifiedMLP(units=50)
    )
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    model.fit(epochs=40, callbacks=[keraspinn.callbacks.LearningRateAnnealing()])
    ```

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", sections 2.1 and 2.5.
    """

    def __init__(
        self,
        problem: Problem,
        network: checks.Networks,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        # Points in float64 are scaled before they are rounded.
        super().__init__(autocast=False, **kwargs)
        backend.check_dtype(self.variable_dtype)
        self.network = checks.checked_network(problem, network)
        self.problem = problem
        self.seed_is_given = seed is not None
        self.seed = random.randint(0, 2**31 - 1) if seed is None else checked_seed(seed)
        weights = {n: t.weight for n, t in problem.terms.items() if n != RESIDUAL}
        initial = {p.name: p.initial for p in problem.parameters}
        self.loss_weights = self._scalars(weights, "{}_weight", trainable=False)
        self.coefficients = self._scalars(initial, "{}", trainable=True)
        dtype = self.compute_dtype
        self._evaluation = Evaluation(problem, dtype)
        self.trainer = Trainer(self)
        self.build((None, problem.domain.dimension))
        self._fields = Fields(problem, self.network, self.coefficients, dtype)
        # Keras exports models that were called once, which training does not do.
        self(keras.Input((problem.domain.dimension,), dtype=dtype))
        self._objective = Objective(problem, self._fields)
        self._logs = Logs(problem, self._objective.names, self.variable_dtype)
        place = self._evaluation.place
        checks.check_can_learn(problem, self.network, self._objective, place)
        self.digest_when_made = weights_digest(self)

    def _scalars(self, values, name_format, trainable):
        """Return variables by name, read-only: assigning a number would have no effect.

        Names may be any text; TensorFlow restricts the names of variables.
        """
        variables = {
            name: self.add_weight(
                initializer=keras.initializers.Constant(value),
                trainable=trainable,
                aggregation="none" if trainable else "only_first_replica",
                name=name_format.format(re.sub(r"\W+", "_", name, flags=re.ASCII)),
            )
            for name, value in values.items()
        }
        return types.MappingProxyType(variables)

    def build(self, input_shape):
        points = keras.Input(batch_shape=input_shape, dtype=self.compute_dtype)
        checks.build_network(self.problem, self.network, points)
        checks.check_one_type(self, self.network)
        checks.check_numbers(self.problem, self.network, self.compute_dtype)
        super().build(input_shape)

    def call(self, points):
        check_apart(self.problem, "prediction", points)
        dtype = keras.backend.result_type(points.dtype, self.compute_dtype)
        points = keras.ops.cast(points, dtype)  # integers, too
        return self._fields.values(*self._evaluation.place.locate(points))

    @property
    def derivative_engine(self) -> str:
        """The engine that computes derivatives, `"taylor"` or `"jvp"`."""
        return self._fields.engine

    @property
    def metrics(self):
        """The losses' running means, and the errors against the reference."""
        return self._logs.metrics

    @property
    def headline(self) -> str:
        """A text on the model in its summary."""
        return f"Derivatives by {self.derivative_engine}"

    def add_loss(self, loss):
        """Raise `ValueError`: steps are made from the problem's losses alone."""
        raise ValueError(
            "A PINNModel takes its losses from the problem's equations and conditions. "
            "Add an equation as a `keraspinn.Condition`, or regularize weights, as "
            f"with `kernel_regularizer`. Received: {loss}"
        )

    def test_step(self, data):
        """Return losses at given points, and errors against reference values there."""
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        return self._evaluation.update(self, x, y, self.seed)

    def predict_step(self, data):
        """Return the fields at given points."""
        x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
        check_batch(self.problem, "prediction", x)
        return self._fields.values(*backend.shard(self._evaluation.place.locate(x)))

    def predict_expression(
        self, expression: sp.Expr | Sequence[sp.Expr], points: ArrayLike
    ) -> np.ndarray | Any:
        """Evaluate any expression in the fields, derivatives included.

        Args:
            expression: SymPy expression in the problem's fields, coordinates and
                parameters, or a list of them.
            points: Array `(n, d)`.

        Returns:
            Array `(n,)`, or a list of arrays.

        Raises:
            ValueError: If the expression holds symbols that the problem lacks, or a
                number outside the range of the floating-point type.

        Example:

        ```python
        flux = model.predict_expression(u.diff(x), points)
        ```
        """
        points = checked_points(self.problem, "prediction", points)
        locate = self._evaluation.place.locate
        return self._fields.predict(expression, points, locate, EVALUATION_BATCH_SIZE)

    def integrate(
        self,
        expression: sp.Expr,
        over: On = "interior",
        where: sp.Basic | None = None,
        points: int = 16_384,
    ) -> float:
        """Integrate any expression in the fields over the domain or a part of it.

        A mass, a flow rate, the heat through a side, the force on a hole:

        ```python
        n = domain.normal
        drag = model.integrate(-p * n[0], over=hole)
        ```

        Args:
            expression: SymPy expression in the problem's fields, coordinates and
                parameters, and in the outward normal on a boundary; or a
                `keraspinn.integral`, which brings `over` and `where`.
            over: `"interior"`, all of the domain, or a part of it as for
                `keraspinn.integral`: entries of a list add up, and a geometry stands
                for the part of the domain inside it or, if there is none, of the
                boundary.
            where: Optional SymPy relation in the coordinates that restricts `over`.
            points: Number of lattice points on each part. The measure of a part cut out
                by `where` or a geometry has an error of about 1e-4 of the whole.

        Returns:
            A number, in the user's units.

        Raises:
            ValueError: If there is no such part, or the expression holds symbols that
                the problem lacks.
        """
        return integrate(self, expression, over, where, points)

    def parameter_deviation(self) -> dict[str, float]:
        """Estimate the standard deviation of each unknown parameter from noisy data.

        The estimate is the block of the unknown parameters in the Gauss–Newton
        covariance at the present state, in which the network's weights are
        marginalised:

            C = (Σ_i Jᵢᵀ Jᵢ / σᵢ²  +  κ Eᵀ E)⁻¹,        σᵢ² = rᵢᵀrᵢ / (nᵢ − hᵢ)

        rᵢ are the nᵢ residuals of the i-th measured expression, after a Gauss–Newton
        step that satisfies the equations, and Jᵢ their derivative by all parameters. E
        is the derivative of the equations and other conditions at drawn points, with κ
        so large that these hold exactly for any loss weights. hᵢ is the trace of
        Jᵢ C Jᵢᵀ / σᵢ², the degrees of freedom that the data lose. If one of the
        expressions has fewer than ten rows, all of them share one σ. Where neighbouring
        residuals are alike or their mean is not zero, as for a clock that is late, the
        deviation is larger, by about √nᵢ at most.

        Data of large weight can keep the equations from holding, which biases a
        parameter. A warning gives its value for satisfied equations if the two differ
        by more than half the deviation. The estimate assumes a converged training (see
        `diagnostics.verdict`), correct equations, small changes of the parameters, and
        independent normal noise with one σᵢ for each measured expression. A network
        too small for the solution makes σᵢ, and so the deviation, too large.

        Computed in double precision. Time grows with the cube of the number of
        parameters, memory with its square: use at most a few thousand.

        Returns:
            Dict from the names of the unknown parameters to numbers, in their units:
            infinite, with a warning, if the data are too few to estimate their noise,
            or the parameter is not identifiable, as in `a*b`.

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


def check_one_model(model):
    """Raise `TypeError` unless the model is a `PINNModel`."""
    kind = "a keraspinn.PINNModel, or one member of the ensemble: ensemble.member(0)"
    check_type("model", model, PINNModel, kind)
