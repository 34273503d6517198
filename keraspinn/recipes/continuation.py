"""Train from easy to hard values of a problem's parameters."""

import dataclasses
from collections.abc import Mapping, Sequence

import keras

from keraspinn.declaration import Problem
from keraspinn.expressions import Parameter
from keraspinn.optimizers import Optimizer
from keraspinn.recipes.stages import Recipe, Stage, TwoStage
from keraspinn.training import PINNModel


def continuation(
    problem: Problem,
    values: Mapping[Parameter, Sequence[float]],
    network: keras.Layer,
    recipe: Recipe | None = None,
    *,
    seed: int = 0,
    verbose: int = 1,
) -> PINNModel:
    """Train a problem for one value of its parameters after another (warm start).

    The recipe trains the first value. Its last stage continues with each further value.
    With a second-order optimizer it keeps the optimizer's state and compiles nothing
    again.

    Args:
        problem: The `Problem`, whose equations contain the parameters.
        values: Dict from each `Parameter` of the problem to its values, from easy to
            hard; as many for each.
        network: The network, as for `PINNModel`.
        recipe: The `recipes.Recipe`, `recipes.TwoStage(1_000, 1_500)` if not given.
        seed: Integer that the points follow from.
        verbose: 0 prints nothing, 1 a line for each value.

    Returns:
        The `PINNModel` for the last values, with its parameters frozen. Its attribute
        `continuation_history` lists the values and final losses.

    Raises:
        ValueError: If `values` do not belong to all parameters of the problem, or
            differ in number.

    Example:

    ```python
    nu = keraspinn.Parameter("nu", 0.1)
    model = keraspinn.continuation(problem, {nu: [0.1, 0.03, 0.01]}, network)
    ```

    Reference:
        Krishnapriyan et al., "Characterizing possible failure modes in
        physics-informed neural networks", NeurIPS 2021 (arXiv 2109.01050), section 5.
    """
    counts = {len(column) for column in values.values()}
    if {*values} != {*problem.parameters} or len(counts) != 1 or 0 in counts:
        raise ValueError(
            "`values` must be a dict with as many values for each keraspinn.Parameter "
            f"of the problem: {[*problem.parameters]}. Received: {values}"
        )
    recipe = recipe or TwoStage(1_000, 1_500)
    model = PINNModel(problem, network, seed=seed)
    history: list[dict[str, float]] = []
    stage: Recipe | Stage = recipe
    for step in zip(*values.values(), strict=True):
        row = {p.name: float(n) for p, n in zip(values, step, strict=True)}
        for name, value in row.items():
            model.coefficients[name].assign(value)
            model.coefficients[name].trainable = False
        trained = stage.train(model, verbose=0)
        model, stage = trained.model, recipe.stages[-1]
        if isinstance(model.optimizer, Optimizer):
            stage = dataclasses.replace(stage, optimizer=None)
        history.append(row | {"loss": trained.history[-1].history["loss"][-1]})
        if verbose:
            print(", ".join(f"{n} {number:.3g}" for n, number in history[-1].items()))
    model.continuation_history = history
    return model
