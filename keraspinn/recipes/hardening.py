"""Make conditions hold by construction where they can."""

import contextlib
import warnings

import sympy as sp

from keraspinn.declaration import Condition, Problem
from keraspinn.geometry import Box


def hardened(problem: Problem, features: list) -> Problem:
    """Return a problem whose conditions are hard, where that needs no compromise.

    A condition stays soft where `hard=True` is refused or adds a warning.

    Args:
        problem: The `Problem`. All stay soft beside features of corners and steps. On
            other domains than a `Box`, only initial conditions are made hard, unless an
            energy is minimised: a soft clamp gives way to loads.
        features: The features of its networks, expressions.
    """
    # Behind a hard condition a network cannot use features of corners and steps.
    if problem.energy is None and sp.Tuple(*features).has(sp.atan, sp.erf):
        return problem
    _, known = _declared(type(problem), problem.get_config())
    for name, condition in problem.conditions.items():
        if not isinstance(condition, Condition) or condition.hard or condition.regions:
            continue
        is_box = isinstance(problem.domain, Box)
        if condition.on != "initial" and not is_box and problem.energy is None:
            continue
        config = problem.get_config()
        config["conditions"][name]["config"]["hard"] = True
        with contextlib.suppress(ValueError):
            changed, warned = _declared(type(problem), config)
            if warned <= known:  # a network would round a kink
                problem = changed
    return problem


def _declared(kind, config):
    """Return the problem of a config, and the texts of its warnings, a set."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem = kind.from_config(config)
    texts = {str(w.message) for w in caught if issubclass(w.category, UserWarning)}
    return problem, texts
