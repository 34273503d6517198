"""Solve a problem to a tolerance: train, estimate the error, escalate."""

import dataclasses
import time
from typing import Any

import keras

from keraspinn.declaration import Data, Problem
from keraspinn.diagnostics import Verdict, verdict
from keraspinn.networks import MLP
from keraspinn.optimizers import GaussNewton, SSBroyden
from keraspinn.recipes.hardening import hardened
from keraspinn.recipes.stages import Recipe, Stage, adam_stage
from keraspinn.training import PINNModel

ADAM_STEPS = 2_000
"""Steps of the first stage."""

ROUND_STEPS = 500
"""Steps of the second stage between two decisions."""

ENERGY_STEPS = 20
"""Steps of Gauss–Newton between two decisions, where an energy is minimised."""

VERDICT_SHARE = 0.1
"""Largest share of the training's time that verdicts may take."""

STALLED = 2.0
"""Factor by which the estimate must fall in `PATIENCE` rounds, or it has stalled."""

PATIENCE = 2
"""Rounds without progress before the next escalation."""

WIDER = 1.5
"""Factor of the units when the network is widened."""

MORE_POINTS = 2.0
"""Factor of the number of collocation points when it is raised."""


@dataclasses.dataclass(frozen=True)
class Solution:
    """The result of `solve`.

    Args:
        model: The trained `PINNModel`.
        verdict: Its last `diagnostics.Verdict`.
        tolerance: Relative L2 error that was to be reached.
        seconds: Wall time that it took.
        reason: Why it is not solved; "" if it is.
        history: List of dicts, one for each round: `stage`, `steps`, `seconds`,
            `loss`, `error` (estimated, NaN where unknown).
        recipe: The `recipes.Recipe` that repeats the training from the same network
            and seed.

    Example:

    ```python
    solution = keraspinn.solve(problem)
    print(solution.solved, solution.verdict)
    ```
    """

    model: PINNModel
    verdict: Verdict
    tolerance: float
    seconds: float
    reason: str
    history: list[dict[str, Any]]
    recipe: Recipe

    @property
    def solved(self) -> bool:
        """True if the verdict trusts the model to the tolerance."""
        return not self.reason

    def __str__(self):
        errors = ", ".join(f"{n} {e:.1e}" for n, e in self.verdict.errors.items())
        state = "Solved" if self.solved else "Not solved"
        text = f"{state}: {errors} (tolerance {self.tolerance:g}), {self.seconds:.0f} s"
        return text if self.solved else f"{text}\n{self.reason}\n{self.verdict}"

    __repr__ = __str__


def solve(
    problem: Problem,
    tolerance: float = 1e-3,
    max_time: float = 600.0,
    *,
    network: Any = None,
    model: PINNModel | None = None,
    seed: int = 0,
    verbose: int = 1,
) -> Solution:
    """Train until the estimated error is within a tolerance, or say why not.

    Adam first, then SSBroyden in float64 in rounds of 500 steps (Gauss–Newton where an
    energy is minimised). Between rounds `diagnostics.verdict` estimates the error.
    Where the estimate stalls, the number of points is doubled and the network widened
    in turn. Conditions on a box hold by construction where they can.

    Args:
        problem: The `Problem`.
        tolerance: Relative L2 error of each field to reach.
        max_time: Wall time in seconds after which no round begins.
        network: Network, or dict of networks, as for `PINNModel`; chosen from the
            declaration if not given.
        model: Optional `PINNModel` of the problem to go on with, as `Solution.model`
            of an earlier call.
        seed: Integer for initial weights and points.
        verbose: 0 prints nothing, 1 a line for each round.

    Returns:
        The `Solution`, solved or not.

    Raises:
        TypeError: If `problem` is no `Problem`.
        ValueError: If `tolerance` or `max_time` is not positive.

    Example:

    ```python
    solution = keraspinn.solve(keraspinn.problems.poisson(), tolerance=1e-3)
    print(solution)
    ```
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"`problem` must be a keraspinn.Problem. Received: {problem!r}")
    for name, value in (("tolerance", tolerance), ("max_time", max_time)):
        if not (isinstance(value, (int, float)) and value > 0):
            raise ValueError(f"`{name}` must be positive. Received: {value!r}")
    run = _Run(problem, float(tolerance), float(max_time), verbose)
    if model is None:
        keras.utils.set_random_seed(seed)
        problem = hardened(problem)
        model = PINNModel(problem, network or chosen_network(problem), seed=seed)
        model = run.train(model, _first_stage(problem), "Adam")
    return run.rounds(model)


class _Run:
    """State of one call of `solve`: clock, rounds so far, points."""

    def __init__(self, problem, tolerance, max_time, verbose):
        self.tolerance, self.max_time, self.verbose = tolerance, max_time, verbose
        self.begin, self.judging = time.monotonic(), 0.0
        self.stages, self.history, self.errors = [], [], []
        self.points, self.units, self.compiles = None, None, True
        self.is_energy = problem.energy is not None

    @property
    def elapsed(self):
        return time.monotonic() - self.begin

    def train(self, model, stage, name):
        """Train a stage and add it to the history."""
        start = time.monotonic()
        trained = stage.train(model, verbose=0)
        loss = float(trained.history[-1].history["loss"][-1])
        self.stages.append(stage)
        self.history.append(
            {
                "stage": name,
                "steps": stage.fit["steps_per_epoch"],
                "seconds": time.monotonic() - start,
                "loss": loss,
                "error": float("nan"),
            }
        )
        return trained.model

    def rounds(self, model):
        """Train rounds of the second stage until solved, stalled or out of time."""
        judged, escalations = None, 0
        try:
            while True:
                model = self.train(model, self._second_stage(), "second stage")
                out_of_time = self.elapsed > self.max_time
                if self._judging_is_due() or out_of_time:
                    judged = self._judge(model)
                    if judged.trusted:
                        return self._solution(model, judged, "")
                    if fault := judged.left_open or judged.unreliable:
                        return self._solution(model, judged, fault)
                self._report()
                if out_of_time:
                    return self._solution(model, judged, _out_of_time(self.max_time))
                if self._is_stalled():
                    self._escalate(model, escalations)
                    escalations += 1
        except KeyboardInterrupt:
            return self._solution(model, judged or self._judge(model), "Interrupted.")

    def _second_stage(self):
        fit: dict[str, Any] = {"steps_per_epoch": ROUND_STEPS, "epochs": 1}
        optimizer: Any = SSBroyden
        if self.is_energy:
            fit["steps_per_epoch"], optimizer = ENERGY_STEPS, GaussNewton
        if self.points is not None:
            fit["batch_size"] = self.points
        optimizer = optimizer if self.compiles else None
        stage = Stage(optimizer, fit, dtype="float64", units=self.units)
        self.units, self.compiles = None, False
        return stage

    def _judging_is_due(self):
        return not self.errors or self.judging <= VERDICT_SHARE * self.elapsed

    def _judge(self, model):
        start = time.monotonic()
        judged = verdict(model, tolerance=self.tolerance)
        self.judging += time.monotonic() - start
        self.errors.append(judged.error)
        self.history[-1]["error"] = judged.error
        return judged

    def _is_stalled(self):
        if len(self.errors) <= PATIENCE:
            return False
        before, now = self.errors[-1 - PATIENCE], self.errors[-1]
        return not now * STALLED < before

    def _escalate(self, model, number):
        """Raise the number of points and the width of the network in turn."""
        self.errors = self.errors[-1:]
        if number % 2 == 0 or type(model.network) is not MLP:
            self.points = int((self.points or 3_000) * MORE_POINTS)
            self._print(f"stalled: {self.points} points")
            return
        self.units = int(WIDER * model.network.units)
        self.compiles = True
        self._print(f"stalled: {self.units} units")

    def _report(self):
        row = self.history[-1]
        self._print(
            f"{self.elapsed:5.0f} s  {row['stage']}: loss {row['loss']:.1e}, estimated "
            f"error {row['error']:.1e}"
        )

    def _print(self, text):
        if self.verbose:
            print(text)

    def _solution(self, model, judged, reason):
        if self.verbose:
            self._report()
        return Solution(
            model,
            judged,
            self.tolerance,
            self.elapsed,
            reason,
            self.history,
            Recipe(self.stages),
        )


def _out_of_time(seconds):
    return (
        f"Not within the tolerance after {seconds:g} s. Give more time, "
        "solve(max_time=...), go on with solve(problem, model=solution.model), or use "
        "time windows, keraspinn.march, where the time is long."
    )


def _first_stage(problem):
    measured = any(isinstance(c, Data) for c in problem.conditions.values())
    annealing = not (measured or problem.parameters or len(problem.coordinates) == 1)
    return adam_stage(ADAM_STEPS, annealing=annealing)


def chosen_network(problem):
    """Return a network for a problem, or a dict where fields have fewer coordinates.

    Args:
        problem: The `Problem`.
    """

    def network(fields):
        arguments = len(fields[0].args)
        units, depth = {1: (20, 2), 2: (30, 3)}.get(arguments, (40, 3))
        return MLP(units, depth, outputs=len(fields))

    groups: dict[tuple, list] = {}
    for field in problem.fields:
        groups.setdefault(field.args, []).append(field)
    if len(groups) == 1:
        return network(problem.fields)
    return {tuple(fields): network(fields) for fields in groups.values()}
