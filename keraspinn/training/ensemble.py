"""Many models of one problem, trained as one program by a leading axis."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from keras import ops
from numpy.typing import ArrayLike

from keraspinn import backend, optimizers
from keraspinn.backend.compatibility import copy_exclusions
from keraspinn.common import arguments
from keraspinn.common.checks import check_count, checked_seed, is_whole
from keraspinn.common.typing import Optimizer
from keraspinn.declaration.problem import Problem
from keraspinn.declaration.validation.equations import wrapped
from keraspinn.sampling.base import Given
from keraspinn.training import checks
from keraspinn.training.deviation import member_deviations
from keraspinn.training.digests import weights_digest
from keraspinn.training.member_trainer import MemberTrainer, ReportStopped
from keraspinn.training.members import Members, check_averages, drawn_networks
from keraspinn.training.model import PINNModel
from keraspinn.training.problem_model import ProblemModel
from keraspinn.training.spread import Spread, mean_and_deviation, spread

if TYPE_CHECKING:
    import sympy as sp

_OPTIMIZER = "optimizer."


@keras.saving.register_keras_serializable("keraspinn")
class Ensemble(ProblemModel):
    """Models of one problem that begin with other weights, trained as one program.

    Member k is what `PINNModel` is after `keras.utils.set_random_seed(seed + k)` with
    a network made then and `seed=seed + k`: it has initial weights, points, loss
    weights λ, unknown coefficients, an optimizer's state and metrics of its own, and
    trains to the same numbers, to rounding. Every variable has the members along its
    first axis.

    A member whose loss or gradient turns non-finite stops, with the weights from
    before that step, and `fit` warns of it; the others go on. Means and deviations
    leave it out. `fit` raises when all have stopped.

    On JAX the whole step is mapped over the members. On TensorFlow so are the losses
    and gradients, and the optimizer takes one member after the other; those of
    `keraspinn.optimizers` take whole steps one after the other there, which trains a
    member no faster than alone. Several devices of JAX share the members.

    Args:
        problem: The `Problem` to solve.
        network: A network as for `PINNModel`. Members have its configuration, with
            what is frozen in it; its weights are not used, and it stays as it is.
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
            with the same weights; by `evaluate` and all that predicts, if points,
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

    _kind = "ensemble"
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
        backend.check_dtype(self.variable_dtype)
        network = checks.checked_network(problem, network)
        seeds = range(self.seed, self.seed + self.size)
        networks = drawn_networks(problem, network, self.variable_dtype, seeds)
        model = PINNModel(problem, networks[0], seed=seed, dtype=self.dtype_policy)
        # Within another object Keras does not take the model for a part of this one.
        self._members = Members(self, model, networks)
        self.trainer = MemberTrainer(self, self._members)
        self.build((None, problem.domain.dimension))
        # Keras exports what was called once.
        self(keras.Input((problem.domain.dimension,), dtype=self.compute_dtype))
        self.digest_when_made = weights_digest(self)

    def build(self, input_shape):
        self.input_spec = keras.layers.InputSpec(axes={-1: input_shape[-1]})
        self.built = True

    @property
    def problem(self) -> Problem:
        """The `Problem`."""
        return self._members.model.problem

    @property
    def network(self):
        """A network of the members' kind; its weights belong to no member."""
        return self._members.model.network

    def summary(self, *args, print_fn=None, **kwargs):
        """Keras's table of a member's network, how many there are, and what they solve.

        λ and unknown coefficients are means and deviations over the members.

        Args:
            *args, **kwargs: As in `keras.Model.summary`.
            print_fn: Function that prints a text; the default is `print`.
        """
        keras.Model.summary(self._members.model, *args, print_fn=print_fn, **kwargs)
        values = {
            name: ops.convert_to_numpy(value)[self._members.is_going]
            for name, value in self.adapted().items()
        }
        numbers = [f"{k} = {v.mean():.4g} ± {v.std():.2g}" for k, v in values.items()]
        line = wrapped(", ".join([str(self), *numbers]))
        (print_fn or print)(f"{self.problem}\n{line}")

    def __repr__(self):
        count = self.network.count_params()
        stopped = f", {len(self.stopped)} of them stopped" if self.stopped else ""
        network = type(self.network).__name__
        return f"<Ensemble: {self.size} × {network} of {count} parameters{stopped}>"

    def _repr_markdown_(self):
        return f"`{self!r}`\n\n{self.problem._repr_latex_()}"

    @property
    def loss_weights(self) -> Mapping[str, keras.Variable]:
        """Read-only dict from condition names to the members' λ, variables."""
        return self._stacked_dict(self._members.model.loss_weights)

    @property
    def coefficients(self) -> Mapping[str, keras.Variable]:
        """Read-only dict from the names of unknown parameters to variables."""
        return self._stacked_dict(self._members.model.coefficients)

    def _stacked_dict(self, variables):
        stacked = self._members.stacked(variables.values())
        return types.MappingProxyType(dict(zip(variables, stacked, strict=True)))

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
        self.refuse_within_fit()
        model = self._members.model
        if optimizer is not None:  # which the model refuses
            optimizer = optimizers.get(optimizer)
            check_averages(optimizer)
            stacked = self._members.stacked(model.variables)
            copy_exclusions(optimizer, optimizer, stacked, model.variables)
        model.compile(optimizer, *args, **kwargs)
        super().compile(model.optimizer, *args, **kwargs)

    compile.__doc__ = ProblemModel.compile.__doc__

    def fit(
        self,
        x: Given | Iterable[Any] | None = None,
        y: Any = None,
        batch_size: int | Mapping[str, int] | None = None,
        *,
        steps_per_epoch: int | None = None,
        validation_batch_size: int | None = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Train all members; the arguments are those of `PINNModel.fit`.

        Points that are given or streamed are the same for every member, and all that
        is drawn is drawn for each.

        Returns:
            A `keras.callbacks.History` of means over the members that have not
            stopped, and for each name, as `loss`, of `loss_of_members`: a list of
            numbers for every epoch. A loss is NaN where a member took no step.

        Raises:
            ValueError: If an argument names a term or points the problem lacks.
            FloatingPointError: If all members have stopped.

        Warns:
            UserWarning: If a member stops.
        """
        if not self._members.is_going.any():
            raise FloatingPointError(self.trainer.explain_nonfinite({}))
        callbacks = arguments.callback_list(kwargs.get("callbacks"))
        kwargs["callbacks"] = [ReportStopped(), *callbacks]
        return self.train(
            x, y, batch_size, steps_per_epoch, validation_batch_size, kwargs
        )

    # Fields

    def call(self, points):
        return self._members.mean(self._members.map(self._members.model.call, points))

    def predict_step(self, data):
        """Return the members' fields at given points, `(n, size, F)`."""
        fields = self._members.map(self._members.model.predict_step, data)
        return ops.transpose(fields, (1, 0, 2))

    def predict_members(
        self,
        x: ArrayLike | Iterable[Any],
        expression: sp.Expr | None = None,
        batch_size: int | None = None,
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
        self,
        x: ArrayLike | Iterable[Any],
        batch_size: int | None = None,
        verbose: str | int = 0,
    ) -> np.ndarray:
        """The mean of the members' fields at points `(n, d)`, an array `(n, F)`."""
        del verbose  # there is no progress to show
        return self.predict_mean_and_deviation(x, None, batch_size)[0]

    def predict_deviation(
        self,
        x: ArrayLike | Iterable[Any],
        expression: sp.Expr | None = None,
        batch_size: int | None = None,
    ) -> np.ndarray:
        """The standard deviation of the members' fields.

        How far trainings that differ in seed alone lie apart; what all of them miss
        alike, it does not show.

        Args:
            x: Points `(n, d)`.
            expression: SymPy expression to take in place of the fields.
            batch_size: Number of points at a time.

        Returns:
            Array `(n, F)`, or `(n,)` of an expression, in the units of the field.
        """
        return self.predict_mean_and_deviation(x, expression, batch_size)[1]

    def predict_on_batch(self, x):
        """`predict` on a single batch; see `keras.Model.predict_on_batch`."""
        fields = super().predict_on_batch(x).transpose(1, 0, 2)
        return mean_and_deviation(fields, self._members.is_going)[0]

    def predict_expression(self, expression: sp.Expr, points: ArrayLike) -> np.ndarray:
        """The mean of any expression in the members' fields, an array `(n,)`.

        Args:
            expression: As for `PINNModel.predict_expression`.
            points: Array `(n, d)`.
        """
        return self.predict_mean_and_deviation(points, expression)[0]

    def predict_mean_and_deviation(self, x, expression=None, batch_size=None):
        """Both at once; the arguments are those of `predict_deviation`."""
        values = self.predict_members(x, expression, batch_size)
        return mean_and_deviation(values, self._members.is_going)

    # Errors

    def test_step(self, data):
        """Update losses and errors of every member; return their means."""
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        members, model = self._members, self._members.model
        logs = members.logged(
            lambda seed: model.evaluation_logs(x, y, seed),
            (members.seed_tensor,),
            model.variables,
        )
        return members.means(logs)

    def member_logs(self):
        """Return the members' metrics, λ and coefficients, `(size,)` each.

        Losses are means since the epoch, or evaluation, began; NaN if a member took no
        step.
        """
        logs = self._members.results() | self.adapted()
        return {name: ops.convert_to_numpy(values) for name, values in logs.items()}

    def evaluate(
        self,
        x: ArrayLike | Iterable[Any] | None = None,
        y: Mapping[str, ArrayLike] | None = None,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        **kwargs: Any,
    ) -> dict[str, Spread]:
        """Losses and relative L2 errors of every member, their mean and deviation.

        Args:
            x: Points `(n, d)`, as `problem.test_data` returns them, or a dataset.
            y: Optional dict from reference names to values `(n,)`.
            batch_size: Number of points at a time.
            verbose: As in `keras.Model.evaluate`.
            **kwargs: The same.

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
        logs = self.member_logs()
        return {name: spread(logs[name], self._members.is_going) for name in means}

    def parameter_deviation(self) -> dict[str, np.ndarray]:
        """What noise in the data makes of each unknown parameter, for every member.

        That of `PINNModel.parameter_deviation`, at the state of each: members differ
        in their initial weights and points, and what noise does is not how far they lie
        apart. It takes as long as for so many models, one after the other.

        Returns:
            Dict from the names of the unknown parameters to arrays `(size,)`, as the
            variables of `coefficients` are: standard deviations, infinite with a
            warning where there is none, and NaN for members that stopped.

        Raises:
            ValueError: If the problem has no unknown parameters, or no `Data`.

        Example:

        ```python
        ensemble.coefficients["nu"].numpy(), ensemble.parameter_deviation()["nu"]
        ```
        """
        names = list(self.coefficients)
        return member_deviations(self._members.load, names, self._members.is_going)

    # One member, and saving

    def member(self, number: int | np.integer) -> PINNModel:
        """A member as a model of its own, which goes on where the member is.

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
        if not is_whole(number) or not -self.size <= number < self.size:
            raise IndexError(
                f"The members are numbered from 0 to {self.size - 1}. Received: "
                f"{number!r}"
            )
        number = int(number) % self.size
        alone = self._members.load(number).astype(self.variable_dtype)
        alone.trainer.weighting = self.trainer.weighting.continued(
            self.variable_dtype, number
        )
        if self.compiled:
            optimizer = self.optimizer
            copy = type(optimizer).from_config(optimizer.get_config())
            variables = self._members.model.variables
            copy_exclusions(optimizer, copy, variables, alone.variables)
            alone.compile(copy, **self.compiled_with)
            rates = self.trainer.indices("learning_rate")
            for index, variable in enumerate(alone.optimizer.variables):
                value = self._members.optimizer[index][number]
                value = optimizer.variables[index] if index in rates else value
                variable.assign(ops.copy(value))  # a compiled loop writes over it
        return alone

    def get_config(self):
        return {**super().get_config(), "size": self.size}

    def save_own_variables(self, store):
        super().save_own_variables(store)
        for index, variable in enumerate(self._members.optimizer):
            store[f"{_OPTIMIZER}{index}"] = variable

    def load_own_variables(self, store):
        # No dict, but a group of an HDF5 file.
        rest = {name: store[name] for name in store.keys()}  # noqa: SIM118
        for index, variable in enumerate(self._members.optimizer):
            variable.assign(rest.pop(f"{_OPTIMIZER}{index}"))
        super().load_own_variables(rest)
