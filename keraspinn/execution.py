"""How many training steps run as one program."""

from keraspinn.taylor import IndexSet

POINTS_PER_PASS = 1024
"""So few that their Taylor coefficients stay in a core's cache: the fastest number."""

_LONGEST = 250
_FLOPS = 0.2 * 1e11  # a fifth of a second on two cores


def steps_per_execution_for(sources, problem, parameter_count, steps_per_epoch):
    """Steps that together take a fraction of a second, at most 250.

    Args:
        sources: The `PointSources` of a step.
        problem: The `Problem`.
        parameter_count: Number of the network's parameters.
        steps_per_epoch: Number of steps of an epoch; the result divides it where a
            good divisor exists.
    """
    coefficients = sum(
        sources.total(name) * _series_length(term.program.derivatives)
        for name, term in problem.terms.items()
    )
    # A product with every weight forward, and two more backward.
    flops = 6 * coefficients * parameter_count
    longest = max(1, min(_LONGEST, steps_per_epoch, int(_FLOPS / flops)))
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
