"""Texts of `solve`: the model, reasons not to reach the tolerance, and advice."""

import math

from keraspinn.declaration import Problem
from keraspinn.declaration.singularities import has_reentrant_corner
from keraspinn.diagnostics import Verdict
from keraspinn.networks.base import Network
from keraspinn.training import PINNModel

# Advice for equations on a domain with a re-entrant corner.
CORNER_ADVICE = (
    "Beside a re-entrant corner residuals may be unbounded. If the equations are those "
    "of an energy, minimise it: Problem(domain, energy=...)."
)

# Advice for time windows that are not within the tolerance.
WINDOWS_ADVICE = (
    "Time windows are not trained further. Train more of them, or for more steps, by "
    "keraspinn.march, or call solve without model= and path=."
)

# Reason at the deadline.
LATE = "Not within the tolerance in time."

# Reason after the last escalation.
NO_PROGRESS = "The estimated error has stalled."

# Reason in place of both, for an estimate that is too near the tolerance.
TOO_NEAR = "The estimate is within the tolerance, but not {:.0f} times below it."

# Standard deviations of a parameter that must be within the tolerance.
DEVIATIONS = 2.0


def describe_noise(verdict: Verdict, parameters: dict[str, tuple]) -> str:
    """Return a sentence if measurements limit the accuracy, or "".

    Args:
        verdict: The `Verdict`.
        parameters: Dict from names of unknown parameters to values and deviations.
    """
    missed = max((verdict.misfits.get(n, 0.0) for n in verdict.measured), default=0.0)
    spreads = {
        name: DEVIATIONS * deviation / abs(value or 1.0)
        for name, (value, deviation) in parameters.items()
    }
    spread = max(spreads.values(), default=math.inf)
    if spreads and spread <= verdict.tolerance:
        return ""
    if spreads and math.isfinite(spread) and verdict.trusted:
        name = max(spreads, key=lambda n: spreads[n])
        return (
            f"The training has converged, but the measurements determine {name!r} "
            f"to {100 * spread:.2g} % only (two standard deviations). Give more or "
            "better ones, or a larger tolerance."
        )
    if missed <= verdict.tolerance:
        return ""
    begins = "A parameter may begin too far from its value, initial=. "
    return (
        f"The measurements are missed by {100 * missed:.2g} % of their size: they "
        f"are noisy, or contradict the equations. {begins if parameters else ''}Give "
        "better ones, or a larger tolerance."
    )


def describe_unsolved(problem: Problem, text: str) -> str:
    """Return a sentence with advice that suits the problem.

    Args:
        problem: The `Problem`.
        text: The sentence.
    """
    text += " Give more time, max_time=, or continue with model=solution.model."
    if problem.domain.time_coordinate is not None:
        text += " Where the time is long, train windows: keraspinn.march."
    if problem.energy is None and has_reentrant_corner(problem.domain):
        text += f" {CORNER_ADVICE}"
    return text


def describe_model(model: PINNModel) -> str:
    """Return a phrase on the network and the conditions that hold by construction.

    Args:
        model: The `PINNModel`.
    """
    network = model.network
    text = f"{model.count_params():,} weights"
    if isinstance(network, Network):
        text = f"{type(network).__name__} {network.units} × {network.depth}"
    hard = [term.name for term in model.problem.all_terms.values() if term.hard]
    return f"{text}, hard: {', '.join(hard)}" if hard else text
