"""Description of one row of the study."""

import dataclasses
from collections.abc import Callable

import keraspinn as kp


@dataclasses.dataclass(frozen=True)
class Form:
    """One way to declare a problem, and how it is trained.

    Attributes:
        problem: Function without arguments that returns the `Problem`.
        steps: Steps of the optimizer, or `None` for as long as the row's first form.
        optimizer: Class of the second-order optimizer.
        adam: Steps of Adam before it.
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
    """A row: forms of one problem, and errors that all of them are measured by.

    Attributes:
        forms: Dict from names to `Form`s, the one with a number of steps first.
        reference: Function without arguments that returns a dict of numbers, the
            finite elements' `error` among them where there is no closed form.
        measure: Function of a model and the reference that returns relative errors.
        aims: Dict from names of errors to the largest that is aimed at.
        units, depth: Of each network's hidden layers.
        held_back: Whether nothing was tuned on it before its first run.
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
    """Return the strong form: Adam, then SSBroyden for as long as the first form."""
    return Form(problem, adam=1000)
