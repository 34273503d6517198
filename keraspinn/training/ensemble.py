"""Many models of one problem, trained as one program by a leading axis."""

from collections.abc import Iterable, Mapping
from typing import Any

import keras
import numpy as np
from keras import ops

from keraspinn import backend, optimizers
from keraspinn.backend.compatibility import copy_exclusions
from keraspinn.common import arguments
from keraspinn.common.checks import check_count, checked_seed, is_whole
from keraspinn.common.typing import Optimizer
from keraspinn.declaration.problem import Problem
from keraspinn.sampling.base import Given
from keraspinn.sampling.given import given_batches
from keraspinn.sampling.sources import PointSources
from keraspinn.training import checks
from keraspinn.training.deviation import member_deviations
from keraspinn.training.ensemble_evaluation import EvaluatedEnsemble
from keraspinn.training.fitting import run_fit
from keraspinn.training.flat import joined
from keraspinn.training.member_steps import MemberSteps
from keraspinn.training.members import (
    ReportStopped,
    check_averages,
    drawn_networks,
    explained,
)
from keraspinn.training.model import PINNModel
from keraspinn.training.state import TrainingState
from keraspinn.training.weighting import Weighting


@keras.saving.register_keras_serializable("keraspinn")
class Ensemble(EvaluatedEnsemble):
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
        networks = drawn_networks(problem, network, self.variable_dtype, self._seeds)
        model = PINNModel(problem, networks[0], seed=seed, dtype=self.dtype_policy)
        self._stack(model, networks)
        self._sources = PointSources(problem, self.compute_dtype)
        self._weighting = Weighting()
        self.build((None, problem.domain.dimension))
        # Keras exports what was called once.
        self(keras.Input((problem.domain.dimension,), dtype=self.compute_dtype))
        self.digest_when_made = self.weights_digest()

    # Training

    def compile(self, optimizer: Optimizer = "adam", *args: Any, **kwargs: Any) -> None:
        self.refuse_within_fit()
        model = self._one.model
        if optimizer is not None:  # which the model refuses
            optimizer = optimizers.get(optimizer)
            check_averages(optimizer)
            stacked = self._of_members(model.variables)
            copy_exclusions(optimizer, optimizer, stacked, model.variables)
        model.compile(optimizer, *args, **kwargs)
        super().compile(model.optimizer, *args, **kwargs)
        values = [self.repeated(variable) for variable in self.optimizer.variables]
        if hasattr(self.optimizer, "step"):
            names = list(self.optimizer.state_variables)
            states = [self._begun(number) for number in range(self.size)]
            values[-len(names) :] = [np.stack([s[n] for s in states]) for n in names]
        self._one.optimizer = [
            keras.Variable(value, dtype=variable.dtype, trainable=False)
            for value, variable in zip(values, self.optimizer.variables, strict=True)
        ]
        self._begin_metrics()
        self.training, self._made = None, None

    compile.__doc__ = EvaluatedEnsemble.compile.__doc__

    def _begun(self, number):
        """What an optimizer of ours remembers of a member before its first step."""
        variables = self._loaded(number).trainable_variables
        begun = self.optimizer.init(joined(variables))
        return {name: ops.convert_to_numpy(value) for name, value in begun.items()}

    def _begun_sampling(self):
        begun = [self._sources.init(seed) for seed in self._seeds]
        return keras.tree.map_structure(lambda *own: ops.stack(own), *begun)

    def _begun_training(self):
        return TrainingState(
            self._of_members(self._one.model.trainable_variables),
            self._one.optimizer,
            self.loss_weights,
            self._weighting.begin(self.loss_weights, members=True),
            self._begun_sampling(),
            len(self._objective.names),
            members=(self.size,),
        )

    def _new_step(self):
        fixed = tuple(v for v in self.network.variables if not v.trainable)
        return MemberSteps(super()._new_step(), fixed, self.optimizer_writes)

    @property
    def _objective(self):
        return self._one.model._objective

    @property
    def _seed_tensor(self):
        return ops.convert_to_tensor(np.array(self._seeds, "uint32"), "uint32")

    def run_step(self, given=None, going=None):
        """Make a step of every member that has not stopped."""
        state = self.training.read()
        state["optimizer"] = self._with_present_rate(state["optimizer"])
        fixed = backend.copies(self._of_members(self._step.fixed))
        iteration, going = backend.copies([self.step_count, self._going])
        new, losses, taken = self._step(
            state, fixed, self._seed_tensor, iteration, going, given
        )
        self.training.write(new, state)
        self._going.assign(taken)
        self.step_count.assign(iteration + 1)
        return losses | {"taken": ops.cast(taken, losses["loss"].dtype)}

    def _with_present_rate(self, values):
        """The optimizer's state with the learning rate as it is set now."""
        rates = self._places("learning_rate")
        present = backend.copies(self.optimizer.variables)
        return [
            ops.broadcast_to(present[place], (self.size,)) if place in rates else value
            for place, value in enumerate(values)
        ]

    def train_step(self, data):
        """One step of all members on the points of a pipeline."""
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        arguments.refuse_what_the_problem_says("fit", y)
        losses = self.run_step(given_batches(self._sources, self.problem, x))
        return self.training_logs(losses)

    def training_logs(self, losses, steps=1):
        """Means over the members of their running means, λ and coefficients."""
        model, losses = self._one.model, dict(losses)
        steps = ops.cast(steps, losses["loss"].dtype)
        taken = losses.pop("taken")
        own = {n: ops.divide_no_nan(loss, taken) for n, loss in losses.items()}
        found = self._logged(model._logs.update, (own, taken * steps)) | self._adapted()
        return {name: self._mean(values) for name, values in found.items()}

    @property
    def training_loss_names(self):
        """Those of one model, and how many steps were taken."""
        return [*self._one.model.training_loss_names, "taken"]

    def _places(self, name):
        """Where variables of some name stand among the optimizer's."""
        names = [variable.name for variable in self.optimizer.variables]
        return [place for place, own in enumerate(names) if own == name]

    @property
    def loss_shape(self):
        return (self.size,)

    @property
    def written_variables(self):
        rates = [self.optimizer.variables[n] for n in self._places("learning_rate")]
        return [*self.training.variables, self._going, self.step_count, *rates]

    @property
    def watched_variables(self):
        return ()  # no member takes a step that leaves what is not finite

    @property
    def state_variables(self):
        return [*super().state_variables, *self._one.optimizer]

    def fit(
        self,
        x: "Given | Iterable[Any] | None" = None,
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
        if not self._is_going.any():
            raise FloatingPointError(self.explain_nonfinite({}))
        callbacks = arguments.callback_list(kwargs.get("callbacks"))
        kwargs["callbacks"] = [ReportStopped(), *callbacks]
        return run_fit(
            self, x, y, batch_size, steps_per_epoch, validation_batch_size, kwargs
        )

    def explain_nonfinite(self, logs):
        """What is not finite in the last member's next step, as a sentence."""
        if self._step is None:  # loaded
            return f"All {self.size} members have stopped. Train another ensemble."
        last = np.argmax(self.member_steps)
        return f"All {self.size} members have stopped. " + explained(self, last)

    def explain_stop(self, number):
        """What is not finite in a member's next step, as a sentence."""
        return (
            f"Member {number} of {self.size} has stopped; those that have not go on. "
            f"{explained(self, number)}"
        )

    @property
    def member_steps(self):
        """Numbers of steps that the members have taken, an array `(size,)`."""
        (place,) = self._places(self.step_count.name)
        return ops.convert_to_numpy(self._one.optimizer[place])

    # Unknown parameters

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
        return member_deviations(self._loaded, names, self._is_going)

    # One member, precision and saving

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
        alone = self._loaded(number).astype(self.variable_dtype)
        alone._weighting = self._weighting.continued(self.variable_dtype, number)
        if self.compiled:
            optimizer = self.optimizer
            own = type(optimizer).from_config(optimizer.get_config())
            copy_exclusions(optimizer, own, self._one.model.variables, alone.variables)
            alone.compile(own, **self.compiled_with)
            rates = self._places("learning_rate")
            for place, variable in enumerate(alone.optimizer.variables):
                own = self._one.optimizer[place][number]
                value = optimizer.variables[place] if place in rates else own
                variable.assign(ops.copy(value))  # a compiled loop writes over it
        return alone
