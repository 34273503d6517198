"""Recipes: a training as a list of stages, each a `compile` and a `fit`."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import keras

from keraspinn.callbacks import LearningRateAnnealing
from keraspinn.common.checks import check_type
from keraspinn.optimizers import GaussNewton, SSBroyden
from keraspinn.sampling import Sampler, Uniform
from keraspinn.training import PINNModel
from keraspinn.training.precision import with_units

# Epochs of the second stage: the loss logged last is that of its last fifth.
EPOCHS = 5


@dataclasses.dataclass(frozen=True)
class Stage:
    """One `compile` and one `fit` of a model.

    Args:
        optimizer: Function without arguments that returns a new optimizer; `None` goes
            on with the model's, which keeps its state.
        fit: Dict with the arguments of `fit`.
        dtype: Precision of the stage, `"float32"` or `"float64"`; `None` keeps the
            model's.
        units: Optional number of units that an `MLP` is widened to before the stage.
        callbacks: Optional function of the model that returns a list of new callbacks.
        fixed: Whether unknown parameters keep their values; `None` leaves them trained
            or not, as before.

    Example:

    >>> stage = keraspinn.recipes.Stage(
    ...     keraspinn.optimizers.SSBroyden, {"steps_per_epoch": 500}, dtype="float64"
    ... )
    """

    optimizer: Callable[[], Any] | None
    fit: dict[str, Any] = dataclasses.field(default_factory=dict)
    dtype: str | None = None
    units: int | None = None
    callbacks: Callable[[PINNModel], list] | None = None
    fixed: bool | None = None

    def train(self, model: PINNModel, **kwargs: Any) -> "Trained":
        """Train a model for this stage.

        Args:
            model: The `PINNModel`.
            **kwargs: Arguments of `fit` that take the place of the stage's.

        Returns:
            The model, a copy where the precision changes, and its `History`.
        """
        model = self.prepared(model)
        return Trained(model, [self.fitted(model, **kwargs)])

    def prepared(self, model: PINNModel) -> PINNModel:
        """Return the model in the stage's precision and width, compiled.

        Args:
            model: The `PINNModel`.
        """
        if self.dtype is not None and model.variable_dtype != self.dtype:
            model = model.astype(self.dtype)
        if self.units is not None:
            model = with_units(model, self.units)
        if self.fixed is not None:
            for variable in model.coefficients.values():
                variable.trainable = not self.fixed
        if self.optimizer is not None:
            model.compile(self.optimizer())
        return model

    def fitted(self, model: PINNModel, **kwargs: Any) -> keras.callbacks.History:
        """Train a prepared model.

        Args:
            model: The `PINNModel`.
            **kwargs: As in `train`.
        """
        callbacks = list(self.callbacks(model)) if self.callbacks else []
        callbacks += [*self.fit.get("callbacks", ()), *kwargs.get("callbacks", ())]
        return model.fit(**{**self.fit, **kwargs, "callbacks": callbacks})


@dataclasses.dataclass(frozen=True)
class Trained:
    """A trained model and the histories of its stages.

    Args:
        model: The `PINNModel`.
        history: List of `keras.callbacks.History`, one for each stage.

    Example:

    ```python
    model = recipe.train(model).model
    ```
    """

    model: PINNModel
    history: list


class Recipe:
    """A list of stages, trained one after another.

    Args:
        stages: List of `Stage` objects.

    Raises:
        TypeError: By `__init__`, if something else is in the list.

    Example:

    >>> recipe = keraspinn.recipes.Recipe([keraspinn.recipes.Stage(
    ...     keras.optimizers.Adam, {"steps_per_epoch": 10, "verbose": 0}
    ... )])
    >>> model = keraspinn.PINNModel(
    ...     keraspinn.problems.poisson(), keraspinn.networks.MLP(units=4, depth=1)
    ... )
    >>> trained = recipe.train(model)
    >>> len(trained.history)
    1
    """

    def __init__(self, stages: Sequence[Stage]) -> None:
        expected = "a list of keraspinn.recipes.Stage"
        check_type("stages", stages, (list, tuple), expected)
        for stage in stages:
            check_type("stages", stage, Stage, expected)
        self.stages = list(stages)

    def __repr__(self):
        return f"<{type(self).__name__}: {len(self.stages)} stages>"

    def train(self, model: PINNModel, **kwargs: Any) -> Trained:
        """Train a model by all stages.

        Args:
            model: The `PINNModel`.
            **kwargs: Arguments of `fit` for all stages, such as `verbose` and
                `callbacks`.

        Returns:
            The `Trained` model with one `History` for each stage.
        """
        history = []
        for stage in self.stages:
            trained = stage.train(model, **kwargs)
            model = trained.model
            history += trained.history
        return Trained(model, history)


class TwoStage(Recipe):
    """Adam with a cosine schedule, then SSBroyden in float64, as the guide recommends.

    Args:
        adam_steps: Number of steps of Adam.
        steps: Number of steps of SSBroyden.
        learning_rate: First learning rate of the cosine schedule.
        annealing: Whether to adapt loss weights by `callbacks.LearningRateAnnealing`
            in the first stage.
        points: Optional number of collocation points of the second stage.

    Example:

    >>> recipe = keraspinn.recipes.TwoStage(adam_steps=3_000, steps=5_000)
    """

    def __init__(
        self,
        adam_steps: int = 3_000,
        steps: int = 5_000,
        learning_rate: float = 3e-3,
        annealing: bool = True,
        points: int | dict | None = None,
    ) -> None:
        first = adam_stage(adam_steps, learning_rate, annealing)
        super().__init__([first, _second_stage(SSBroyden, steps, points)])


class OneStage(Recipe):
    """Gauss–Newton in float64 from the first step, for the windows of `march`.

    A network of one or two thousand parameters at most is trained in a few hundred
    steps where the solution is smooth in a window.

    Args:
        steps: Number of steps.
        points: Number of collocation points inside, new ones in each step; more than
            parameters.
        sampler: Optional sampler of these points in place of `sampling.Uniform()`. A
            shock needs `sampling.ResidualBased(every=1)`.

    Example:

    >>> recipe = keraspinn.recipes.OneStage(steps=100)
    """

    def __init__(
        self, steps: int = 200, points: int = 1_500, sampler: Sampler | None = None
    ) -> None:
        stage = _second_stage(GaussNewton, steps, {"residual": points})
        stage.fit["x"] = sampler or Uniform()
        super().__init__([stage])


def _second_stage(optimizer, steps, points):
    """Return a stage of a second-order optimizer in float64."""
    pace = {"epochs": EPOCHS, "steps_per_epoch": max(1, steps // EPOCHS)}
    return Stage(optimizer, pace | {"batch_size": points}, dtype="float64")


def last_loss(history: list) -> float:
    """Return the loss logged last.

    Args:
        history: List of `keras.callbacks.History`, one for each stage.
    """
    return float(history[-1].history["loss"][-1])


def adam_stage(steps: int, learning_rate: float = 3e-3, annealing: bool = True):
    """Return a stage of Adam with a cosine schedule from a first learning rate to zero.

    Args:
        steps: Number of steps.
        learning_rate: First learning rate.
        annealing: Whether to adapt loss weights, if there are any.
    """

    def anneal(model):
        is_of_equations = model.problem.energy is None
        is_adapted = annealing and model.loss_weights and is_of_equations
        return [LearningRateAnnealing()] if is_adapted else []

    def adam():
        schedule = keras.optimizers.schedules.CosineDecay(learning_rate, steps)
        return keras.optimizers.Adam(schedule)

    return Stage(adam, {"steps_per_epoch": steps, "epochs": 1}, callbacks=anneal)
