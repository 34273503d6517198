"""Many models of one problem, trained as one program by a leading axis."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from numpy.typing import ArrayLike

from keraspinn.backend.compatibility import has_exclusions
from keraspinn.common.checks import check_count, checked_seed
from keraspinn.common.typing import Optimizer
from keraspinn.declaration.problem import Problem
from keraspinn.sampling.base import Input
from keraspinn.training import checks
from keraspinn.training.deviation import member_deviations
from keraspinn.training.digests import weights_digest
from keraspinn.training.member_trainer import MemberTrainer
from keraspinn.training.members import Members, Spread, drawn_networks
from keraspinn.training.model import PINNModel
from keraspinn.training.problem_model import ProblemModel

if TYPE_CHECKING:
    import sympy as sp


class Ensemble(ProblemModel):
    """Models of one problem with different initial weights, trained as one program.

    Member k equals a `PINNModel` made after `keras.utils.set_random_seed(seed + k)`,
    with a network made then and `seed=seed + k`. It has its initial weights, points,
    loss weights λ, unknown coefficients, optimizer state and metrics, and trains to the
    same numbers up to round-off. Every variable has the members along its first axis.

    A member with a non-finite loss or gradient stops, with the weights from before that
    step, and `fit` warns of it; the others continue. Means and deviations leave it out.
    `fit` raises when all have stopped. Points passed to `fit` are the same for every
    member; drawn points are not. `History` has means over the members that have not
    stopped, and for each name, as `loss`, `loss_of_members`: a list of numbers for
    every epoch. A loss is NaN if a member took no step.

    On JAX the whole step is mapped over the members. On TensorFlow losses and gradients
    are, and the optimizer updates one member after the other; with an optimizer of
    `keraspinn.optimizers` whole steps run one after the other, which trains a member no
    faster than alone. Several devices of JAX share the members.

    Args:
        problem: The `Problem` to solve.
        network: A network as for `PINNModel`. Members have its configuration and its
            frozen layers, but not its weights.
        size: Number of members.
        seed: Integer, that of the first member; the next has the next.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Attributes:
        loss_weights: Read-only dict from condition names to variables `(size,)`.
        coefficients: The same from names of the problem's unknown parameters.
        size: Number of members.
        stopped: List of the numbers of the members that stopped.

    Call arguments:
        points: `(N, d)`, columns in the order of `problem.coordinates`.

    Returns:
        The mean of the members' fields, `(N, F)`.

    Raises:
        TypeError: If `problem` or `network` is something else.
        ValueError: If `size` is not a positive integer, or the members would begin
            with the same weights; by methods that evaluate or predict, if points,
            values or an expression do not fit the problem.

    Example:

    ```python
    ensemble = keraspinn.Ensemble(problem, keraspinn.networks.MLP(), size=10, seed=0)
    ensemble.compile(keras.optimizers.Adam(1e-3))
    ensemble.fit(epochs=40, callbacks=[keraspinn.callbacks.LearningRateAnnealing()])
    mean, deviation = ensemble.predict(points), ensemble.predict_deviation(points)
    best = ensemble.member(3)
    ```

    Reference:
        Lakshminarayanan, Pritzel & Blundell, "Simple and scalable predictive
        uncertainty estimation using deep ensembles", NeurIPS 2017, section 2.4.
    """

    trainer: MemberTrainer

    def __init__(
        self,
        problem: Problem,
        network: checks.Networks,
        size: int = 10,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(autocast=False, **kwargs)
        self.size = int(check_count("size", size))
        self.seed = checked_seed(seed)
        checked_seed(self.seed + self.size - 1)
        if self.replica_count > 1:
            raise ValueError(
                "An ensemble trains on one device. Make it outside of the strategy's "
                f"scope. Received: {self.replica_count} devices"
            )
        network = checks.checked_network(problem, network)
        seeds = range(self.seed, self.seed + self.size)
        networks = drawn_networks(problem, network, self.variable_dtype, seeds)
        model = PINNModel(problem, networks[0], seed=seed, dtype=self.dtype_policy)
        # Within another object Keras does not take the model for a part of this one.
        self._members = Members(self, model, networks)
        self.problem = problem
        self.loss_weights = self._members.stacked_dict(model.loss_weights)
        self.coefficients = self._members.stacked_dict(model.coefficients)
        self.trainer = MemberTrainer(self, self._members)
        self.build((None, problem.domain.dimension))
        # Keras exports models that were called once.
        self(keras.Input((problem.domain.dimension,), dtype=self.compute_dtype))
        self.digest_when_made = weights_digest(self)

    @property
    def network(self):
        """A network of the members' kind; its weights belong to no member."""
        return self._members.model.network

    def __repr__(self):
        """A text on the members, also in the summary."""
        count = self.network.count_params()
        stopped = f", {len(self.stopped)} of them stopped" if self.stopped else ""
        network = type(self.network).__name__
        return f"<Ensemble: {self.size} × {network} of {count} parameters{stopped}>"

    headline = property(__repr__)

    @property
    def stopped(self) -> list[int]:
        """List of the numbers of the members that stopped."""
        return np.flatnonzero(~self._members.is_going).tolist()

    @property
    def metrics(self):
        """The members' running means and errors."""
        return [self._members.metrics]

    @property
    def member_steps(self):
        """Numbers of steps that the members have taken, an array `(size,)`."""
        return self.trainer.member_steps

    # Training

    def compile(self, optimizer: Optimizer = "adam", *args: Any, **kwargs: Any) -> None:
        self._members.model.compile(optimizer, *args, **kwargs)
        optimizer = self._members.model.optimizer
        if optimizer.use_ema or has_exclusions(optimizer):
            raise ValueError(
                "Keras keeps averages of weights and exclusions from weight decay for "
                "one model. Leave `use_ema` and `exclude_from_weight_decay` out, or "
                "train a member alone: `model = ensemble.member(0)`, then "
                f"`model.compile`. Received: {type(optimizer).__name__} with one"
            )
        super().compile(optimizer, *args, **kwargs)

    compile.__doc__ = ProblemModel.compile.__doc__

    # Fields

    def call(self, points):
        return self._members.mean(self._members.map(self._members.model.call, points))

    def predict_step(self, data):
        """Return the members' fields at given points, `(n, size, F)`."""
        fields = self._members.map(self._members.model.predict_step, data)
        return keras.ops.transpose(fields, (1, 0, 2))

    def predict_members(
        self, x: Input, expression: sp.Expr | None = None, batch_size: int | None = None
    ) -> np.ndarray:
        """Predict by every member.

        Args:
            x: Points `(n, d)`.
            expression: SymPy expression in the fields, derivatives included, in place
                of the fields.
            batch_size: Number of points at a time.

        Returns:
            The fields `(size, n, F)`, or the expression's values `(size, n)`.
        """
        if expression is not None:
            models = map(self._members.load, range(self.size))
            return np.stack([m.predict_expression(expression, x) for m in models])
        return super().predict(x, batch_size, verbose=0).transpose(1, 0, 2)

    def predict(  # type: ignore[override]  # Keras's takes arguments without use here
        self, x: Input, batch_size: int | None = None, verbose: str | int = 0
    ) -> np.ndarray:
        """Return the mean of the members' fields at points `(n, d)`, `(n, F)`."""
        return self.predict_mean_and_deviation(x, None, batch_size)[0]

    def predict_deviation(
        self, x: Input, expression: sp.Expr | None = None, batch_size: int | None = None
    ) -> np.ndarray:
        """Return the standard deviation of the members' fields.

        It measures the spread of trainings that differ in the seed alone. Errors that
        all members share do not show in it.

        Args:
            x, expression, batch_size: As for `predict_members`.

        Returns:
            Array `(n, F)`, or `(n,)` of an expression, in the units of the field.
        """
        return self.predict_mean_and_deviation(x, expression, batch_size)[1]

    def predict_on_batch(self, x):
        """Predict for a single batch; see `keras.Model.predict_on_batch`."""
        fields = super().predict_on_batch(x).transpose(1, 0, 2)
        return self._members.mean_and_deviation(fields)[0]

    def predict_expression(self, expression: sp.Expr, points: ArrayLike) -> np.ndarray:
        """Return the mean of any expression in the members' fields, an array `(n,)`.

        Args:
            expression, points: As for `PINNModel.predict_expression`.
        """
        return self.predict_mean_and_deviation(points, expression)[0]

    def predict_mean_and_deviation(self, x, expression=None, batch_size=None):
        """Return mean and deviation; the arguments are those of `predict_deviation`."""
        values = self.predict_members(x, expression, batch_size)
        return self._members.mean_and_deviation(values)

    # Errors

    def test_step(self, data):
        """Update losses and errors of every member; return their means."""
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        members, model = self._members, self._members.model
        update = functools.partial(model._evaluation.update, model, x, y)
        logs = members.logged(update, (members.seed_tensor,), model.variables)
        return keras.tree.map_structure(members.mean, logs)

    def evaluate(
        self,
        x: Input | None = None,
        y: Mapping[str, ArrayLike] | None = None,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        **kwargs: Any,
    ) -> dict[str, Spread]:
        """Return losses and relative L2 errors of every member, and their spread.

        Args:
            x, y, batch_size, verbose, kwargs: As for `PINNModel.evaluate`.

        Returns:
            Dict from names to `Spread(members, mean, deviation)`. Errors are those of
            each member, not of the mean of their fields.

        Example:

        ```python
        errors = ensemble.evaluate(*problem.test_data(100))["u_relative_l2"]
        best = ensemble.member(np.nanargmin(errors.members))
        ```
        """
        kwargs["return_dict"] = True
        means = super().evaluate(x, y, batch_size, verbose, **kwargs)
        if kwargs.get("_use_cached_eval_dataset"):  # by `fit`, which logs the means
            return means
        logs = self.trainer.member_logs()
        return {name: self._members.spread(logs[name]) for name in means}

    def parameter_deviation(self) -> dict[str, np.ndarray]:
        """Estimate each unknown parameter's deviation from noise, for every member.

        The estimate is `PINNModel.parameter_deviation` at the state of each member. It
        is not the spread of the members, which comes from their initial weights and
        points. It takes as long as for so many models, one after the other.

        Returns:
            Dict from the names of the unknown parameters to arrays `(size,)` of
            standard deviations: infinite with a warning if undetermined, and NaN for
            members that stopped.

        Raises:
            ValueError: If the problem has no unknown parameters, or no `Data`.

        Example:

        ```python
        ensemble.coefficients["nu"].numpy(), ensemble.parameter_deviation()["nu"]
        ```
        """
        names = list(self.coefficients)
        return member_deviations(self._members.load, names, self._members.is_going)

    def member(self, number: int | np.integer) -> PINNModel:
        """Return a member as a `PINNModel`, which continues from its state.

        Args:
            number: Its number, from 0; negative ones count from the end.

        Returns:
            A `PINNModel`, compiled if this is, with copies of all numbers.

        Raises:
            IndexError: If there is no such member.

        Example:

        >>> ensemble = keraspinn.Ensemble(
        ...     keraspinn.problems.poisson(), keraspinn.networks.MLP(4, 1), size=2
        ... )
        >>> ensemble.member(1).seed
        1
        """
        return self.trainer.extracted(range(self.size)[number])

    def get_config(self):
        return {**super().get_config(), "size": self.size}
