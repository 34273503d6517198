"""A Keras model whose training steps can run many at a time, as one program."""

import contextlib

import keras
from keras import ops

from keraspinn import arguments, backend
from keraspinn.execution import POINTS_PER_PASS, Progress
from keraspinn.nonfinite import with_guard
from keraspinn.saving import WholeFiles


class FusedModel(WholeFiles):
    """Trains by steps that need no data, fused into one compiled loop.

    A subclass says what a step is, with `descent`, `adapted_variables`,
    `training_logs`, `training_loss_names`, `training_key` and `explain_nonfinite`, and
    calls `fit_fused` or, where data must be read step by step, `fit_stepwise`.

    A step whose loss or gradient is not finite is not taken: whatever was saved, or
    raises, or stops afterwards has the state before it.
    """

    compiled_with = None  # the arguments of `compile`, the optimizer excepted
    _progress = None
    _traced = None

    def descent(self, given=None):
        """One step's losses, a dict of scalars with `"loss"`, and gradients.

        The losses and the gradients, one for each of `trainable_variables`, are
        means over replicas.

        Args:
            given: What the step does not have to draw, for `fit_stepwise`.
        """
        raise NotImplementedError

    @property
    def adapted_variables(self):
        """The variables that `descent` itself moves."""
        raise NotImplementedError

    def explain_nonfinite(self, logs):
        """What is not finite in the step that follows, as a sentence.

        Args:
            logs: The logs of the execution in which that was noticed.
        """
        raise NotImplementedError

    def training_logs(self, losses, steps):
        """Logs from the mean losses of `steps` steps."""
        raise NotImplementedError

    @property
    def training_loss_names(self):
        """Names of the losses that a step returns."""
        raise NotImplementedError

    @property
    def training_key(self):
        """Hashable: a compiled program serves until this changes."""
        raise NotImplementedError

    @property
    def max_points_per_pass(self):
        """Number of points of a term that are differentiated at a time."""
        given = self.compiled_with["max_points_per_pass"]
        return POINTS_PER_PASS if given == "auto" else given

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
        return int(ops.convert_to_numpy(self.step_count))

    def unguarded_step(self):
        """Makes one training step, whatever the numbers.

        Returns:
            The dict of losses; `"loss"` is NaN if that or a gradient is not finite.
        """
        losses, gradients = self.descent()
        self.optimizer.apply(gradients, self.trainable_variables)
        return _nan_unless(_finite(losses, gradients), losses)

    def self_contained_step(self, given=None, going=True):
        """Makes one training step, if its loss and gradients are finite.

        Args:
            given: As for `descent`.
            going: Whether to make it at all, a boolean scalar.

        Returns:
            The dict of losses; the one called `"loss"` is NaN if no step was made.
        """
        adapted = self.adapted_variables
        before = backend.copies(adapted)
        losses, gradients = self.descent(given)
        taken = ops.logical_and(_finite(losses, gradients), going)
        backend.apply_if(taken, self.optimizer, gradients, self.trainable_variables)
        for variable, value in zip(adapted, before, strict=True):
            variable.assign(ops.where(taken, variable, value))
        return _nan_unless(taken, losses)

    def compile(
        self,
        optimizer="adam",
        *in_keras,
        steps_per_execution="auto",
        jit_compile=True,
        run_eagerly=False,
        max_points_per_pass="auto",
        **unsupported,
    ):
        """Configure training.

        Args:
            optimizer: Name or instance of a Keras optimizer.
            steps_per_execution: Number of steps run as one program; `"auto"` takes
                as many as keep the progress bar moving a few times a second.
            jit_compile: Whether XLA compiles the steps. Unlike Keras's "auto", the
                default is to compile on a CPU too. On several devices it never does.
            run_eagerly: Whether to run step by step, uncompiled, for debugging.
            max_points_per_pass: Number of points of a term that are differentiated at
                a time. It bounds the memory of a step, whatever the batch, except of
                streamed batches whose size is not fixed; `"auto"` takes as many as
                are fast.

        Raises:
            ValueError: If given a loss or metrics, which the problem declares, an
                optimizer that scales losses, or accumulates gradients on several
                devices, or if `steps_per_execution` or `max_points_per_pass` is not a
                positive integer.
            TypeError: If given an argument that `compile` does not have, or another
                value than True or False where one is due.
        """
        unsupported |= zip(arguments.COMPILE_IN_KERAS, in_keras, strict=False)
        unsupported = {name: v for name, v in unsupported.items() if v is not None}
        others = set(unsupported) - {"loss", "metrics", "weighted_metrics"}
        if others - {"loss_weights"}:
            raise TypeError(
                "`compile` takes `optimizer`, `steps_per_execution`, `jit_compile`, "
                "`run_eagerly` and `max_points_per_pass`; callbacks go to `fit`. "
                f"Received: {sorted(others)}"
            )
        if unsupported:
            raise ValueError(
                "A PINNModel takes its loss from the problem's equations and "
                "conditions and its metrics from the problem's reference. Received: "
                f"{sorted(unsupported)}. Set initial loss weights with "
                "`Condition(..., weight=)`."
            )
        arguments.check_count("steps_per_execution", steps_per_execution, "auto")
        arguments.check_count("max_points_per_pass", max_points_per_pass, "auto")
        # What Keras calls "auto" is here to compile.
        jit_compile = jit_compile == "auto" or arguments.checked_flag(
            "jit_compile", jit_compile
        )
        run_eagerly = arguments.checked_flag("run_eagerly", run_eagerly)
        if optimizer is None:
            raise ValueError("`compile` needs an optimizer. Received: None")
        optimizer = arguments.found_optimizer(optimizer)
        replicas = self.distribute_strategy.num_replicas_in_sync
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
        self.train_function = self.test_function = self.predict_function = None

    def get_compile_config(self):
        if self.compiled_with is None:
            return {}
        optimizer = keras.saving.serialize_keras_object(self.optimizer)
        return {"optimizer": optimizer, **self.compiled_with}

    def compile_from_config(self, config):
        config = dict(config)
        optimizer = keras.saving.deserialize_keras_object(config.pop("optimizer"))
        self.compile(optimizer, **config)

    def fit_fused(self, steps_per_epoch, steps_per_execution, **kwargs):
        """`keras.Model.fit` on self-contained steps, fused unless run eagerly."""
        if self.run_eagerly:
            self.refuse_in_several_workers("train eagerly")
            steps_per_execution = 1  # Keras would overrun the epoch's last step
        else:
            self._progress = Progress(steps_per_epoch, steps_per_execution)
        kwargs["shuffle"] = False  # there is nothing to shuffle
        return self._fit(
            backend.tick_dataset(self.distribute_strategy.num_replicas_in_sync),
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
        self.steps_per_execution = steps_per_execution
        kwargs["callbacks"] = with_guard(kwargs.get("callbacks"))
        if "validation_freq" in kwargs:
            kwargs["validation_freq"] = arguments.frequency(kwargs["validation_freq"])
        try:
            return keras.Model.fit(self, data, **kwargs)
        finally:
            self._progress = None  # single batches are trained on as in Keras
            # Restored from a backup, it would be where every later fit begins.
            self._initial_epoch = None
            self.steps_per_execution = 1
            self.test_function = None

    def refuse_in_several_workers(self, what):
        """Raises `ValueError` where several workers would run a step of Keras's own."""
        workers = backend.worker_count(self.distribute_strategy)
        if workers > 1:
            raise ValueError(
                f"Keras cannot {what} in {workers} workers: it averages scalars over "
                "an axis they lack. Train there on points drawn or held, without "
                "`validation_data` and `run_eagerly`; save the weights, and do the "
                "rest in one process."
            )

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", **kwargs):
        """`keras.Model.evaluate`, with its arguments checked."""
        kwargs["verbose"] = verbose
        arguments.refuse_what_the_problem_says("evaluate", **kwargs)
        arguments.check_count("batch_size", batch_size, None)
        arguments.check_run(kwargs)
        x = arguments.as_tuples("evaluate", x)
        logs = super().evaluate(x, y, batch_size=batch_size, **kwargs)
        if isinstance(logs, (list, dict)) and not logs:
            raise ValueError(arguments.without_batches("evaluate"))
        return logs

    def predict(self, x, batch_size=None, verbose="auto", **kwargs):
        """`keras.Model.predict`, with its arguments checked."""
        kwargs["verbose"] = verbose
        arguments.check_count("batch_size", batch_size, None)
        arguments.check_run(kwargs)
        x = arguments.as_tuples("predict", x)
        try:
            return super().predict(x, batch_size=batch_size, **kwargs)
        except UnboundLocalError as error:  # Keras's, of batches it did not see
            raise ValueError(arguments.without_batches("predict")) from error

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
        return super().train_on_batch(x, return_dict=return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        """`evaluate` on a single batch; see `keras.Model.test_on_batch`."""
        method = "test_on_batch"
        arguments.refuse_what_the_problem_says(method, sample_weight=sample_weight)
        x = arguments.single_batch(method, x)
        return super().test_on_batch(x, y, return_dict=return_dict)

    def predict_on_batch(self, x):
        """`predict` on a single batch; see `keras.Model.predict_on_batch`."""
        return super().predict_on_batch(arguments.single_batch("predict_on_batch", x))

    def make_train_function(self, force=False):
        """Self-contained steps run as one program, others as in Keras."""
        fused = self._progress is not None
        if fused:
            # Keras has read it for the training data; validation goes batch by batch.
            self.steps_per_execution = 1
        trained = tuple(id(variable) for variable in self.trainable_variables)
        traced = (self.training_key, trained, fused)
        if self.train_function is not None and traced == self._traced and not force:
            return self.train_function
        self._traced = traced
        if not fused:
            super().make_train_function(force=True)
            return self.train_function
        # Steps follow from the variables alone, so that the bad one can be found again:
        # a copy at the start costs less than a choice for each number in each step.
        alone = self.distribute_strategy.num_replicas_in_sync == 1
        moved = (
            *self.trainable_variables,
            *self.adapted_variables,
            *self.optimizer.variables,
        )
        loop = backend.fused_loop(
            self.unguarded_step if alone else self.self_contained_step,
            self.training_logs,
            self.training_loss_names,
            self.variable_dtype,
            self.jit_compile,
            self.distribute_strategy,
            moved if alone else (),
        )
        self.train_function = lambda iterator: loop(self._progress.advance())
        return self.train_function

    def make_test_function(self, force=False):
        """Evaluation is not worth the seconds that XLA takes to compile it."""
        with self._without_xla():
            return super().make_test_function(force)

    def make_predict_function(self, force=False):
        """Nor is prediction."""
        with self._without_xla():
            return super().make_predict_function(force)

    @contextlib.contextmanager
    def _without_xla(self):
        self.jit_compile, kept = False, self.jit_compile
        try:
            yield
        finally:
            self.jit_compile = kept


def _finite(losses, gradients):
    return backend.all_finite([losses["loss"], *gradients])


def _nan_unless(condition, losses):
    none = ops.full_like(losses["loss"], float("nan"))
    return losses | {"loss": ops.where(condition, losses["loss"], none)}
