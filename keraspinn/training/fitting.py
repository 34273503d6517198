"""Arguments of `compile` and `fit`: checks, and their translation for Keras."""

import keras

from keraspinn import backend, optimizers
from keraspinn.common import arguments, check_count
from keraspinn.sampling.given import evaluation_data
from keraspinn.training.execution import executions
from keraspinn.training.guard import with_guard
from keraspinn.training.progress import with_progress_bar

STEPS_PER_EPOCH = 1000
# Arguments of `compile` that the problem declares.
DECLARED = ("loss", "loss_weights", "metrics", "weighted_metrics")


def check_compile(declared, unknown):
    """Raise `ValueError` or `TypeError` for arguments that `compile` does not take.

    Args:
        declared: The arguments `DECLARED`, which must be `None`.
        unknown: Dict of arguments that it does not know.
    """
    if unknown:
        raise TypeError(
            f"`compile` takes no {sorted(unknown)}. Settings of an optimizer are its "
            "arguments: compile(keras.optimizers.Adam(learning_rate=1e-3))."
        )
    pairs = zip(DECLARED, declared, strict=True)
    if given := [name for name, value in pairs if value is not None]:
        raise ValueError(
            "A PINNModel takes its loss from the problem's equations and conditions "
            f"and its metrics from the problem's reference. Received: {given}. Set "
            "initial loss weights with `Condition(..., weight=)`."
        )


def checked_optimizer(optimizer, replicas):
    """Return an optimizer, or raise `ValueError` for settings without an effect.

    Args:
        optimizer: Its name, or an instance.
        replicas: Number of devices that share a batch.
    """
    optimizer = optimizers.get(optimizer)
    if optimizer is None:
        raise ValueError("`compile` needs an optimizer. Received: None")
    scales = isinstance(optimizer, keras.optimizers.LossScaleOptimizer)
    if scales or optimizer.loss_scale_factor is not None:
        raise ValueError(
            "Losses are not scaled: in float32 and float64 gradients do not "
            "underflow. Pass the optimizer itself, without LossScaleOptimizer or "
            f"`loss_scale_factor`. Received: {type(optimizer).__name__}"
        )
    if replicas > 1 and isinstance(optimizer, optimizers.Optimizer):
        raise ValueError(
            f"{type(optimizer).__name__} trains on one device: its searches along a "
            "line would have to agree on every one. Make the model outside of the "
            f"strategy's scope. Received: {replicas} devices"
        )
    return optimizer


def fit_arguments(model, x, y, batch_size, steps_per_epoch, validation_size, settings):
    """Check the arguments of `fit`, and set the points and the pace of a training.

    Args:
        model: The `PINNModel` or `Ensemble`.
        x: Points as `fit` receives them.
        y: Must be `None`.
        batch_size: Number of points, a dict of them, or `None`.
        steps_per_epoch: Number of steps, or `None`.
        validation_size: Number of points, or `None`.
        settings: All other arguments, a dict.

    Returns:
        Data for Keras's `fit`, the number of steps of an execution, and a dict of the
        other arguments.
    """
    arguments.reject_targets(y, **settings)
    check_count("steps_per_epoch", steps_per_epoch, None)
    check_count("validation_batch_size", validation_size, None)
    if not model.compiled:
        raise ValueError("Call `model.compile(optimizer=...)` before `fit`.")
    trainer, replicas = model.trainer, model.replica_count
    trainer.set_points(x, batch_size)
    validation = settings.get("validation_data")
    if (pair := arguments.validation_pair(validation)) is not None:
        validation = evaluation_data(model.problem, *pair, validation_size, replicas)
    steps_per_epoch = steps_per_epoch or (None if trainer.streams else STEPS_PER_EPOCH)
    steps = trainer.steps_per_execution(steps_per_epoch)
    if trainer.streams:
        settings.setdefault("shuffle", False)  # as the pipeline orders them
        data = arguments.as_tuples(x)
    else:
        settings["shuffle"] = False  # there is nothing to shuffle
        data = backend.tick_dataset(replicas)
        if model.run_eagerly:
            steps = 1  # Keras would overrun the epoch's last step
        else:
            trainer.progress = executions(steps_per_epoch, steps)
    settings["validation_data"] = arguments.as_tuples(validation)
    callbacks = [*trainer.callbacks, *with_guard(settings.get("callbacks"))]
    settings["callbacks"] = with_progress_bar(callbacks, settings.get("verbose"))
    return data, steps, settings | {"steps_per_epoch": steps_per_epoch}
