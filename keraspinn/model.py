"""The Keras model that solves a `Problem`."""

import random
import types

import keras
from keras import ops

from keraspinn import arguments, backend, checks
from keraspinn.configs import stamped, unstamped
from keraspinn.execution import steps_per_execution_for
from keraspinn.expressions import Program
from keraspinn.fields import Fields
from keraspinn.metrics import RelativeL2
from keraspinn.nonfinite import explanation, found_again, seen_in
from keraspinn.objective import Objective
from keraspinn.points import (
    EVALUATION_BATCH_SIZE,
    PointSources,
    checked_points,
    evaluation_batch,
    evaluation_data,
    given_batches,
    held_or_streamed,
)
from keraspinn.trainer import FusedModel

EVALUATION_POINTS = 1024
STEPS_PER_EPOCH = 1000


@keras.saving.register_keras_serializable("keraspinn")
class PINNModel(FusedModel):
    """A network trained to satisfy a problem's equations and conditions.

    Minimises L_r(θ) + Σ λ_i L_i(θ), the residual loss and one loss for each condition,
    and the regularizers of the network's weights. Every term has a gradient of its own
    in each step, so that a callback such as `callbacks.LearningRateAnnealing` can
    balance them. The network runs as in inference: Dropout is inactive.

    Args:
        problem: The `Problem` to solve.
        network: A Keras layer or model from points `(N, d)` to one column for each
            of `problem.fields`, such as `networks.ModifiedMLP`.
        standardize: Whether the network sees coordinates of zero mean and unit
            variance over the domain instead of raw ones.
        seed: Integer that all collocation points follow from. If not given, drawn
            from Python's `random`, which `keras.utils.set_random_seed` seeds.
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

    def __init__(self, problem, network, standardize=True, seed=None, **kwargs):
        super().__init__(**kwargs)
        checks.check_parts(problem, network)
        self.problem = problem
        self.network = network
        self.standardize = arguments.checked_flag("standardize", standardize)
        self.seed = (
            random.randint(0, 2**31 - 1) if seed is None else checks.checked_seed(seed)
        )
        if self.standardize:
            self.standardization = keras.layers.Normalization(
                mean=problem.domain.mean,
                variance=problem.domain.variance,
                dtype=self.dtype_policy,
            )
        weights = {name: c.weight for name, c in problem.conditions.items()}
        initial = {p.name: p.initial for p in problem.parameters}
        self.loss_weights = self._scalars(weights, "{}_weight", trainable=False)
        self.coefficients = self._scalars(initial, "{}", trainable=True)
        self._loss_means = [
            keras.metrics.Mean(name=name, dtype=self.variable_dtype)
            for name in ("loss", *(f"{term}_loss" for term in problem.terms))
        ]
        self._errors = [
            RelativeL2(
                name=f"{name}_relative_l2",
                up_to_constant=problem.determined_up_to_constant(name),
                dtype=self.variable_dtype,
            )
            for name in problem.reference_expressions
        ]
        compared = problem.reference_expressions
        self._reference = Program(compared.values(), problem.coordinates)
        self._evaluation_sources = PointSources(problem, EVALUATION_POINTS)
        self._sources = PointSources(problem)
        self._weighting, self._streams = None, False
        self.build((None, problem.domain.dimension))
        dtype = self.compute_dtype
        self._fields = Fields(problem, self._forward, self.coefficients, dtype)
        weights = self.loss_weights, self.coefficients
        self._objective = Objective(problem, self._fields, *weights)

    def _scalars(self, values, name_format, trainable):
        """Variables by name, read-only: a number put in place of one would be lost."""
        variables = {
            name: self.add_weight(
                initializer=keras.initializers.Constant(value),
                trainable=trainable,
                aggregation="none" if trainable else "only_first_replica",
                name=name_format.format(name),
            )
            for name, value in values.items()
        }
        return types.MappingProxyType(variables)

    def build(self, input_shape):
        if self.standardize and not self.standardization.built:
            self.standardization.build(input_shape)
        self.input_spec = keras.layers.InputSpec(axes={-1: input_shape[-1]})
        points = keras.Input(batch_shape=input_shape, dtype=self.compute_dtype)
        checks.check_network(self.problem, self.network, points)
        checks.check_one_type(self, self.network)
        self.built = True

    def _forward(self, points, apply):
        """The model's layers, composed with `apply(layer, input)`."""
        if self.standardize:
            points = apply(self.standardization, points)
        return apply(self.network, points)

    def call(self, points):
        return self._forward(points, lambda layer, x: layer(x))

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], len(self.problem.fields))

    @property
    def derivative_engine(self):
        """Which engine finds derivatives, `"taylor"` or `"jvp"`."""
        return self._fields.engine

    @property
    def metrics(self):
        """The losses' running means, and the errors against the reference."""
        return [*self._loss_means, *self._errors]

    # Training

    def set_weighting(self, rule):
        """Let `rule` update the loss weights in every training step.

        Meant for callbacks, in their `set_model`; `fit` begins without a rule.

        Args:
            rule: Hashable function of `(gradients, weights, iteration)` that returns
                the new weights, such as `weighting.GradientRatio`; or `None`.

        Raises:
            ValueError: If the model has no conditions, or a rule already.
        """
        if rule is not None and not self.loss_weights:
            raise ValueError(
                "There are no loss weights to adapt: the problem has no conditions."
            )
        if rule is not None and self._weighting not in (None, rule):
            raise ValueError(
                "Two callbacks adapt the loss weights; give `fit` one of them. "
                f"Received: {self._weighting} and {rule}"
            )
        self._weighting = rule

    def train_step(self, data):
        """One step on the points of a user's pipeline; what it lacks is drawn."""
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        arguments.refuse_what_the_problem_says("fit", y)
        given = given_batches(self.problem, x, self.compute_dtype)
        # A step not taken is the epoch's last: the ones after it see NaN in the mean.
        going = ops.isfinite(self._loss_means[0].total)
        return self.training_logs(self.self_contained_step(given, going))

    def descent(self, given=None):
        """Losses by their names in logs, and the gradient to follow."""
        step, given = self.step_count, given or {}
        drawn = self._drawn(backend.replica(), set(self.problem.terms) - set(given))
        what = drawn | given, self.trainable_variables, self._weighting, step
        return self._objective.descent(*what, self.max_points_per_pass)

    def _drawn(self, replica, names=None):
        source = self.seed, self.step_count, self.compute_dtype
        return self._sources.draw(*source, names=names, replica=replica)

    @property
    def adapted_variables(self):
        """The loss weights."""
        return list(self.loss_weights.values())

    def explain_nonfinite(self, logs):
        """What is not finite in the step that follows, as a sentence."""
        replicas = range(self.distribute_strategy.num_replicas_in_sync)
        # Points that were streamed are gone; those drawn are drawn once more.
        draws = [] if self._streams else map(self._drawn, replicas)
        variables = self.trainable_variables
        what = variables, self.problem.coordinates, self.max_points_per_pass
        cause = found_again(self._objective, draws, *what)
        cause = cause or seen_in(logs)
        return explanation(cause, self.steps_taken, self.coefficients)

    def training_logs(self, losses, steps=1):
        """Running means of the losses, λ and the coefficients."""
        current = {f"{name}_weight": v for name, v in self.loss_weights.items()}
        current |= self.coefficients
        return self._mean_losses(losses, steps) | {
            name: ops.convert_to_tensor(variable) for name, variable in current.items()
        }

    def _mean_losses(self, losses, steps):
        for mean in self._loss_means:
            mean.update_state(losses[mean.name], sample_weight=steps)
        return {mean.name: mean.result() for mean in self._loss_means}

    @property
    def training_loss_names(self):
        return [mean.name for mean in self._loss_means]

    @property
    def training_key(self):
        return self.seed, self._sources.key, self._weighting

    def fit(
        self,
        x=None,
        y=None,
        batch_size=None,
        *,
        steps_per_epoch=None,
        validation_batch_size=None,
        **kwargs,
    ):
        """Train the model.

        Args:
            x: Points. `None` draws fresh ones on the device in every step. An array
                `(n, d)` holds the residual's fixed, a dict from term names to arrays
                those of several terms; a `tf.data.Dataset`, `PyDataset` or generator
                streams batches `(n, d)`, or dicts of them. Terms left out are drawn.
            y: Must be `None`: the equations say what holds at the points.
            batch_size: Number of points a step uses inside and on each face, 128 if
                not given; or a dict from term names to numbers. Of points held fixed,
                that many are drawn with replacement, all of them if not given.
            steps_per_epoch: Number of steps of an epoch: if not given, 1000, or until
                streamed points run out.
            validation_batch_size: Number of points of `validation_data` at a time.
            **kwargs: As in `keras.Model.fit`: `epochs`, `callbacks`, `verbose`,
                `initial_epoch`, `validation_data`, `validation_freq`, `shuffle`.

        Returns:
            A `keras.callbacks.History` of `loss`, `<term>_loss`,
            `<condition>_weight`, and each unknown parameter.

        Raises:
            ValueError: If an argument names a term or points the problem lacks.
        """
        arguments.check_fit(y, steps_per_epoch, validation_batch_size, kwargs)
        if not self.compiled:
            raise ValueError("Call `model.compile(optimizer=...)` before `fit`.")
        self._weighting = None
        held, self._streams = held_or_streamed(x)
        self._sources = PointSources(self.problem, batch_size, held)
        pair = arguments.validation_pair(kwargs.get("validation_data"))
        if pair is not None:
            batches = self._dataset(*pair, batch_size=validation_batch_size)
            kwargs["validation_data"] = batches
        steps = self.compiled_with["steps_per_execution"]
        if self._streams:
            steps = 1 if steps == "auto" else steps
            return self.fit_stepwise(
                x, steps, steps_per_epoch=steps_per_epoch, **kwargs
            )
        steps_per_epoch = steps_per_epoch or STEPS_PER_EPOCH
        if steps == "auto":
            steps = steps_per_execution_for(
                self._sources, self.problem, self.count_params(), steps_per_epoch
            )
        return self.fit_fused(steps_per_epoch, steps, **kwargs)

    # Evaluation

    def test_step(self, data):
        """Losses at given points, and errors against reference values there."""
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        x, y = evaluation_batch(self.problem, x, y, self.compute_dtype)
        batches = self._evaluation_sources.draw(self.seed, -1, self.compute_dtype)
        batches["residual"] = self.problem.terms["residual"].given(x)
        losses = self._objective.losses(batches, self.trainable_variables)
        logs = self._mean_losses(losses, steps=ops.shape(x)[0])
        if y is not None:
            values = self._fields.evaluate(self._reference, x)
            for error, value in zip(self._errors, values, strict=True):
                name = error.name.removesuffix("_relative_l2")
                error.update_state(ops.reshape(y[name], ops.shape(value)), value)
                logs[error.name] = error.result()
        return logs

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", **kwargs):
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

    def predict(self, x, batch_size=None, verbose="auto", **kwargs):
        """The fields at points: an array `(n, F)`; see `keras.Model.predict`."""
        if not arguments.is_stream("predict", x):
            x, batch_size = self._dataset(x, batch_size=batch_size), None
        return super().predict(x, batch_size, verbose, **kwargs)

    def predict_step(self, data):
        """The fields at given points."""
        x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
        return self(evaluation_batch(self.problem, x, None, self.compute_dtype)[0])

    def predict_expression(self, expression, points):
        """Values of any expression in the fields, derivatives included.

        Args:
            expression: SymPy expression in the problem's fields, coordinates and
                parameters, or a list of them.
            points: Array `(n, d)`.

        Returns:
            Array `(n,)`, or a list of arrays.

        Raises:
            ValueError: If the expression holds what the problem does not have.

        Example:

        ```python
        flux = model.predict_expression(u.diff(x), points)
        ```
        """
        points = checked_points(self.problem, "prediction", points)
        return self._fields.predict(expression, points, EVALUATION_BATCH_SIZE)

    def _dataset(self, x, y=None, *, batch_size=None):
        replicas = self.distribute_strategy.num_replicas_in_sync
        dtype = self.compute_dtype
        return evaluation_data(self.problem, x, y, batch_size, dtype, replicas)

    # Saving

    def get_config(self):
        own = {
            "problem": keras.saving.serialize_keras_object(self.problem),
            "network": keras.saving.serialize_keras_object(self.network),
            "standardize": self.standardize,
            "seed": self.seed,
        }
        return stamped({**super().get_config(), **own})

    @classmethod
    def from_config(cls, config):
        config = unstamped(config, "model")
        for name in ("problem", "network"):
            config[name] = checks.deserialized(config[name])
        return cls(**config)
