"""Arguments of a model's methods, and the errors for any others."""

import inspect

import keras
import numpy as np

from keraspinn.common.checks import check_count, check_unmasked, real_array

TAKES = {
    "fit": "an array (n, d), a dict from term names to such arrays, or a dataset or "
    "generator of batches; `fit()` draws them",
    "evaluate": "an array (n, d), or a dataset or generator of batches, and values "
    "apart: `evaluate(*problem.test_data(100))`",
    "predict": "an array (n, d), or a dataset or generator of batches",
    "validation_data": "(points, values), as `problem.test_data(100)` returns them, "
    "points alone, or a dataset or generator of batches",
}
OF_DATA = {"self", "y", "class_weight", "sample_weight", "validation_split"}
OF_FIT = set(inspect.signature(keras.Model.fit).parameters)


def reject_targets(method, y=None, **arguments):
    """Raise `ValueError` for targets and weights, which the problem declares.

    Args:
        method: Name of the method.
        y: Targets, or `None`.
        **arguments: Other arguments of the method.
    """
    if y is not None:
        raise ValueError(
            f"`{method}` takes no `y`: the equations are the targets at all points. "
            "Declare measurements as a keraspinn.Data condition."
        )
    for name in ("class_weight", "sample_weight", "validation_split"):
        if np.any(arguments.get(name)):
            raise ValueError(
                f"`{method}` takes no `{name}`: the problem declares its terms. Weigh "
                "them with `Condition(..., weight=)`; validate by `validation_data`."
            )


def check_fit(y, steps_per_epoch, validation_batch_size, arguments):
    """Raise `TypeError` or `ValueError` unless `fit` accepts these arguments.

    Args:
        y: As `fit` receives it, like the two that follow.
        steps_per_epoch: Number of steps, or `None`.
        validation_batch_size: Number of points, or `None`.
        arguments: All others, a dict.
    """
    reject_targets("fit", y, **arguments)
    unknown = sorted(set(arguments) - OF_FIT)
    if unknown:
        raise TypeError(f"`fit` takes {sorted(OF_FIT - OF_DATA)}. Received: {unknown}")
    check_count("steps_per_epoch", steps_per_epoch, None)
    check_count("validation_batch_size", validation_batch_size, None)


def callback_list(callbacks):
    """Return callbacks as a list, or raise `TypeError`."""
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return callbacks.callbacks
    callbacks = keras.tree.flatten(callbacks) if callbacks is not None else []
    for callback in callbacks:
        if not isinstance(callback, keras.callbacks.Callback):
            raise TypeError(
                "`callbacks` must be a list of keras.callbacks.Callback objects, such "
                "as [keraspinn.callbacks.LearningRateAnnealing()]. Received: "
                f"{callback!r}"
            )
    return callbacks


def is_stream(method, x):
    """Return whether `x` yields batches; if not, it is an array or a list of points.

    Raises:
        TypeError: If it is neither.
        ValueError: If it is known to have no batches.
    """
    if isinstance(x, list) or hasattr(x, "__array__"):
        return False
    if not _yields_batches(x):
        raise TypeError(_takes(method, x))
    # On datasets of tf.distribute, `cardinality` is no method.
    cardinality = getattr(x, "cardinality", None)
    count = cardinality() if callable(cardinality) else getattr(x, "num_batches", None)
    if count is not None and int(count) == 0:
        raise ValueError(without_batches(method))
    return True


def as_tuples(method, x):
    """Return a stream of batches as Keras takes it: generators must yield tuples."""
    return _tuples(method, x) if inspect.isgenerator(x) else x


def _tuples(method, generator):
    empty = True
    for batch in generator:
        empty = False
        if isinstance(batch, list):
            batch = np.asarray(batch)
        for array in keras.tree.flatten(batch):
            check_unmasked(f"points of `{method}`", array)
        yield batch if isinstance(batch, tuple) else (batch,)
    if empty:
        raise ValueError(without_batches(method))


def without_batches(method):
    """Return the error message for a stream without batches."""
    return (
        f"`{method}` received a dataset without batches. Check its "
        "source, and whether `drop_remainder` or a filter removes everything."
    )


def single_batch(method, x, by_term=False):
    """Return a batch of points as a tensor or array, or a dict of them if allowed."""
    if by_term and x is None:
        return {}
    if by_term and isinstance(x, dict):
        return {name: single_batch(method, points) for name, points in x.items()}
    if isinstance(x, list):
        return real_array(f"points of `{method}`", x)
    if not hasattr(x, "__array__"):
        raise TypeError(_takes(method, x))
    check_unmasked(f"points of `{method}`", x)
    return x


def validation_pair(data):
    """Return points, with values if given; `None` for a stream, or for no data."""
    name = "validation_data"
    if isinstance(data, tuple):
        if len(data) == 3 and data[2] is None:
            data = data[:2]
        if len(data) not in (1, 2):
            raise ValueError(
                f"`{name}` must be {TAKES[name]}. Received: a tuple of {len(data)}. "
                "Leave out sample weights: errors are relative to all points."
            )
        return data
    return None if data is None or is_stream(name, data) else (data,)


def _takes(method, x):
    received = "None" if x is None else f"an object of type {type(x).__name__}"
    takes = TAKES.get(method, "an array (n, d)")
    verb = "must be" if method == "validation_data" else "takes points as"
    return f"`{method}` {verb} {takes}. Received: {received}"


def _yields_batches(x):
    if isinstance(x, keras.utils.PyDataset) or inspect.isgenerator(x):
        return True
    if hasattr(x, "element_spec"):  # of tf.data, or made by tf.distribute
        return True
    packages = {base.__module__.partition(".")[0] for base in type(x).__mro__}
    return bool(packages & {"torch", "grain"})  # which Keras reads as well
