"""Statistics over the members of an ensemble, and their metrics."""

import typing

import keras
import numpy as np
from keras import ops


class Spread(typing.NamedTuple):
    """A number of each member, with its mean and deviation.

    Attributes:
        members: Array `(size,)`, in the order of the members.
        mean: The mean of the members that have not stopped.
        deviation: Their standard deviation, with size − 1 in the denominator.
    """

    members: np.ndarray
    mean: float
    deviation: float


def mean_and_deviation(values, going):
    """Return mean and standard deviation over the members that count."""
    kept = values[going] if going.any() else values
    deviation = kept.std(axis=0, ddof=1) if len(kept) > 1 else np.zeros_like(kept[0])
    return kept.mean(axis=0), deviation


def result_or_nan(metric):
    """Return a metric's result, NaN for a mean of nothing, which Keras has as 0."""
    result = metric.result()
    if isinstance(metric, keras.metrics.Mean):
        return ops.where(metric.count > 0, result, float("nan"))
    return result


class MemberMetrics(keras.metrics.Metric):
    """The variables of a model's metrics, those of every member.

    Args:
        metrics: The metrics of one member.
        size: Number of members.

    Attributes:
        of_one: Function that returns the variables of one member's metrics.
        of_members: A variable `(size, ...)` for each of them.
    """

    def __init__(self, metrics, size):
        super().__init__(name="members")
        of_one = [v for metric in metrics for v in metric.variables]
        # Behind a function, Keras does not take them for variables of this metric.
        self.of_one = lambda: of_one
        self.of_members = [
            self.add_variable((size, *v.shape), "zeros", dtype=v.dtype) for v in of_one
        ]

    def result(self):
        return {}  # means over the members are logged
