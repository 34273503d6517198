"""Trainings of time windows that share one compiled program."""

from keras import ops

from keraspinn.backend.scopes import assign
from keraspinn.declaration.windows import differ_in_time_only
from keraspinn.networks.active_window import ActiveWindow
from keraspinn.optimizers import Optimizer
from keraspinn.recipes.stages import last_loss
from keraspinn.training import PINNModel


class Repeated:
    """Training of windows after the first, again and again by one program.

    Each is trained as if it were the only one, from the optimizer's first state and
    with the same points, so that an interrupted march ends with the same numbers.

    Args:
        window: The problem in the first of these windows.
        network: A network adapted to it.
        recipe: The `Recipe`. If the optimizer of its last stage is of second order, it
            trains alone: it needs no first stage from the weights of a window before.
            Otherwise, each window is compiled.
        seed: Integer that the points follow from.
        orders: List with the order in time of each field.
        capacity: Largest number of earlier windows.
        previous: Arguments of `train` for one of the windows.
    """

    def __init__(self, window, network, recipe, seed, orders, capacity, previous):
        self._window, self._recipe, self._stage = window, recipe, None
        edges = window.domain.lower[-1], window.domain.upper[-1]
        dtype = network.dtype_policy
        networks, first = [network], previous[0][0]
        if first.count_params() != network.count_params():
            networks.append(type(first).from_config(first.get_config()))
            networks[1].trainable = False
        active = ActiveWindow(networks, edges, orders, capacity=capacity, dtype=dtype)
        active.build((None, window.domain.dimension))
        active.follow(*previous)
        self._model = PINNModel(window, active, seed, dtype=dtype)
        last = recipe.stages[-1] if recipe.stages else None
        if last and last.optimizer and isinstance(last.optimizer(), Optimizer):
            self._stage, self._model = last, last.prepared(self._model)
            variables = self._model.optimizer.variables
            self._first_state = [ops.convert_to_numpy(v) for v in variables]

    def serves(self, window, earlier):
        """Return whether the program trains another window too.

        Args:
            window: The problem in the window.
            earlier: The networks of the windows before.
        """
        has_room = len(earlier) <= self._model.network.capacity
        is_reused = self._stage is not None and has_room
        return is_reused and differ_in_time_only(self._window, window)

    def train(self, earlier, network, edges, jumps):
        """Train a window's network; return its last loss.

        Args:
            earlier: The networks of the windows before.
            network: The network, which takes on the trained weights.
            edges: The windows' edges.
            jumps: As for `TimeWindows`.
        """
        model = self._model
        model.network.follow(earlier, network, edges, jumps)
        if self._stage is None:
            result = self._recipe.train(model, verbose=0)
            model, history = result.model, result.history
        else:
            assign(model.optimizer.variables, self._first_state)
            model.trainer.restart()
            history = [self._stage.fitted(model, verbose=0)]
        network.set_weights(model.network.networks[0].get_weights())
        return last_loss(history)
