"""The Keras model of a problem: the methods that one network or many have in common."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import keras
import numpy as np
from numpy.typing import ArrayLike

from keraspinn import backend
from keraspinn.backend.compatibility import begin_at_epoch
from keraspinn.common import Optimizer, Registered, Tensor, arguments, files, html
from keraspinn.common.checks import check_count, checked_flag, unmasked
from keraspinn.common.configs import restored, stamped, unstamped
from keraspinn.declaration import Scales
from keraspinn.declaration.formulas import wrap_line
from keraspinn.sampling.base import BatchSize, Given, Input
from keraspinn.sampling.given import evaluation_data
from keraspinn.training import fitting
from keraspinn.training.frozen import freeze, frozen
from keraspinn.training.logs import shown
from keraspinn.training.precision import converted, policy
from keraspinn.training.progress import with_progress_bar
from keraspinn.training.trainer import Trainer
from keraspinn.training.weighting import Weighting
from keraspinn.weighting import WeightingRule


class ProblemModel(Registered, backend.StepFunctions, keras.Model):
    """A Keras model trained on a problem: the base of `PINNModel` and `Ensemble`.

    It translates Keras's methods; the `trainer` trains. A subclass sets `problem`,
    `network`, `seed`, `loss_weights`, `coefficients` and `trainer`. Evaluation and
    prediction take points in float64, as these may be far from the origin.

    Attributes:
        trainer: The `Trainer`.
        compiled_with: The arguments of `compile` but the optimizer, or `None`.
        seed_is_given: Whether the user chose the seed.
    """

    trainer: Trainer
    compiled_with: Any = None
    announced: Any = None  # the step whose compilation the progress bar has told
    seed_is_given = True
    _evaluates = None  # the key that `test_function` was compiled for

    def build(self, input_shape):
        self.input_spec = keras.layers.InputSpec(axes={-1: input_shape[-1]})
        self.built = True

    @property
    def steps_taken(self):
        """Number of training steps taken, a Python integer."""
        return int(self.trainer.step_count.numpy())

    @property
    def weighting(self) -> WeightingRule | None:
        """The rule that last adapted the loss weights, or `None`."""
        return self.trainer.weighting.last

    def set_weighting(self, rule: WeightingRule | Callable[..., Any] | None) -> None:
        """Let `rule` update the loss weights in every training step.

        Meant for callbacks, in their `set_model`. The model saves the rule's state.

        Args:
            rule: A `weighting.WeightingRule`; a hashable function of `(gradients,
                weights, iteration)` that returns the new weights; or `None`.

        Raises:
            ValueError: If the model has no conditions, or a rule already.
        """
        paths = [v.path for v in self.network.trainable_variables]
        self.trainer.weighting.set(rule, self.loss_weights, paths)

    def compile(
        self,
        optimizer: Optimizer = "adam",
        loss: None = None,
        loss_weights: None = None,
        metrics: None = None,
        weighted_metrics: None = None,
        run_eagerly: bool = False,
        steps_per_execution: int | str = "auto",
        jit_compile: bool | str = True,
        *,
        max_points_per_pass: int | str = "auto",
        **unknown: Any,
    ) -> None:
        """Configure training.

        Args:
            optimizer: Name or instance of an optimizer of Keras's or of
                `keraspinn.optimizers`, as `keraspinn.optimizers.get` takes it.
            loss, loss_weights, metrics, weighted_metrics: Must be `None`: the problem
                declares them.
            run_eagerly: Whether to run uncompiled, for debugging.
            steps_per_execution: Number of steps run as one program; `"auto"` takes
                as many as keep the progress bar moving a few times a second.
            jit_compile: Whether XLA compiles the steps, also on a CPU with `"auto"`. On
                several replicas it never does.
            max_points_per_pass: Number of points of a term differentiated at a time, on
                each device; `"auto"` takes as many as are fast. Streams have no bound.

        Raises:
            ValueError: For a loss or metrics, or a number that is no positive integer.
            TypeError: For an unknown argument, or a flag that is not True or False.
        """
        fitting.check_compile((loss, loss_weights, metrics, weighted_metrics), unknown)
        optimizer = fitting.checked_optimizer(optimizer, self.replica_count)
        eager = checked_flag("run_eagerly", run_eagerly)
        jit = jit_compile == "auto" or checked_flag("jit_compile", jit_compile)
        steps = check_count("steps_per_execution", steps_per_execution, "auto")
        most = check_count("max_points_per_pass", max_points_per_pass, "auto")
        self.check_devices()
        # XLA has no way for replicas to exchange gradients within a program.
        fused = jit and not eager and self.replica_count == 1
        super().compile(optimizer=optimizer, jit_compile=fused, run_eagerly=eager)
        self.compiled_with = {
            "run_eagerly": eager,
            "steps_per_execution": steps,
            "jit_compile": jit,
            "max_points_per_pass": most,
        }
        self.optimizer.build(self.trainable_variables)
        self.train_function = self.test_function = self.predict_function = None
        self.trainer.follow(self.optimizer)

    def get_compile_config(self):
        if self.compiled_with is None:
            return {}
        optimizer = keras.saving.serialize_keras_object(self.optimizer)
        return {"optimizer": optimizer, **self.compiled_with}

    def compile_from_config(self, config):
        self.compile(**keras.saving.deserialize_keras_object(config))

    def fit(
        self,
        x: Given | Iterable[Any] | None = None,
        y: Any = None,
        batch_size: BatchSize = None,
        *,
        steps_per_epoch: int | None = None,
        validation_batch_size: int | None = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Train the model.

        Args:
            x: Points. `None` draws fresh ones on the device in every step, or as the
                optimizer needs them. A sampler of `keraspinn.sampling` draws those of
                all terms, an array `(n, d)` fixes the residual's. A dict maps term
                names to samplers or arrays. A `tf.data.Dataset`, `PyDataset` or
                generator streams batches `(n, d)`, or dicts of them. Points of other
                terms are drawn.
            y: Must be `None`: the equations are the targets.
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
            FloatingPointError: If a loss or gradient is not finite.
        """
        data, self.steps_per_execution, settings = fitting.fit_arguments(
            self, x, y, batch_size, steps_per_epoch, validation_batch_size, kwargs
        )
        self.check_devices()
        try:
            with backend.full_products(), backend.undistributed():
                return super().fit(data, **settings)
        finally:
            self.trainer.progress = None  # single batches are trained on as in Keras
            # Restored from a backup, it would be where every later fit begins.
            begin_at_epoch(self, None)
            self.steps_per_execution = 1

    def make_train_function(self, force=False):
        """Compile self-contained steps as one program, and others as Keras does."""
        fused = self.trainer.progress is not None
        if fused:
            # Keras has read it for the training data; validation goes batch by batch.
            self.steps_per_execution = 1
        if self.trainer.is_stale(fused) or force or self.train_function is None:
            if fused:
                self.train_function = self.trainer.loop()
            else:
                super().make_train_function(force=True)
        return self.train_function

    def make_test_function(self, force=False):
        """Compile the evaluation as Keras does, and anew where the last is stale."""
        key = self.trainer.evaluation_key, self.steps_per_execution
        stale, self._evaluates = self._evaluates, key
        return super().make_test_function(force or stale != self._evaluates)

    def train_step(self, data):
        """Make one step on the points of a pipeline."""
        x, y, weights = keras.utils.unpack_x_y_sample_weight(data)
        arguments.reject_targets(y, sample_weight=weights is not None)
        return self.trainer.train_step(x)

    def train_on_batch(self, x=None, y=None, return_dict=False):
        """Make one step on given or drawn points; see `keras.Model.train_on_batch`.

        Args:
            x: Points as `fit` takes them, but no stream.
            y, return_dict: `None`, and as in Keras.
        """
        x = arguments.single_batch({} if x is None else x)
        with backend.full_products(), backend.undistributed():
            logs = super().train_on_batch(x, y, return_dict=return_dict)
        if not np.isfinite(list(logs.values()) if return_dict else logs).all():
            self.reset_metrics()  # the next step may be finite, and is to be made
        return logs

    def __call__(self, points: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if isinstance(points, keras.KerasTensor) or keras.ops.is_tensor(points):
            return super().__call__(points, *args, **kwargs)
        points = unmasked("points", points)
        with backend.double_precision():  # points may be far from the origin
            return super().__call__(points, *args, **kwargs)

    _repr_html_ = html.of_model

    def summary(self, *args, print_fn=None, **kwargs):
        """Print the network, λ and the problem; see `keras.Model.summary`."""
        keras.Model.summary(self.trainer.single, *args, print_fn=print_fn, **kwargs)
        numbers = shown(self.trainer.adapted(), self.trainer.counted)
        line = wrap_line(", ".join([self.headline, *numbers]))
        (print_fn or print)(f"{self.problem}\n{line}")

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], len(self.problem.fields))

    def evaluate(
        self,
        x: Input | None = None,
        y: Mapping[str, ArrayLike] | None = None,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        **kwargs: Any,
    ) -> Any:
        """Return losses, and relative L2 errors against the reference.

        The residual's loss is taken at the given points, the conditions' at fixed ones.

        Args:
            x: Points `(n, d)`, as `problem.test_data` returns them, or a dataset.
            y: Optional dict from reference names to values `(n,)`.
            batch_size: Number of points at a time.
            **kwargs: As in `keras.Model.evaluate`, like `verbose`.

        Returns:
            `loss` and further values, or a dict with `return_dict=True`.

        Raises:
            ValueError: If points or values do not fit the problem.
        """
        if not arguments.is_stream(x):
            x = evaluation_data(self.problem, x, y, batch_size, self.replica_count)
            y, batch_size = None, None
        x = arguments.as_tuples(x)
        if not kwargs.get("_use_cached_eval_dataset"):  # of `fit`, which validates
            callbacks = arguments.callback_list(kwargs.get("callbacks"))
            kwargs["callbacks"] = with_progress_bar(callbacks, verbose)
        rule = self.trainer.weighting.rule
        with backend.double_precision(), backend.undistributed():
            results = super().evaluate(x, y, batch_size, verbose, **kwargs)
        self.trainer.weighting.rule = rule  # callbacks here adapt no steps
        return results

    def predict(
        self,
        x: Input,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        **kwargs: Any,
    ) -> np.ndarray:
        """Return the fields at points, an array `(n, F)`; see `keras.Model.predict`."""
        if not arguments.is_stream(x):
            data = self.problem, x, None, batch_size, self.replica_count
            x, batch_size = evaluation_data(*data, label="prediction"), None
        x = arguments.as_tuples(x)
        with backend.double_precision(), backend.undistributed():
            return super().predict(x, batch_size, verbose, **kwargs)

    def test_on_batch(self, x, *args, **kwargs):
        """Evaluate a single batch; see `keras.Model.test_on_batch`."""
        with backend.double_precision(), backend.undistributed():
            return super().test_on_batch(arguments.single_batch(x), *args, **kwargs)

    def predict_on_batch(self, x):
        """Predict for a single batch; see `keras.Model.predict_on_batch`."""
        with backend.double_precision(), backend.undistributed():
            return super().predict_on_batch(arguments.single_batch(x))

    def astype(self, dtype: str) -> Self:
        """Return a copy in another type, such as float64 for second-order training.

        Its network has the same configuration with every type replaced. It copies the
        weights, loss weights, coefficients, frozen layers, the weighting rule's state
        and the seed.

        Args:
            dtype: `"float32"` or `"float64"`.

        Returns:
            The model, not compiled.

        Raises:
            ValueError: For another type.

        Example:

        >>> network = keraspinn.networks.MLP(units=4, depth=1)
        >>> model = keraspinn.PINNModel(keraspinn.problems.poisson(), network)
        >>> model.astype("float64").variable_dtype
        'float64'
        """
        other = converted(self, dtype)
        other.seed_is_given = self.seed_is_given
        other.trainer.weighting = self.trainer.weighting.continued(dtype)
        return other

    def save(self, filepath, overwrite=True, zipped=None, **kwargs):
        """Save the model to one `.keras` file, at once; see `keras.Model.save`."""
        save = super().save
        if str(filepath).endswith((".h5", ".hdf5")):
            raise ValueError(
                "A model is saved to a `.keras` file, or its weights alone to "
                f"`.weights.h5` with `save_weights`. Received: '{filepath}'"
            )
        if zipped is False or not files.replaceable(filepath, ".keras", overwrite):
            return save(filepath, overwrite, zipped, **kwargs)
        return files.write_whole(filepath, lambda path: save(path, **kwargs))

    def save_weights(self, filepath, overwrite=True, max_shard_size=None):
        """Save the weights to a `.weights.h5` file; see `keras.Model.save_weights`."""
        if max_shard_size or not files.replaceable(filepath, ".weights.h5", overwrite):
            return super().save_weights(filepath, overwrite, max_shard_size)
        return files.write_whole(filepath, super().save_weights)

    def get_config(self):
        config = {
            "problem": keras.saving.serialize_keras_object(self.problem),
            "network": keras.saving.serialize_keras_object(self.network),
            "seed": self.seed,
        }
        if (rule := self.trainer.weighting.get_config()) is not None:
            config["weighting"] = rule
        if indices := frozen(self):
            config["frozen"] = indices
        return stamped({**super().get_config(), **config})

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        config = unstamped(config, "model")
        rule, indices = config.pop("weighting", None), config.pop("frozen", ())
        standardized = config.pop("standardize", None)
        with policy(config.get("dtype")):
            config = keras.saving.deserialize_keras_object(config)
            if standardized is not None:  # version 0.1 had only these scales
                problem = config["problem"]
                known = Scales.standardized if standardized else Scales.raw
                config["problem"] = problem.with_scales(known(problem.domain))
            model = cls(**config)
        freeze(model, indices)
        if rule is not None:
            model.trainer.weighting = Weighting(restored(rule, WeightingRule))
        return model

    def save_own_variables(self, store):
        super().save_own_variables(store)
        for name, array in self.trainer.saved().items():
            store[name] = array

    def load_own_variables(self, store):
        # No dict, but a group of an HDF5 file.
        arrays = {name: store[name] for name in store.keys()}  # noqa: SIM118
        self.trainer.load(arrays)
        super().load_own_variables(arrays)
