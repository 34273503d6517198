"""Make conditions hold by construction where they can."""

import contextlib
import warnings

from keraspinn.declaration import Condition, Problem
from keraspinn.geometry import Box


def hardened(problem: Problem) -> Problem:
    """Return a problem whose conditions are hard, where that needs no compromise.

    A condition stays soft where `hard=True` is refused or warned of.

    Args:
        problem: The `Problem`. On other domains than a `Box`, only initial conditions
            are made hard, unless an energy is minimised: a soft clamp gives way to
            loads.
    """
    for name, condition in problem.conditions.items():
        if not isinstance(condition, Condition) or condition.hard or condition.regions:
            continue
        is_box = isinstance(problem.domain, Box)
        if condition.on != "initial" and not is_box and problem.energy is None:
            continue
        config = problem.get_config()
        config["conditions"][name]["config"]["hard"] = True
        with contextlib.suppress(ValueError, UserWarning), warnings.catch_warnings():
            # A network would round a kink.
            warnings.simplefilter("error", UserWarning)
            problem = type(problem).from_config(config)
    return problem
