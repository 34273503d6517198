"""How many training steps run as one program."""

from keraspinn import backend
from keraspinn.derivatives.taylor import IndexSet
from keraspinn.optimizers import Optimizer

_LONGEST = 250


def points_per_pass():
    """Number of points that are differentiated at a time, the fastest for the device.

    On a CPU so few that their Taylor coefficients stay in a core's cache; a GPU wants
    as many as there are, and has the memory of some hundred thousand.
    """
    return 131_072 if backend.has_accelerator() else 1024


def flops_per_execution():
    """What the device does in a fifth of a second."""
    return 0.2 * (2e13 if backend.has_accelerator() else 1e11)


def steps_per_execution_for(
    sources, terms, parameter_count, steps_per_epoch, optimizer=None
):
    """Steps that together take a fraction of a second, at most 250.

    Args:
        sources: The `PointSources` of a step.
        terms: Dict from names to `LossTerm`s.
        parameter_count: Number of the network's parameters.
        steps_per_epoch: Number of steps of an epoch; the result divides it where a
            good divisor exists.
        optimizer: The optimizer; those of `keraspinn.optimizers` say what a step costs.
    """
    coefficients = sum(
        sources.total(name) * _series_length(required)
        for name, term in terms.items()
        for required in term.passes
    )
    # A product with every weight forward, and two more backward.
    flops = 6 * coefficients * parameter_count
    if isinstance(optimizer, Optimizer):
        rows = sum(
            sources.total(name) * len(sources.places[name].term.expressions)
            for name in terms
        )
        flops = optimizer.flops_needed(flops, rows, parameter_count)
    longest = max(1, min(_LONGEST, steps_per_epoch, int(flops_per_execution() / flops)))
    divisor = max(n for n in range(1, longest + 1) if steps_per_epoch % n == 0)
    return divisor if 4 * divisor >= longest else longest


def _series_length(required):
    """Number of Taylor coefficients that derivatives of these orders take."""
    return len(IndexSet(set().union(*required.values())))


class Progress:
    """Where in an epoch the next execution starts.

    Args:
        steps_per_epoch: Number of steps of an epoch.
        steps_per_execution: Number of steps of one execution, the last of an epoch
            perhaps excepted.
    """

    def __init__(self, steps_per_epoch, steps_per_execution):
        self._steps_per_epoch = steps_per_epoch
        self._steps_per_execution = steps_per_execution
        self._done = 0

    def advance(self):
        """Number of steps to run now."""
        steps = min(self._steps_per_execution, self._steps_per_epoch - self._done)
        self._done = (self._done + steps) % self._steps_per_epoch
        return steps
