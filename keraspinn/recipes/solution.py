"""Result of `solve`: a model, its verdict, and the record of its training."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from keraspinn.common.html import paragraphs
from keraspinn.diagnostics import Verdict
from keraspinn.diagnostics.verdicts.report import others
from keraspinn.networks import TimeWindows
from keraspinn.recipes.stages import Recipe
from keraspinn.training import Ensemble, PINNModel


@dataclasses.dataclass(frozen=True)
class Solution:
    """The result of `solve`.

    Args:
        model: The `PINNModel` with the least estimated error.
        verdict: Its `diagnostics.Verdict`.
        tolerance: Relative L2 error that was to be reached.
        seconds: Wall time that it took.
        reason: Sentence on why it is not solved; "" if it is.
        history: List of dicts, one for each stage: `decision`, `steps`, `seconds`,
            `loss`, `error` (estimated, NaN where it was not estimated).
        recipe: The `recipes.Recipe` that repeats the training, except time windows,
            which `march` repeats.
        untrained: Function without arguments that returns a new model as it was before
            the training; `recipe.train(solution.untrained())` repeats it.
        parameters: Dict from names of unknown parameters to their value and standard
            deviation, which includes the bias by equations that give way to noise; NaN
            or infinite where there is no estimate.

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
    untrained: Callable[[], PINNModel]
    parameters: dict[str, tuple[float, float]]

    def ensemble(self, size: int = 5) -> Ensemble:
        """Return an `Ensemble` that the same recipe has trained, from other seeds.

        Args:
            size: Number of members.

        Raises:
            ValueError: If the recipe widens the network or continues with a model, or
                time windows were trained.
        """
        stages = self.recipe.stages
        is_other = any(s.units for s in stages) or not (stages and stages[0].optimizer)
        if is_other or isinstance(self.model.network, TimeWindows):
            raise ValueError(
                "An ensemble repeats neither wider networks nor time windows, nor a "
                "model to continue with. Pass network= of the last width to solve. "
                f"Received: {[row['decision'] for row in self.history]}"
            )
        model = self.untrained()
        ensemble = Ensemble(model.problem, model.network, size, model.seed)
        return self.recipe.train(ensemble, verbose=0).model

    @property
    def solved(self) -> bool:
        """True if the estimated errors are within the tolerance."""
        return not self.reason

    def _repr_html_(self):
        return paragraphs(str(self))

    def __str__(self):
        up_to = {name: f" up to {words}" for name, words in self.verdict.shifts.items()}
        errors = self.verdict.errors.items()
        estimates = [f"{n} {e:.1e}{up_to.get(n, '')}" for n, e in errors]
        for name, (value, deviation) in self.parameters.items():
            known = f" ± {deviation:.1g}" if math.isfinite(deviation) else ""
            estimates.append(f"{name} = {value:.5g}{known}")
        state = "Solved" if self.solved else "Not solved"
        text = f"{state}: {', '.join(estimates)} (tolerance {self.tolerance:g}), "
        text += f"{self.seconds:.0f} s"
        more = others(self.verdict) if self.solved else [self.reason, self.verdict]
        return "\n".join(map(str, [text, *more]))

    __repr__ = __str__
