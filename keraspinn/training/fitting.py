"""What `fit` does before the first step: points, validation, steps of a program."""

from keraspinn.common import arguments
from keraspinn.sampling.given import held_or_streamed
from keraspinn.training.checks import check_trainable
from keraspinn.training.execution import steps_per_execution_for
from keraspinn.training.points import point_sources

STEPS_PER_EPOCH = 1000


def run_fit(model, x, y, batch_size, steps_per_epoch, validation_batch_size, settings):
    """What `PINNModel.fit` and `Ensemble.fit` do.

    Args:
        model: The model.
        x: As `fit` receives it, like the four that follow.
        y: Must be `None`.
        batch_size: Number of points, a dict of them, or `None`.
        steps_per_epoch: Number of steps, or `None`.
        validation_batch_size: Number of points, or `None`.
        settings: All other arguments, a dict.
    """
    arguments.check_fit(y, steps_per_epoch, validation_batch_size, settings)
    if not model.compiled:
        raise ValueError("Call `model.compile(optimizer=...)` before `fit`.")
    check_trainable(model._single().trainable_variables, model.optimizer)
    model._weighting.rule = None
    given, default, model._streams = held_or_streamed(x)
    where = model.problem, model.optimizer, model.compute_dtype
    model._sources = point_sources(*where, batch_size, given, default)
    pair = arguments.validation_pair(settings.get("validation_data"))
    if pair is not None:
        batches = model._dataset(*pair, batch_size=validation_batch_size)
        settings["validation_data"] = batches
    steps = model.compiled_with["steps_per_execution"]
    if model._streams:
        steps = 1 if steps == "auto" else steps
        return model.fit_stepwise(x, steps, steps_per_epoch=steps_per_epoch, **settings)
    steps_per_epoch = steps_per_epoch or STEPS_PER_EPOCH
    if steps == "auto":
        steps = steps_per_execution_for(
            model._sources,
            model._objective.terms,
            model.count_params(),
            steps_per_epoch,
            model.optimizer,
        )
    return model.fit_fused(steps_per_epoch, steps, **settings)
