"""Arguments of a model's methods, and the errors for any others."""

import inspect

import keras
import numpy as np

from keraspinn.common.checks import check_type, unmasked


def reject_targets(y=None, **arguments):
    """Raise `ValueError` for targets and weights, which the problem declares.

    Args:
        y: Targets, which must be `None`.
        **arguments: Other arguments of `fit`.
    """
    if y is not None:
        raise ValueError(
            "`fit` takes no `y`: the equations are the targets at all points. "
            "Declare measurements as a keraspinn.Data condition."
        )
    for name in ("class_weight", "sample_weight", "validation_split"):
        if np.any(arguments.get(name)):
            raise ValueError(
                f"`fit` takes no `{name}`: the problem declares its terms. Weigh "
                "them with `Condition(..., weight=)`; validate by `validation_data`."
            )


def callback_list(callbacks):
    """Return callbacks as a list, or raise `TypeError`."""
    expected = "a list of keras.callbacks.Callback, as [LearningRateAnnealing()]"
    callbacks = keras.tree.flatten(callbacks) if callbacks is not None else []
    for callback in callbacks:
        check_type("callbacks", callback, keras.callbacks.Callback, expected)
    return callbacks


def is_stream(x):
    """Return whether `x` yields batches; if not, it is an array or a list of points."""
    return not (x is None or isinstance(x, list) or hasattr(x, "__array__"))


def as_tuples(x):
    """Return a stream of batches as Keras takes it: generators must yield tuples."""
    if not inspect.isgenerator(x):
        return x
    batches = (batch if isinstance(batch, tuple) else (batch,) for batch in x)
    return (tuple(map(single_batch, batch)) for batch in batches)


def single_batch(x):
    """Return a batch of points, or a dict of them, with lists as arrays."""
    if isinstance(x, dict):
        return {name: single_batch(points) for name, points in x.items()}
    return np.array(x, "float64") if isinstance(x, list) else unmasked("points", x)


def validation_pair(data):
    """Return points and values or `None`; `None` for a stream, or for no data."""
    if isinstance(data, tuple):
        reject_targets(sample_weight=data[2:])
        return (*data, None)[:2]
    return None if data is None or is_stream(data) else (data, None)
