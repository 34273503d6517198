"""A Keras model whose training steps can run many at a time, as one program."""

import hashlib
from typing import Any

import keras
import numpy as np
from keras import ops

from keraspinn import backend, optimizers
from keraspinn.backend.compatibility import begin_at_epoch
from keraspinn.common import arguments
from keraspinn.common.checks import check_count, check_unmasked, checked_flag
from keraspinn.common.files import WholeFiles
from keraspinn.common.typing import Tensor
from keraspinn.training.execution import Progress, points_per_pass
from keraspinn.training.guard import with_guard
from keraspinn.training.progress import with_progress_bar


class FusedModel(backend.StepFunctions, WholeFiles):
    """Trains by steps that need no data, fused into one compiled loop.

    A subclass makes the `Step` and its `TrainingState` in `prepare_training`, says with
    `training_logs` and `training_loss_names` what is logged, with `training_key` and
    `evaluation_key` what compiled programs depend on, with `explain_nonfinite(logs)`
    what was wrong in the execution with these logs, and calls `fit_fused` or, where
    data must be read step by step, `fit_stepwise`.

    A step whose loss or gradient is not finite is not taken: whatever was saved, or
    raises, or stops afterwards has the state before it.
    """

    compiled_with: Any = None  # the arguments of `compile`, the optimizer excepted
    training = None  # the `TrainingState`
    _step = None
    _progress = None
    _traced = None
    _evaluates = None  # what `test_function` was compiled for
    _is_fitting = False
    announced = None  # the function whose compilation has been printed

    @property
    def max_points_per_pass(self):
        """Number of points of a term that are differentiated at a time."""
        given = self.compiled_with["max_points_per_pass"]
        return points_per_pass() if given == "auto" else given

    @property
    def step_count(self):
        """Number of training steps taken, an integer scalar for use in a step.

        It counts as well the steps after which the optimizer only accumulates.
        """
        if not self.optimizer.gradient_accumulation_steps:
            return self.optimizer.iterations
        return next(v for v in self.optimizer.variables if v.name == "iteration")

    @property
    def steps_taken(self):
        """Number of training steps taken, a Python integer."""
        (steps,) = backend.copies([self.step_count])
        return int(steps)

    def run_step(self, given=None, going=None):
        """Make one training step: read the state, step, and write it.

        Args:
            given: Batches that the step does not have to draw, by term name.
            going: Boolean scalar: whether to make it at all, and only if its loss and
                gradients are finite. If not given it is made whatever the numbers.

        Returns:
            The dict of losses; the one called `"loss"` is NaN if no step was made, or
            none should have been.
        """
        state = self.training.read()
        (iteration,) = backend.copies([self.step_count])
        new, losses = self._step(state, iteration, given, going)
        self.training.write(new, state, self._written_by_keras(going))
        return losses

    def _written_by_keras(self, going):
        """The parts of the state that a step has left in their variables."""
        ours = hasattr(self.optimizer, "step")
        if ours or not self.optimizer_writes:
            return ()
        # A step that may not be taken is written when that is known, but for several
        # replicas, whose variables the optimizer alone can write.
        taken = going is None or self.replica_count > 1
        return ("variables", "optimizer") if taken else ()

    def __call__(self, points: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if isinstance(points, keras.KerasTensor) or ops.is_tensor(points):
            return super().__call__(points, *args, **kwargs)
        check_unmasked("points", points)
        with backend.double_precision():  # points may be far from the origin
            return super().__call__(points, *args, **kwargs)

    def compile(
        self,
        optimizer="adam",
        loss=None,
        loss_weights=None,
        metrics=None,
        weighted_metrics=None,
        run_eagerly=False,
        steps_per_execution="auto",
        jit_compile=True,
        *,
        max_points_per_pass="auto",
        **unknown,
    ):
        """Configure training.

        Args:
            optimizer: Name or instance of an optimizer of Keras's or of
                `keraspinn.optimizers`, as `keraspinn.optimizers.get` takes it.
            loss, loss_weights, metrics, weighted_metrics: Must be `None`: the problem
                declares them.
            run_eagerly: Whether to run step by step, uncompiled, for debugging.
            steps_per_execution: Number of steps run as one program; `"auto"` takes
                as many as keep the progress bar moving a few times a second.
            jit_compile: Whether XLA compiles the steps. Unlike Keras's "auto", the
                default is to compile on a CPU too. On several replicas it never does.
            max_points_per_pass: Number of points of a term that are differentiated at
                a time, on each device. It bounds the memory of a step, whatever the
                batch, except of streamed batches whose size is not fixed; `"auto"`
                takes as many as are fast.

        Raises:
            ValueError: If given a loss or metrics, an optimizer that scales losses, or
                accumulates gradients on several devices, or if `steps_per_execution`
                or `max_points_per_pass` is not a positive integer.
            TypeError: If given an unknown argument, or another value than True or
                False where one is due.
            RuntimeError: If a callback calls it before training ends.
        """
        self.refuse_within_fit()
        if unknown:
            raise TypeError(
                f"`compile` takes no {sorted(unknown)}. Settings of an optimizer are "
                "its arguments: compile(keras.optimizers.Adam(learning_rate=1e-3))."
            )
        declared = {
            "loss": loss,
            "loss_weights": loss_weights,
            "metrics": metrics,
            "weighted_metrics": weighted_metrics,
        }
        if given := [name for name, value in declared.items() if value is not None]:
            raise ValueError(
                "A PINNModel takes its loss from the problem's equations and "
                "conditions and its metrics from the problem's reference. Received: "
                f"{given}. Set initial loss weights with `Condition(..., weight=)`."
            )
        check_count("steps_per_execution", steps_per_execution, "auto")
        check_count("max_points_per_pass", max_points_per_pass, "auto")
        # What Keras calls "auto" is here to compile.
        jit_compile = jit_compile == "auto" or checked_flag("jit_compile", jit_compile)
        run_eagerly = checked_flag("run_eagerly", run_eagerly)
        if optimizer is None:
            raise ValueError("`compile` needs an optimizer. Received: None")
        optimizer = optimizers.get(optimizer)
        replicas = self.replica_count
        arguments.check_optimizer(optimizer, replicas)
        super().compile(
            optimizer=optimizer,
            # XLA has no way for replicas to exchange gradients within a program.
            jit_compile=jit_compile and not run_eagerly and replicas == 1,
            run_eagerly=run_eagerly,
        )
        self.compiled_with = {
            "steps_per_execution": steps_per_execution,
            "jit_compile": jit_compile,
            "run_eagerly": run_eagerly,
            "max_points_per_pass": max_points_per_pass,
        }
        self.optimizer.build(self.trainable_variables)
        self._traced = None
        self.train_function = self.test_function = self.predict_function = None

    def _end_of_fit(self, logs=None):
        self._is_fitting = False

    def refuse_within_fit(self):
        """Raises `RuntimeError` where `fit` is to go on with what is compiled."""
        if self._is_fitting:
            raise RuntimeError(
                "`compile` was called by a callback, within `fit`, which goes on with "
                "what was compiled before it, as in Keras. Write `model.fit(...)`, "
                "`model.compile(...)` and `model.fit(...)` one after the other; to end "
                "the first early, set `model.stop_training = True`."
            )

    def get_compile_config(self):
        if self.compiled_with is None:
            return {}
        optimizer = keras.saving.serialize_keras_object(self.optimizer)
        return {"optimizer": optimizer, **self.compiled_with}

    def compile_from_config(self, config):
        config = dict(config)
        optimizer = keras.saving.deserialize_keras_object(config.pop("optimizer"))
        self.compile(optimizer, **config)

    def weights_digest(self):
        """A text that tells the network and coefficients from others, to the bit."""
        others = {id(variable) for variable in self.loss_weights.values()}
        variables = [v for v in self.weights if id(v) not in others]
        values = map(ops.convert_to_numpy, backend.copies(variables))
        return hashlib.sha256(b"".join(v.tobytes() for v in values)).hexdigest()

    def fit_fused(self, steps_per_epoch, steps_per_execution, **kwargs):
        """`keras.Model.fit` on self-contained steps, fused unless run eagerly."""
        if self.run_eagerly:
            self.refuse_in_several_workers("train eagerly")
            steps_per_execution = 1  # Keras would overrun the epoch's last step
        else:
            self._progress = Progress(steps_per_epoch, steps_per_execution)
        kwargs["shuffle"] = False  # there is nothing to shuffle
        return self._fit(
            backend.tick_dataset(self.replica_count),
            steps_per_execution,
            steps_per_epoch=steps_per_epoch,
            **kwargs,
        )

    def fit_stepwise(self, data, steps_per_execution, **kwargs):
        """`keras.Model.fit` on data that a pipeline yields."""
        self.refuse_in_several_workers("train on streamed points")
        self._progress = None
        kwargs.setdefault("shuffle", False)  # as the pipeline orders them
        data = arguments.as_tuples("fit", data)
        history = self._fit(data, steps_per_execution, **kwargs)
        if history.epoch and "loss" not in history.history:
            raise ValueError(arguments.without_batches("fit"))
        return history

    def _fit(self, data, steps_per_execution, **kwargs):
        if kwargs.get("validation_data") is not None:
            self.refuse_in_several_workers("evaluate")
            data_given = kwargs["validation_data"]
            kwargs["validation_data"] = arguments.as_tuples("evaluate", data_given)
        # `evaluate` takes one batch at a time, `fit` as many as it fuses steps.
        compiled, evaluating = self.compiled_with, (self.test_function, self._evaluates)
        self.test_function = None
        self.steps_per_execution = steps_per_execution
        # First of all, so that what others do at the end may compile anew.
        end = keras.callbacks.LambdaCallback(on_train_end=self._end_of_fit)
        callbacks = [end, *with_guard(kwargs.get("callbacks"))]
        kwargs["callbacks"] = with_progress_bar(callbacks, kwargs.get("verbose"))
        self._is_fitting = True
        try:
            with backend.full_products():
                return super().fit(data, **kwargs)
        finally:
            self._end_of_fit()
            self._progress = None  # single batches are trained on as in Keras
            # Restored from a backup, it would be where every later fit begins.
            begin_at_epoch(self, None)
            self.steps_per_execution = 1
            self.test_function = None
            if self.compiled_with is compiled:
                self.test_function, self._evaluates = evaluating

    def make_test_function(self, force=False):
        """As Keras does, and anew where it would evaluate what no longer is."""
        stale, self._evaluates = self._evaluates, self.evaluation_key
        return super().make_test_function(force or stale != self._evaluates)

    def refuse_in_several_workers(self, what):
        """Raises `ValueError` where several workers would run a step of Keras's own."""
        workers = self.worker_count
        if workers > 1:
            raise ValueError(
                f"Keras cannot {what} in {workers} workers: it averages scalars over "
                "an axis they lack. Train there on points drawn or held, without "
                "`validation_data` and `run_eagerly`; save the weights, and do the "
                "rest in one process."
            )

    def train_on_batch(self, x=None, y=None, return_dict=False, **unsupported):
        """One step on given points, or on drawn ones; `keras.Model.train_on_batch`.

        Args:
            x: Points as `fit` takes them, but no stream: all are used at once.
            y: Must be `None`: the equations say what holds at the points.
            return_dict: Whether to return a dict instead of a list.
            **unsupported: Must be `None`.

        Returns:
            The losses and the loss weights.
        """
        method = "train_on_batch"
        arguments.refuse_what_the_problem_says(method, y, **unsupported)
        x = arguments.single_batch(method, x, by_term=True)
        with backend.full_products():
            logs = super().train_on_batch(x, return_dict=return_dict)
        if not np.isfinite(list(logs.values()) if return_dict else logs).all():
            self.reset_metrics()  # the next step may be finite, and is to be made
        return logs

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        """`evaluate` on a single batch; see `keras.Model.test_on_batch`."""
        method = "test_on_batch"
        arguments.refuse_what_the_problem_says(method, sample_weight=sample_weight)
        x = arguments.single_batch(method, x)
        arguments.check_each_unmasked("reference values", y)
        with backend.double_precision():
            return super().test_on_batch(x, y, return_dict=return_dict)

    def predict_on_batch(self, x):
        """`predict` on a single batch; see `keras.Model.predict_on_batch`."""
        x = arguments.single_batch("predict_on_batch", x)
        with backend.double_precision():
            return super().predict_on_batch(x)

    def make_train_function(self, force=False):
        """Self-contained steps run as one program, others as in Keras."""
        fused = self._progress is not None
        if fused:
            # Keras has read it for the training data; validation goes batch by batch.
            self.steps_per_execution = 1
        self.prepare_training()
        traced = (self.training_key, fused)
        if self.train_function is not None and traced == self._traced and not force:
            return self.train_function
        self._traced = traced
        if not fused:
            super().make_train_function(force=True)
            return self.train_function
        # Steps follow from the state alone, so that the bad one can be found again:
        # a copy at the start costs less than a choice for each number in each step.
        alone = self.replica_count == 1
        self.train_function = self.loop_function(
            lambda: self._progress.advance(),
            self.run_step if alone else lambda: self.run_step(going=True),
            self.training_logs,
            self.training_loss_names,
            self.written_variables if alone else (),
            self.watched_variables if alone else (),
            self.loss_shape,
        )
        return self.train_function

    loss_shape = ()  # of each loss that a step returns

    @property
    def written_variables(self):
        """All that a step writes to."""
        return self.training.variables

    @property
    def watched_variables(self):
        """Those of them that must be finite after the last step of a program."""
        return [*self.trainable_variables, *self.optimizer.variables]

    @property
    def state_variables(self):
        """What a training goes on from, beside `extra_training_state`."""
        return [*self.variables, *self.optimizer.variables]
