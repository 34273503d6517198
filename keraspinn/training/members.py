"""The members of an ensemble: variables along a first axis, metrics and means."""

import random
import types
import typing

import keras
import numpy as np
from keras import ops

from keraspinn import backend
from keraspinn.backend.compatibility import every_layer
from keraspinn.backend.scopes import assign, select, setting, stateless
from keraspinn.training.checks import build_network
from keraspinn.training.precision import rebuilt


class Members:
    """The variables of all members, and functions of one model mapped over them.

    Args:
        ensemble: The `Ensemble`, to which the variables are added as weights.
        model: A `PINNModel` of the members' kind. It says how a member computes; the
            numbers that it holds itself are scratch.
        networks: The members' networks.

    Attributes:
        model: The `PINNModel`.
        going: Boolean variable `(size,)`, false for members that stopped.
        metrics: The `MemberMetrics`.
        optimizer: List of the optimizer's variables.
    """

    def __init__(self, ensemble, model, networks):
        self._ensemble, self.model = ensemble, model
        self.size = len(networks)
        self._stacked, self.optimizer = {}, []
        drawn = zip(*(network.variables for network in networks), strict=True)
        pairs = zip(model.network.variables, drawn, strict=True)
        initial = {id(v): np.stack([*map(ops.convert_to_numpy, vs)]) for v, vs in pairs}
        if model.network.trainable_variables:
            check_distinct([initial[id(v)] for v in model.network.trainable_variables])
        for variable in model.variables:
            values = initial.get(id(variable), self.repeated(variable))
            self._stacked[id(variable)] = stacked = ensemble.add_weight(
                shape=values.shape,
                initializer=lambda shape, dtype, values=values: ops.cast(values, dtype),
                # Keras orders weights, in files too, by the first value of this.
                trainable=variable.trainable or id(variable) in initial,
                dtype=variable.dtype,
                name=variable.name,
            )
            stacked.trainable = variable.trainable
        self.going = ensemble.add_weight(
            (self.size,), "ones", "bool", trainable=False, name="going"
        )
        self.begin_metrics()

    def begin_metrics(self):
        """Make variables for the metrics that one model has now."""
        self.metrics = MemberMetrics(self.model.metrics, self.size)

        def results():
            return {m.name: result_or_nan(m) for m in self.model.metrics}

        read = self.metrics.of_members
        self.results = backend.compiled(lambda: self.logged(results, ()), read=read)

    @property
    def is_going(self):
        """Boolean array `(size,)`, false for members that stopped."""
        return ops.convert_to_numpy(self.going)

    @property
    def seeds(self):
        """The members' seeds, a range."""
        return range(self._ensemble.seed, self._ensemble.seed + self.size)

    @property
    def seed_tensor(self):
        """The members' seeds, a tensor `(size,)`."""
        return ops.convert_to_tensor(np.array(self.seeds, "uint32"), "uint32")

    def repeated(self, variable):
        """Return a variable's value once for each member, an array `(size, ...)`."""
        return np.repeat(ops.convert_to_numpy(variable)[None], self.size, axis=0)

    def stacked(self, variables):
        """Return the members' variables for a list of variables of one model."""
        return [self._stacked[id(variable)] for variable in variables]

    def stacked_dict(self, variables):
        """Return the same for a dict of variables, read-only."""
        stacked = self.stacked(variables.values())
        return types.MappingProxyType(dict(zip(variables, stacked, strict=True)))

    def load(self, number):
        """Copy a member's numbers to the model, and return it."""
        model = self.model
        stacked = self.stacked(model.variables)
        assign(model.variables, [values[number] for values in stacked])
        model.seed = self.seeds[number]
        return model

    def map(self, function, *arguments):
        """Return the results of a function of one model, `(size, ...)`."""
        variables = self.model.variables
        pure = stateless(function, variables)
        values = list(backend.snapshot(self.stacked(variables)))
        return backend.map_members(lambda v: pure(v, *arguments)[0], (values,))

    def mean(self, values):
        """Return the mean over the members that have not stopped, NaN without any.

        Args:
            values: Tensor `(size, ...)`.
        """
        going = ops.convert_to_tensor(self.going)
        # A member that stopped may hold NaN, which zero times is NaN.
        kept = select(going, values, ops.zeros_like(values))
        return ops.sum(kept, axis=0) / ops.sum(ops.cast(going, values.dtype))

    def mean_and_deviation(self, values):
        """Return mean and standard deviation over the members that have not stopped.

        Args:
            values: Array `(size, ...)`.
        """
        kept = values[self.is_going] if self.is_going.any() else values
        some = len(kept) > 1
        deviation = kept.std(axis=0, ddof=1) if some else np.zeros_like(kept[0])
        return kept.mean(axis=0), deviation

    def spread(self, values):
        """Return the `Spread` of an array `(size,)`."""
        return Spread(values, *map(float, self.mean_and_deviation(values)))

    def logged(self, function, tensors, read=()):
        """Return the logs for each member of a function that updates one's metrics.

        Args:
            function: Function of structures of tensors.
            tensors: Tuple of its arguments for all members.
            read: The variables of one model that it reads.
        """
        of_members = self.metrics.of_members
        pure = stateless(function, [*self.metrics.of_one(), *read])
        values = list(backend.snapshot([*of_members, *self.stacked(read)]))
        logs, after = backend.map_members(pure, (values, *tensors))
        assign(of_members, after[: len(of_members)])
        return logs


def drawn_networks(problem, network, dtype, seeds):
    """Make networks of one configuration, each with the initial weights of a seed.

    Args:
        problem: The `Problem` that they are made for.
        network: The Keras layer or model.
        dtype: Floating-point type.
        seeds: Python's `random`, from which Keras draws seeds, is seeded by each.
    """
    networks = []
    points = keras.Input((problem.domain.dimension,), dtype=dtype)
    with setting(random.getstate, random.setstate, random.getstate()):
        for seed in seeds:
            random.seed(seed)
            networks.append(copy := rebuilt(network, dtype))
            # The configuration may lack frozen layers, and frozen variables of these.
            pairs = [*zip(every_layer(copy), every_layer(network), strict=False)]
            build_network(problem, copy, points)
            if network.built:
                pairs = zip(copy.weights, network.weights, strict=True)
            for new, old in pairs:
                new.trainable = old.trainable
    return networks


def check_distinct(stacked):
    """Raise `ValueError` if the members' networks begin with the same weights.

    Args:
        stacked: The arrays `(size, ...)` of all their trained variables.
    """
    if len(stacked[0]) > 1 and all(np.array_equal(a[0], a[1]) for a in stacked):
        raise ValueError(
            "The members of an ensemble need different initial weights. Those of this "
            "network are the same for every seed: leave the seed of its initializers "
            "out, and draw random numbers with initializers of Keras's."
        )


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
