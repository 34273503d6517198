"""Row of the study: a problem, its forms and their training."""

import dataclasses
from collections.abc import Callable

import keraspinn as kp


@dataclasses.dataclass(frozen=True)
class Form:
    """Declaration of a problem, with the settings of its training.

    Attributes:
        problem: Function without arguments that returns the `Problem`.
        steps: Number of steps, or `None` for the CPU time of the first form of the row.
        optimizer: Class of the second-order optimizer.
        adam: Steps of Adam before the second-order optimizer.
        points: `batch_size` of `fit`.
        by_fields: Whether each field has a network.
    """

    problem: Callable[[], kp.Problem]
    steps: int | None = None
    optimizer: type = kp.optimizers.SSBroyden
    adam: int = 0
    points: int | None = None
    by_fields: bool = False


@dataclasses.dataclass(frozen=True)
class Case:
    """Forms of one problem, and the errors that the study reports.

    Attributes:
        forms: Dict from names to `Form`s, the one with a number of steps first.
        reference: Function without arguments that returns a dict of numbers. Without a
            closed form, it includes the `error` of the finite elements.
        measure: Function of a model and the reference that returns relative errors.
        aims: Dict from names of errors to their largest accepted value.
        units: Number of units of each hidden layer.
        depth: Number of hidden layers.
        held_back: Whether the row ran before anything was tuned on it.
    """

    forms: dict[str, Form]
    reference: Callable[[], dict]
    measure: Callable
    aims: dict[str, float]
    units: int = 20
    depth: int = 3
    held_back: bool = False


def energy_form(problem, steps=60, points=None):
    """Return the form of an energy, trained by Gauss–Newton steps."""
    return Form(problem, steps, kp.optimizers.GaussNewton, points=points)


def strong_form(problem):
    """Return the strong form: Adam, then SSBroyden for the time of the first form."""
    return Form(problem, adam=1000)
