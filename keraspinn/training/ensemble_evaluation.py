"""What the members of an ensemble say at points, and how far off they are."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from keras import ops
from numpy.typing import ArrayLike

from keraspinn import backend
from keraspinn.backend.scopes import stateless
from keraspinn.declaration.problem import Problem
from keraspinn.declaration.validation.equations import wrapped
from keraspinn.training.members import (
    MemberMetrics,
    Spread,
    check_distinct,
    mean_and_deviation,
    result_or_nan,
    spread,
)
from keraspinn.training.problem_model import ProblemModel

if TYPE_CHECKING:
    import sympy as sp

_OPTIMIZER = "optimizer."


class EvaluatedEnsemble(ProblemModel):
    """The half of `Ensemble` that trains nothing: `predict`, `evaluate`, `save`.

    Every variable has the members along its first axis. What is computed for them is
    what a `PINNModel` computes, mapped over that axis; `_one.model` is that model, and
    what it holds itself is scratch.

    A subclass has the attributes `size`, `seed` and `_weighting`, and calls `_stack`.
    """

    def _stack(self, model, networks):
        """Make the members' variables.

        Args:
            model: A `PINNModel` of the members' kind.
            networks: The members' networks.
        """
        drawn = zip(*(network.variables for network in networks), strict=True)
        begun = {
            id(v): np.stack([ops.convert_to_numpy(one) for one in own])
            for v, own in zip(model.network.variables, drawn, strict=True)
        }
        if model.network.trainable_variables:
            check_distinct([begun[id(v)] for v in model.network.trainable_variables])
        # Within another object Keras does not take the model for a part of this one.
        self._one = types.SimpleNamespace(model=model, stacked={}, optimizer=[])
        for variable in model.variables:
            values = begun.get(id(variable))
            if values is None:
                values = self.repeated(variable)
            self._one.stacked[id(variable)] = stacked = self.add_weight(
                shape=values.shape,
                initializer=lambda shape, dtype, own=values: ops.cast(own, dtype),
                # Keras orders weights, in files too, by what this was at first.
                trainable=variable.trainable or id(variable) in begun,
                dtype=variable.dtype,
                name=variable.name,
            )
            stacked.trainable = variable.trainable
        self._going = self.add_weight(
            shape=(self.size,),
            initializer="ones",
            dtype="bool",
            trainable=False,
            name="going",
        )
        self._begin_metrics()

    def _begin_metrics(self):
        """Follow what one model logs, for all of them."""
        metrics = MemberMetrics(self._one.model.metrics, self.size)
        self._one.metrics = metrics
        self._one.results = backend.compiled(self._results, read=metrics.of_members)

    def repeated(self, variable):
        """A variable's value as that of every member, an array `(size, ...)`."""
        return np.repeat(ops.convert_to_numpy(variable)[None], self.size, axis=0)

    def _of_members(self, variables):
        """The members' variables in place of those of one model."""
        return [self._one.stacked[id(variable)] for variable in variables]

    def _loaded(self, number):
        """The model that holds a member's numbers, until another is loaded."""
        model = self._one.model
        stacked = self._of_members(model.variables)
        for variable, own in zip(model.variables, stacked, strict=True):
            variable.assign(own[number])
        model.seed = self.seed + number
        return model

    def _single(self):
        return self._one.model

    @property
    def _seeds(self):
        return range(self.seed, self.seed + self.size)

    @property
    def problem(self) -> Problem:
        """The `Problem`."""
        return self._one.model.problem

    @property
    def network(self):
        """A network of the members' kind; its weights are those of none."""
        return self._one.model.network

    def summary(self, *args, print_fn=None, **kwargs):
        """Keras's table of a member's network, how many there are, and what they solve.

        λ and unknown coefficients are means and deviations over the members.

        Args:
            *args, **kwargs: As in `keras.Model.summary`.
            print_fn: Function that prints a text; the default is `print`.
        """
        keras.Model.summary(self._one.model, *args, print_fn=print_fn, **kwargs)
        values = {
            name: ops.convert_to_numpy(value)[self._is_going]
            for name, value in self._adapted().items()
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
        return self._stacked_dict(self._one.model.loss_weights)

    @property
    def coefficients(self) -> Mapping[str, keras.Variable]:
        """Read-only dict from the names of unknown parameters to variables."""
        return self._stacked_dict(self._one.model.coefficients)

    def _stacked_dict(self, variables):
        stacked = self._of_members(variables.values())
        return types.MappingProxyType(dict(zip(variables, stacked, strict=True)))

    @property
    def stopped(self) -> list[int]:
        """List of the numbers of the members that stopped."""
        return np.flatnonzero(~self._is_going).tolist()

    @property
    def _is_going(self):
        return ops.convert_to_numpy(self._going)

    @property
    def metrics(self):
        """The members' running means and errors."""
        return [self._one.metrics]

    # Fields

    def build(self, input_shape):
        self.input_spec = keras.layers.InputSpec(axes={-1: input_shape[-1]})
        self.built = True

    def call(self, points):
        return self._mean(self._each(self._one.model.call, points))

    def _each(self, function, *arguments):
        """What a function of one model gives for every member, `(size, ...)`."""
        variables = self._one.model.variables
        pure = stateless(function, variables)
        values = backend.copies(self._of_members(variables))
        return backend.map_members(
            lambda own: pure(own, *arguments)[0], (list(values),)
        )

    def _mean(self, values):
        """The mean over the members that have not stopped, of `(size, ...)`."""
        going = ops.cast(self._going, values.dtype)
        shares = ops.divide_no_nan(going, ops.sum(going))
        shares = ops.reshape(shares, (-1,) + (1,) * (len(values.shape) - 1))
        # What stopped may be NaN, which no zero makes vanish.
        kept = ops.where(shares > 0, values, ops.zeros_like(values))
        mean = ops.sum(shares * kept, axis=0)
        none = ops.full_like(mean, float("nan"))
        return ops.where(ops.any(self._going.value), mean, none)

    def predict_step(self, data):
        """The members' fields at given points, `(n, size, F)`."""
        fields = self._each(self._one.model.predict_step, data)
        return ops.transpose(fields, (1, 0, 2))

    def predict_members(
        self,
        x: ArrayLike | Iterable[Any],
        expression: sp.Expr | None = None,
        batch_size: int | None = None,
    ) -> np.ndarray:
        """What every member predicts.

        Args:
            x: Points `(n, d)`.
            expression: SymPy expression in the fields, derivatives included, in place
                of the fields.
            batch_size: Number of points at a time.

        Returns:
            The fields `(size, n, F)`, or the expression's values `(size, n)`.
        """
        if expression is not None:
            found = []
            for number in range(self.size):
                model = self._loaded(number)
                found.append(model.predict_expression(expression, x))
            return np.stack(found)
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
        return mean_and_deviation(fields, self._is_going)[0]

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
        return mean_and_deviation(values, self._is_going)

    # Errors

    def test_step(self, data):
        """Losses and errors of every member; their means are logged."""
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        model = self._one.model
        found = self._logged(
            lambda seed: model.evaluation_logs(x, y, seed),
            (self._seed_tensor,),
            model.variables,
        )
        return {name: self._mean(values) for name, values in found.items()}

    def _logged(self, function, tensors, read=()):
        """What a function that updates the metrics of one model logs for each.

        Args:
            function: Function of structures of tensors.
            tensors: Tuple of its arguments for all members.
            read: The variables of one model that it reads.
        """
        metrics = self._one.metrics
        count = len(metrics.of_members)
        pure = stateless(function, [*metrics.of_one, *read])
        before = [*metrics.of_members, *self._of_members(read)]
        values = list(backend.copies(before))
        logs, after = backend.map_members(pure, (values, *tensors))
        for variable, value in zip(metrics.of_members, after[:count], strict=True):
            variable.assign(value)
        return logs

    def _results(self):
        metrics = self._one.metrics
        pure = stateless(
            lambda: {m.name: result_or_nan(m) for m in self._one.model.metrics},
            metrics.of_one,
        )
        values = list(backend.copies(metrics.of_members))
        return backend.map_members(lambda own: pure(own)[0], (values,))

    def member_logs(self):
        """What the members' metrics stand at, and λ and coefficients, `(size,)` each.

        Those of the losses that were logged since the epoch, or evaluation, began; NaN
        where a member took no step.
        """
        logs = self._one.results() | self._adapted()
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
        return {name: spread(logs[name], self._is_going) for name in means}

    # Saving

    def get_config(self):
        return {**super().get_config(), "size": self.size}

    def save_own_variables(self, store):
        super().save_own_variables(store)
        for place, variable in enumerate(self._one.optimizer):
            store[f"{_OPTIMIZER}{place}"] = variable

    def load_own_variables(self, store):
        # No dict, but a group of an HDF5 file.
        rest = {name: store[name] for name in store.keys()}  # noqa: SIM118
        for place, variable in enumerate(self._one.optimizer):
            variable.assign(rest.pop(f"{_OPTIMIZER}{place}"))
        super().load_own_variables(rest)
