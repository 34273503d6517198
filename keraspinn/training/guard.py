"""Explanations of losses and gradients that are not finite."""

import keras
import numpy as np

from keraspinn import backend
from keraspinn.common.arguments import callback_list
from keraspinn.declaration.terms import RESIDUAL

_LOST = "the variable"
# Multiples of an energy's magnitude, below which it falls without bound; the second
# where its declaration has no minimum.
FAR_BELOW, KNOWN_TO_FALL = 1e4, 1e2
_AT_FIRST = (
    "Initial fields are near zero, or near the mean of given values: substitute a "
    "field inside exp(1/u), log(u) or a root by its deviation, u = 600 + w"
)
_LATER = "Try a lower learning rate or `clipnorm=1.0` in the optimizer"


class StopOnNonFinite(keras.callbacks.Callback):
    """Raises an error that explains the first loss or gradient that is not finite.

    `fit` adds it, after all other callbacks, unless one of them is a
    `keras.callbacks.TerminateOnNaN`.
    """

    def on_train_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            raise FloatingPointError(self.model.trainer.explain_nonfinite(logs))
        if loss is not None and (fault := falls_without_bound(self.model, loss)):
            raise FloatingPointError(fault)

    def on_epoch_end(self, epoch, logs=None):
        """Check the variables: the last update may overflow after a finite loss."""
        if not self.model.trainer.watched_variables:
            return  # no member of an ensemble makes such a step
        if not all(map(_finite, backend.snapshot(self.model.trainable_variables))):
            raise FloatingPointError(self.model.trainer.explain_nonfinite(logs or {}))


def falls_without_bound(model, loss):
    """Return a sentence on an energy without a minimum, or `None`.

    Args:
        model: The model.
        loss: A mean of the loss.
    """
    problem = model.problem
    is_scaled = RESIDUAL in problem.scales.terms  # to about one at its least
    limit = KNOWN_TO_FALL if problem.underdetermined else FAR_BELOW
    if problem.energy is None or not is_scaled or loss > -limit:
        return None
    cause = problem.underdetermined or (
        "Check its signs, the conditions on its fields, and densities that fall for "
        "large derivatives; or give its magnitude by the fields', "
        "Problem(..., scales={u: 1e-3})."
    )
    return (
        f"Training stopped: the energy falls without bound, to {loss:.3g} times the "
        f"magnitude expected from its declaration. {cause}"
    )


def with_guard(callbacks):
    """Return the callbacks of a fit as a list, with `StopOnNonFinite` if needed."""
    callbacks = callback_list(callbacks)
    given = any(isinstance(c, keras.callbacks.TerminateOnNaN) for c in callbacks)
    return callbacks if given else [*callbacks, StopOnNonFinite()]


def explanation(model, step, draws, steps, logs):
    """Explain why a step is not finite: the cause, the iteration, and remedies.

    Args:
        model: The `PINNModel`.
        step: The `Step`.
        draws: The step's batches, a dict from term names for each replica.
        steps: Number of steps taken before.
        logs: The logs of the program that stopped.
    """
    cause = next(_causes(model, step, draws), None) or _nonfinite_losses(logs)
    coefficients = model.coefficients.items()
    values = ", ".join(f"{name} = {v.numpy():g}" for name, v in coefficients)
    is_lost = cause.startswith(_LOST)
    cure = _AT_FIRST if steps == 0 and not is_lost else _LATER
    state = "Go back to a checkpoint"
    if not is_lost:
        state = "The step was not taken: weights, optimizer and loss weights are kept"
    return (
        f"Training stopped at iteration {steps}: {cause}. {state}. "
        f"{cure}, and check the equations for a division by zero, or a logarithm, "
        "root or power of a negative number, which sympy.Max(..., 0.01) prevents"
        + (f", and check the values of the coefficients ({values})" if values else "")
        + ". Pass keraspinn.callbacks.RestoreOnNonFinite() to `fit` to go back to "
        "earlier weights instead of an error, or keras.callbacks.TerminateOnNaN() to "
        "stop without one."
    )


def _nonfinite_losses(losses):
    """Return the cause from the mean losses in the logs alone."""
    lost = [n for n in losses if n.endswith("_loss") and not np.isfinite(losses[n])]
    if terms := [name.removesuffix("_loss") for name in lost]:
        return f"the loss of {' and '.join(map(repr, terms))} is not finite"
    return "the gradient, or the sum of the weighted losses, is not finite"


def _causes(model, step, draws):
    """Yield causes, by computing the losses and gradients of the step again."""
    for variable in step.variables:
        if not _finite(variable):
            yield (
                f"{_LOST} '{variable.path}' holds numbers that are not finite, "
                "from an update that overflowed or from weights given"
            )
    for name, weight in model.loss_weights.items():
        if not _finite(weight):
            yield f"the loss weight of '{name}' is {weight.numpy()}"
    for batches in draws:
        losses, gradients = step.term_gradients(batches)
        for name in batches:
            if not _finite(loss := losses[name]):
                where = _where(model, name, batches[name], step.largest)
                yield f"the loss of '{name}' is {float(loss)}{where}"
        for name, of_term in gradients.items():
            for variable, gradient in zip(step.variables, of_term, strict=True):
                if not _finite(gradient):
                    text = f"the gradient of the loss of '{name}' by '{variable.path}'"
                    yield f"{text} is not finite"


def _where(model, name, batch, largest):
    """Return a text on the points of a batch whose residual is not finite."""
    count, part = model._objective.parts(name, batch, largest)
    finite = []
    for number in range(count):
        residuals = model._objective.residuals(name, part(number))
        checks = [np.isfinite(keras.ops.convert_to_numpy(r)) for r in residuals]
        size = part(number).points.shape[0]
        finite.append(np.broadcast_to(np.all(checks, axis=0), size))
    points = keras.ops.convert_to_numpy(batch.coordinates)  # as the user has them
    finite = np.concatenate(finite)[: len(points)]
    if finite.all():
        return ", though every residual is finite"
    pairs = zip(model.problem.coordinates, points[~finite][0], strict=True)
    first = ", ".join(f"{symbol} = {value:.6g}" for symbol, value in pairs)
    return f", from {np.sum(~finite)} of {finite.size} points, the first {first}"


def _finite(tensor):
    return np.isfinite(keras.ops.convert_to_numpy(tensor)).all()
