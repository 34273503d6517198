"""Trainings of time windows that share one compiled program."""

from collections.abc import Mapping, Sequence

from keras import ops

from keraspinn.declaration import Problem
from keraspinn.declaration.windows import differ_in_time_only
from keraspinn.networks.active_window import ActiveWindow
from keraspinn.networks.base import Network
from keraspinn.optimizers import Optimizer
from keraspinn.recipes.stages import Recipe, Stage, Trained
from keraspinn.training import PINNModel


class Repeated:
    """Training of windows behind the first, again and again by one program.

    Each is trained as if it were the only one, from the optimizer's first state and
    with the same points, so that an interrupted march ends with the same numbers.

    Args:
        window: The problem in the first of these windows.
        active: Their `ActiveWindow`.
        recipe: The `Recipe`. If the optimizer of its last stage is of second order, it
            trains alone: it needs no first stage from the weights of a window before.
        seed: Integer that the points follow from.
    """

    def __init__(
        self, window: Problem, active: ActiveWindow, recipe: Recipe, seed: int
    ) -> None:
        last = recipe.stages[-1] if recipe.stages else None
        is_repeated = last and last.optimizer
        is_repeated = is_repeated and isinstance(last.optimizer(), Optimizer)
        self._stage: Stage | Recipe = last if is_repeated else recipe
        self._window, self._active, self._seed = window, active, seed
        active.build((None, window.domain.dimension))
        self._model = None
        self._first_state: list = []

    def serves(self, window: Problem, earlier: Sequence[Network]) -> bool:
        """Return whether the program trains another window too.

        Args:
            window: The problem in the window.
            earlier: The networks of the windows before.
        """
        return (
            self._model is not None
            and len(earlier) <= self._active.capacity
            and differ_in_time_only(self._window, window)
        )

    def train(
        self,
        network: Network,
        earlier: Sequence[Network],
        edges: Sequence[float],
        jumps: Mapping[float, Sequence[tuple[float, float]]],
    ) -> float:
        """Train a window's network; return its last loss.

        Args:
            network: The network, which takes on the trained weights.
            earlier: The networks of the windows before.
            edges: The windows' edges.
            jumps: As for `TimeWindows`.
        """
        self._active.follow(earlier, network, edges, jumps)
        if not isinstance(self._stage, Stage):
            model = PINNModel(
                self._window, self._active, self._seed, dtype=network.dtype_policy
            )
            result = self._stage.train(model, verbose=0)
            network.set_weights(result.model.network.network.get_weights())
            return last_loss(result)
        if self._model is None:
            model = PINNModel(
                self._window, self._active, self._seed, dtype=network.dtype_policy
            )
            self._model = self._stage.prepared(model)
            self._first_state = [
                ops.convert_to_numpy(v) for v in self._model.optimizer.variables
            ]
            self._active = self._model.network
        else:
            pairs = zip(self._model.optimizer.variables, self._first_state, strict=True)
            for variable, value in pairs:
                variable.assign(value)
            self._model.trainer.restart()
        history = self._stage.fitted(self._model, verbose=0)
        network.set_weights(self._active.network.get_weights())
        return last_loss(Trained(self._model, [history]))


def last_loss(trained: Trained) -> float:
    """Return the loss logged last.

    Args:
        trained: The result of a training.
    """
    return float(trained.history[-1].history["loss"][-1])
