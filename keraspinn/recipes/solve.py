"""Solve a problem to a tolerance: train, estimate the error, escalate."""

import dataclasses
import time
from pathlib import Path
from typing import Any

import keras

from keraspinn.common.checks import check_type
from keraspinn.declaration import Problem, features_of
from keraspinn.networks import TimeWindows
from keraspinn.recipes.choices import chosen_network, chosen_recipe
from keraspinn.recipes.hardening import hardened
from keraspinn.recipes.progress import load_progress
from keraspinn.recipes.solution import Solution
from keraspinn.recipes.stages import Recipe
from keraspinn.recipes.training_run import TrainingRun
from keraspinn.training import PINNModel


def solve(
    problem: Problem,
    tolerance: float = 1e-3,
    max_time: float = 600.0,
    *,
    network: Any = None,
    recipe: Recipe | None = None,
    model: PINNModel | None = None,
    seed: int = 0,
    path: str | Path | None = None,
    verbose: int = 1,
) -> Solution:
    """Train until the estimated error is within a tolerance, or say why not.

    Adam first, then SSBroyden in float64 in rounds of 500 steps (Gauss–Newton alone
    where an energy is minimised). Between rounds `diagnostics.verdict` estimates the
    error, which must be half the tolerance, a quarter for an energy below 2 %, a tenth
    with `Data`. Where the field stays wrong or the estimate stalls, time windows are
    trained, as by `march`. Without time, or if that fails, Gauss–Newton takes the place
    of SSBroyden, the network is widened and the number of points doubled, in turn.
    Conditions on a box hold by construction where they can.

    With measurements, two standard deviations of unknown parameters must be within the
    tolerance too.

    Args:
        problem: The `Problem`.
        tolerance: Relative L2 error of each field to reach.
        max_time: Wall time in seconds; training stops when the rest is as short as the
            last verdict took, and one more follows. The first, which compiles, does
            not count.
        network: Network, or dict of networks, as for `PINNModel`; chosen from the
            declaration if not given.
        recipe: Optional `recipes.Recipe` in place of Adam and SSBroyden. Its last stage
            is repeated until the problem is solved.
        model: Optional `PINNModel` of the problem to continue with, as `Solution.model`
            of an earlier call, or of a file. Time windows are judged, and trained
            by a `recipe` alone.
        seed: Integer for initial weights and points.
        path: Optional path of a `.keras` file that holds the training after each round.
            If it is there, the training continues from it; its time counts too.
        verbose: 0 prints nothing, 1 a line for each stage, 2 the progress bars of
            `fit` too.

    Returns:
        The `Solution`, solved or not. `KeyboardInterrupt` ends the training and returns
        it as well.

    Raises:
        TypeError: If `problem` is no `Problem`.
        ValueError: If `tolerance` or `max_time` is not positive, or `model` or the
            file at `path` is of another problem.

    Example:

    ```python
    solution = keraspinn.solve(keraspinn.problems.poisson(), tolerance=1e-3)
    print(solution)
    ```
    """
    check_type("problem", problem, Problem, "a keraspinn.Problem")
    for name, value in (("tolerance", tolerance), ("max_time", max_time)):
        if not (isinstance(value, (int, float)) and value > 0):
            raise ValueError(f"`{name}` must be positive. Received: {value!r}")
    kept: dict[str, Any] = {}
    if path is not None and Path(path).exists():
        model, kept = load_progress(path)
    if model is not None and _declared(model.problem) != _declared(problem):
        raise ValueError(
            "`model` or `path` must belong to a problem with the same equations, "
            f"conditions and domain. Received: {model.problem!r}. Leave out model= and "
            "path=, or step through values by keraspinn.continuation."
        )
    begin = time.monotonic() - kept.pop("seconds", 0.0)
    stages = [] if recipe is None else recipe.stages
    if model is None:
        keras.utils.set_random_seed(seed)
        problem = hardened(problem, features_of(problem, problem.scales))
        model = PINNModel(problem, network or chosen_network(problem), seed=seed)
        stages = stages or chosen_recipe(problem).stages
    elif isinstance(model.network, TimeWindows) and (kept or recipe is None):
        kept, stages = {}, []  # they are judged, and not trained further
    elif kept:
        stages = stages or chosen_recipe(model.problem).stages
        fit, done = kept.pop("fit"), len(kept["history"])
        again = {"optimizer": None, "units": None, "fixed": None, "fit": fit}
        last = dataclasses.replace(stages[-1], **again)
        stages = stages[done:] or [last]
    elif recipe is None:
        stage = chosen_recipe(model.problem).stages[-1]
        optimizer = None if model.trainer.is_second_order else stage.optimizer
        stages = [dataclasses.replace(stage, optimizer=optimizer, fixed=None)]
    run = TrainingRun(model, float(tolerance), begin, begin + float(max_time), verbose)
    vars(run).update(kept, path=path)
    return run.solution(stages)


def _declared(problem):
    """Return equations, conditions and extents of a problem, comparable."""
    conditions = {n: c.expressions for n, c in problem.conditions.items()}
    extents = [*problem.domain.lower, *problem.domain.upper]
    return problem.equations, problem.energy, conditions, extents
