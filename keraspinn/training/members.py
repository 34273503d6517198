"""The members of an ensemble: how they begin, what they log, and how one stops."""

import contextlib
import random
import typing
import warnings

import keras
import numpy as np
from keras import ops

from keraspinn.training.checks import check_network
from keraspinn.training.frozen import freeze_as
from keraspinn.training.guard import explanation, found_again, seen_in
from keraspinn.training.precision import rebuilt


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


def spread(values, going):
    """The `Spread` of an array `(size,)`, of which some members count."""
    mean, deviation = mean_and_deviation(values, going)
    return Spread(values, float(mean), float(deviation))


def mean_and_deviation(values, going):
    """Mean and standard deviation over the first axis, of the members that count."""
    kept = values[going] if going.any() else values
    deviation = kept.std(axis=0, ddof=1) if len(kept) > 1 else np.zeros_like(kept[0])
    return kept.mean(axis=0), deviation


def result_or_nan(metric):
    """What a metric stands at, NaN for a mean of nothing, which Keras has as 0."""
    result = metric.result()
    if isinstance(metric, keras.metrics.Mean):
        return ops.where(metric.count > 0, result, float("nan"))
    return result


def drawn_networks(problem, network, dtype, seeds):
    """Networks of one configuration, each with the initial weights of a seed.

    Args:
        problem: The `Problem` that they are made for.
        network: The Keras layer or model.
        dtype: Floating-point type.
        seeds: Python's `random`, from which Keras draws seeds, is seeded by each.

    Raises:
        ValueError: If the network has no configuration.
    """
    networks = []
    points = keras.Input((problem.domain.dimension,), dtype=dtype)
    for seed in seeds:
        with _seeded(seed):
            try:
                networks.append(own := rebuilt(network, dtype))
            except (NotImplementedError, TypeError) as error:
                raise ValueError(
                    "The members' networks are made from the configuration of the one "
                    f"given. Received: a {type(network).__name__} that cannot be made "
                    f"from it, {error} Write `get_config`, as in any Keras layer."
                ) from error
            if hasattr(own, "adapt") and not own.adapted:
                own.adapt(problem)
            check_network(problem, own, points)  # which builds it
            freeze_as(network, own)
    return networks


def check_distinct(stacked):
    """Raises `ValueError` if the members' networks begin with the same weights.

    Args:
        stacked: The arrays `(size, ...)` of all their trained variables.
    """
    if len(stacked[0]) > 1 and all(np.array_equal(own[0], own[1]) for own in stacked):
        raise ValueError(
            "The members of an ensemble begin with weights of their own. Those of this "
            "network are the same for every seed: leave the seed of its initializers "
            "out, and draw random numbers with initializers of Keras's."
        )


def check_averages(optimizer):
    """Raises `ValueError` if an optimizer averages weights, which are one model's."""
    if optimizer.use_ema:
        raise ValueError(
            "Averages of an ensemble's weights cannot replace them: Keras holds one "
            "model's. Leave `use_ema` out, and SwapEMAWeights with it, or train a "
            "member alone: `model = ensemble.member(0)`, then `model.compile` with "
            f"this optimizer. Received: {type(optimizer).__name__} with use_ema=True"
        )


@contextlib.contextmanager
def _seeded(seed):
    """Python's `random` from a seed for a while."""
    kept = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(kept)


class MemberMetrics(keras.metrics.Metric):
    """The variables of a model's metrics, those of every member.

    Args:
        metrics: The metrics of one member.
        size: Number of members.

    Attributes:
        of_members: A variable `(size, ...)` for each of `of_one`.
    """

    def __init__(self, metrics, size):
        super().__init__(name="members")
        of_one = [v for metric in metrics for v in metric.variables]
        # Behind a function, Keras does not take them for variables of this metric.
        self._of_one = lambda: of_one
        self.of_members = [
            self.add_variable((size, *v.shape), "zeros", dtype=v.dtype) for v in of_one
        ]

    @property
    def of_one(self):
        """The variables of one member's metrics."""
        return self._of_one()

    def result(self):
        return {}  # what is logged are means over the members


class ReportStopped(keras.callbacks.Callback):
    """Warns of members that stopped, and keeps what each member logs.

    `History` gets a list of numbers for each epoch, `loss_of_members` and the like, in
    the order of the members; a loss is NaN where a member took no step in the epoch.
    """

    def __init__(self):
        super().__init__()
        self._reported, self._logs, self._validation = set(), None, {}

    def on_train_begin(self, logs=None):
        self._reported = set(self.model.stopped)

    def on_train_batch_end(self, batch, logs=None):
        stopped = set(self.model.stopped)
        if len(stopped) < self.model.size:  # else that is an error, and told as one
            for number in sorted(stopped - self._reported):
                warnings.warn(self.model.explain_stop(number), stacklevel=2)
        self._reported = stopped

    def on_test_begin(self, logs=None):
        self._logs = self.model.member_logs()  # validation begins the metrics anew

    def on_test_end(self, logs=None):
        found = self.model.member_logs().items()
        self._validation = {f"val_{name}": values for name, values in found}

    def on_epoch_end(self, epoch, logs=None):
        found, self._logs = self._logs or self.model.member_logs(), None
        found, self._validation = found | self._validation, {}
        history = self.model.history.history
        for name in logs or ():
            if name in found:
                history.setdefault(f"{name}_of_members", []).append(
                    found[name].tolist()
                )


def explained(ensemble, number):
    """What is not finite in a member's next step, as a sentence."""
    model = ensemble._loaded(number)
    step, training = ensemble._step.of_member(model.seed), ensemble.training
    steps, draws = int(ensemble.member_steps[number]), []
    if not ensemble._streams:  # what was streamed is gone
        state = keras.tree.map_structure(lambda own: own[number], training.read())
        draws.append(step.points(state, ops.convert_to_tensor(steps)))
    what = step.variables, ensemble.problem.coordinates, step.largest
    cause = found_again(model._objective, model.loss_weights, draws, *what)
    return explanation(cause or seen_in({}), steps, model.coefficients)
