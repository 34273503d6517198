"""Make conditions hold by construction where they can."""

import warnings

from keraspinn.declaration import Condition, Problem
from keraspinn.geometry import Box


def hardened(problem: Problem, on: str | None = None) -> Problem:
    """Return a problem whose conditions are hard, where that needs no compromise.

    A condition stays soft where `hard=True` is refused or warned of.

    Args:
        problem: The `Problem`. On other domains than a `Box`, only initial conditions
            are made hard, unless an energy is minimised: a soft clamp gives way to
            loads.
        on: Only conditions with this `on=`; all if not given.
    """
    for name, condition in problem.conditions.items():
        if not isinstance(condition, Condition) or condition.hard or condition.regions:
            continue
        is_initial = condition.on == "initial"
        if on is not None and condition.on != on:
            continue
        is_safe = isinstance(problem.domain, Box) or problem.energy is not None
        if not (is_initial or is_safe):
            continue
        config = problem.get_config()
        config["conditions"][name]["config"]["hard"] = True
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "error", UserWarning
                )  # a kink that a network would round
                problem = type(problem).from_config(config)
        except (ValueError, UserWarning):
            continue
    return problem
