"""The Keras model that solves a `Problem`."""

from __future__ import annotations

import random
import re
import types
from collections.abc import Iterable, Mapping
from typing import Any

import keras

from keraspinn import backend
from keraspinn.common import arguments
from keraspinn.common.checks import checked_seed
from keraspinn.common.typing import Optimizer
from keraspinn.declaration.problem import Problem
from keraspinn.residuals import Fields
from keraspinn.sampling.base import Given
from keraspinn.sampling.given import given_batches
from keraspinn.sampling.sources import PointSources, check_apart
from keraspinn.training import checks
from keraspinn.training.evaluation import EvaluatedModel
from keraspinn.training.fitting import run_fit
from keraspinn.training.guard import explanation, found_again, seen_in
from keraspinn.training.logs import Logs
from keraspinn.training.objective import Objective
from keraspinn.training.state import TrainingState
from keraspinn.training.weighting import Weighting


@keras.saving.register_keras_serializable("keraspinn")
class PINNModel(EvaluatedModel):
    """A network trained to satisfy a problem's equations and conditions.

    Minimises L_r(θ) + Σ λ_i L_i(θ), the residual loss and one loss for each condition,
    and the regularizers of the network's weights. Every term has a gradient of its own
    in each step, so that a callback such as `callbacks.LearningRateAnnealing` can
    balance them. The network runs as in inference: Dropout is inactive.

    Args:
        problem: The `Problem` to solve.
        network: A Keras layer or model from points `(N, d)` to one column for each
            of `problem.fields`, such as `networks.ModifiedMLP`; or a dict from fields,
            or tuples of fields, to networks of their own coordinates.
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
        TypeError: If `problem` or `network` is something else.
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
        self._seed_given = seed is not None
        self.seed = random.randint(0, 2**31 - 1) if seed is None else checked_seed(seed)
        soft = [name for name in problem.conditions if name in problem.terms]
        weights = {name: problem.conditions[name].weight for name in soft}
        initial = {p.name: p.initial for p in problem.parameters}
        self.loss_weights = self._scalars(weights, "{}_weight", trainable=False)
        self.coefficients = self._scalars(initial, "{}", trainable=True)
        self._logs = Logs(problem, self.variable_dtype)
        dtype = self.compute_dtype
        self._prepare_evaluation(problem, dtype)
        self._sources = PointSources(problem, dtype)
        self._weighting = Weighting()
        self.build((None, problem.domain.dimension))
        self._fields = Fields(problem, self.network, self.coefficients, dtype)
        # Keras exports what was called once, which training does not do.
        self(keras.Input((problem.domain.dimension,), dtype=self.compute_dtype))
        self._objective = Objective(problem, self._fields)
        place = self._evaluation_sources.places["residual"]
        checks.check_can_learn(problem, self.network, self._objective, place)
        self.digest_when_made = self.weights_digest()

    def _scalars(self, values, name_format, trainable):
        """Variables by name, read-only: a number put in place of one would be lost.

        Names may be any text, a variable's only what TensorFlow takes.
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
        self.input_spec = keras.layers.InputSpec(axes={-1: input_shape[-1]})
        points = keras.Input(batch_shape=input_shape, dtype=self.compute_dtype)
        # Networks of ours learn what the problem's units are, and give fields in them.
        if hasattr(self.network, "adapt") and not self.network.adapted:
            self.network.adapt(self.problem)
        checks.check_network(self.problem, self.network, points)
        checks.check_one_type(self, self.network)
        checks.check_numbers(self.problem, self.network, self.compute_dtype)
        self.built = True

    def call(self, points):
        check_apart(self.problem, "prediction", points)
        return self._fields.in_units(points)

    @property
    def derivative_engine(self) -> str:
        """Which engine finds derivatives, `"taylor"` or `"jvp"`."""
        return self._fields.engine

    @property
    def metrics(self):
        """The losses' running means, and the errors against the reference."""
        return self._logs.metrics

    # Training

    def compile(self, optimizer: Optimizer = "adam", *args: Any, **kwargs: Any) -> None:
        super().compile(optimizer, *args, **kwargs)
        self._logs.follow(self.optimizer)

    compile.__doc__ = EvaluatedModel.compile.__doc__

    def _begun_training(self):
        with self.replica_scope():
            return TrainingState(
                self.trainable_variables,
                self.optimizer.variables,
                self.loss_weights,
                self._weighting.begin(self.loss_weights),
                self._begun_sampling(),
                len(self._objective.names),
            )

    def train_step(self, data):
        """One step on the points of a user's pipeline; what it lacks is drawn."""
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        arguments.refuse_what_the_problem_says("fit", y)
        given = given_batches(self._step.sources, self.problem, x)
        # A step not taken is the epoch's last: the ones after it see NaN in the mean.
        going = self._logs.is_finite
        return self.training_logs(self.run_step(given, going))

    def explain_nonfinite(self, logs):
        """What is not finite in the step that follows, as a sentence."""
        replicas = range(self.replica_count)
        # Points that were streamed are gone; those drawn are drawn once more.
        draws = () if self._streams else self._draws(replicas)
        what = self._step.variables, self.problem.coordinates, self.max_points_per_pass
        cause = found_again(self._objective, self.loss_weights, draws, *what)
        return explanation(cause or seen_in(logs), self.steps_taken, self.coefficients)

    def _draws(self, replicas):
        """The points of the step that follows, for each replica."""
        state, (iteration,) = self.training.read(), backend.copies([self.step_count])
        for replica in replicas:
            yield self._step.points(state, iteration, replica)

    def training_logs(self, losses, steps=1):
        """Running means of the losses, λ and the coefficients."""
        return self._logs.update(losses, steps) | self._adapted()

    @property
    def training_loss_names(self):
        """Names of the losses that a step returns."""
        return self._logs.names

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
        """Train the model.

        Args:
            x: Points. `None` draws fresh ones on the device in every step, or as the
                optimizer needs them. A sampler of `keraspinn.sampling` draws those of
                all terms, an array `(n, d)` holds the residual's fixed, a dict from
                term names to samplers or arrays says it for several terms; a
                `tf.data.Dataset`, `PyDataset` or generator streams batches `(n, d)`, or
                dicts of them. Terms left out are drawn.
            y: Must be `None`: the equations say what holds at the points.
            batch_size: Number of points a step uses inside and on each face, 128 if
                not given, 3000 and 200 for an optimizer of `keraspinn.optimizers`; or
                a dict from term names to numbers. Of points held fixed, that many are
                drawn with replacement, all of them if not given.
            steps_per_epoch: Number of steps of an epoch: if not given, 1000, or until
                streamed points run out.
            validation_batch_size: Number of points of `validation_data` at a time.
            **kwargs: As in `keras.Model.fit`: `epochs`, `callbacks`, `verbose`,
                `initial_epoch`, `validation_data`, `validation_freq`, `shuffle`.

        Returns:
            A `keras.callbacks.History` of `loss`, `<term>_loss`,
            `<condition>_weight`, and each unknown parameter.

        Raises:
            ValueError: If an argument names a term or points the problem lacks, or
                layers were frozen after `compile`, with an optimizer of
                `keraspinn.optimizers` that sees all parameters at once.
        """
        return run_fit(
            self, x, y, batch_size, steps_per_epoch, validation_batch_size, kwargs
        )
