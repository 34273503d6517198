"""Number of training steps that run as one program, and of points in one pass."""

import itertools

from keraspinn import backend
from keraspinn.derivatives.taylor import IndexSet
from keraspinn.optimizers import Optimizer

_LONGEST = 250  # steps of an execution: later ones wait for its logs
_SECONDS = 0.2  # that an execution may take


def points_per_pass():
    """Return the number of points to differentiate at a time, for fast steps.

    On a CPU their Taylor coefficients should fit a core's cache. A GPU is fastest with
    all points at once, and has memory for about a hundred thousand.
    """
    return 131_072 if backend.has_accelerator() else 1024


def steps_per_execution_for(sources, terms, parameters, steps_per_epoch, optimizer):
    """Return a number of steps that together take a fraction of a second.

    Args:
        sources: The `PointSources` of a step.
        terms: Dict from names to `LossTerm`s.
        parameters: Number of the network's parameters.
        steps_per_epoch: Number of steps of an epoch; the result divides it where a
            good divisor exists.
        optimizer: The optimizer; `keraspinn.optimizers` estimate the cost of a step.
    """
    # Taylor coefficients of all points.
    coefficients = sum(
        sources.total(name) * len(IndexSet(set().union(*required.values())))
        for name, term in terms.items()
        for required in term.passes
    )
    # A product with every weight forward, and two more backward.
    flops = 6 * coefficients * parameters
    if isinstance(optimizer, Optimizer):
        counts = {name: len(sources.places[name].term.expressions) for name in terms}
        rows = sum(sources.total(name) * count for name, count in counts.items())
        flops = optimizer.flops_needed(flops, rows, parameters)
    available = _SECONDS * (2e13 if backend.has_accelerator() else 1e11)
    longest = max(1, min(_LONGEST, steps_per_epoch, int(available / flops)))
    divisor = max(n for n in range(1, longest + 1) if steps_per_epoch % n == 0)
    return divisor if 4 * divisor >= longest else longest


def executions(steps_per_epoch, steps_per_execution):
    """Return an endless iterator over numbers of steps that run as one program.

    The last execution of an epoch may have fewer steps.
    """
    full, rest = divmod(steps_per_epoch, steps_per_execution)
    return itertools.cycle([steps_per_execution] * full + [rest] * (rest > 0))
