"""Base class of quasi-Newton methods, which learn curvature from gradients."""

from collections import namedtuple

import numpy as np
from keras import ops

from keraspinn.backend.scopes import select
from keraspinn.common import State, Tensor, check_count
from keraspinn.optimizers.base import GIBIBYTE, Optimizer
from keraspinn.optimizers.line_search import search

# Data of a step: the change s of the parameters, the change y of the gradient, the new
# gradient, s·y, b = −α s·g / s·y, and the number of updates of the inverse Hessian.
Lesson = namedtuple("Lesson", "moved changed gradient product ratio updates")


class QuasiNewton(Optimizer):
    """Descent along −H g, with H an approximate inverse Hessian.

    A method defines `memory`, the initial storage of H; `descend`, −H g; and `learn`,
    the memory after a step, with the next direction. This class does the rest:

    * A line search finds a step with the strong Wolfe conditions (`line_search`). The
      state keeps the loss and the gradient at the new point, so most steps cost only
      the evaluations of the search, little more than one.
    * If points or loss weights change, or the parameters are not those of the last
      step, loss and gradient are recomputed. H is kept.
    * Without s·y > 0 beyond round-off, H is kept.
    * If a search finds no decrease, the next step follows −g. If that decreases the
      loss, H is reset to the identity. If not, the loss is at its minimum on these
      points: H is kept, and nothing is evaluated until they or the weights change.
    * H is also reset if −H g is not finite or not a descent direction.

    Args:
        resample_every: Number of steps with the same points, at least 2.
        sufficient_decrease: Fraction of the predicted decrease that a step must reach.
        curvature: Fraction of the gradient along the line that a step may leave.
        max_evaluations: Largest number of evaluations in one line search.
        memory_limit: Largest number of bytes that `build` may allocate.
        name: Its name.
    """

    log_names = ("step_size", "gradient_norm", "evaluations", "restarted")

    def __init__(
        self,
        resample_every: int = 500,
        sufficient_decrease: float = 1e-4,
        curvature: float = 0.9,
        max_evaluations: int = 20,
        memory_limit: int = 2 * GIBIBYTE,
        name: str | None = None,
    ) -> None:
        super().__init__(resample_every, memory_limit, name)
        if resample_every in (None, 1):
            raise ValueError(
                f"{type(self).__name__} learns from the change of the gradient between "
                "two steps on the same points, so `resample_every` must be an integer "
                f"of at least 2, a few hundred as a rule. Received: {resample_every}"
            )
        if not 0 < sufficient_decrease < curvature < 1:
            raise ValueError(
                "The Wolfe conditions need 0 < sufficient_decrease < curvature < 1. "
                f"Received: {sufficient_decrease!r} and {curvature!r}"
            )
        self.sufficient_decrease = sufficient_decrease
        self.curvature = curvature
        self.max_evaluations = check_count("max_evaluations", max_evaluations)

    def memory(self, parameters: Tensor) -> State:
        """Return the storage of H = I, a dict of tensors."""
        raise NotImplementedError(f"{type(self).__name__} must define `memory`.")

    def descend(self, memory: State, gradient: Tensor) -> Tensor:
        """Return −H g, `(P,)`."""
        raise NotImplementedError(f"{type(self).__name__} must define `descend`.")

    def learn(
        self, memory: State, lesson: Lesson, usable: Tensor
    ) -> tuple[State, Tensor]:
        """Return the memory after a step, and −H g with it at the new gradient.

        Args:
            memory: The memory before the step.
            lesson: A `Lesson`, of finite numbers even if not usable.
            usable: Boolean scalar; if false the memory stays.
        """
        raise NotImplementedError(f"{type(self).__name__} must define `learn`.")

    def init(self, parameters):
        unknown = ops.zeros_like(parameters[0]) + np.inf
        return {
            "parameters": ops.zeros_like(parameters),
            "gradient": ops.zeros_like(parameters),
            "direction": ops.zeros_like(parameters),
            # Infinite: the loss and the possible decrease are unknown.
            "loss": unknown,
            "decrease": unknown,
            "failures": ops.zeros((), "int32"),
            "updates": ops.zeros((), "int32"),
            **self.memory(parameters),
        }

    def step(self, objective, parameters, state):
        start = self.memory(parameters)
        memory = {name: state[name] for name in start}
        renewed = objective.renewed | ops.any(parameters != state["parameters"])
        stale = renewed | ~ops.isfinite(state["loss"])

        def evaluate():
            loss, gradient = objective.value_and_gradient(parameters)
            return loss, gradient, self.descend(memory, gradient)

        known = tuple(state[name] for name in ("loss", "gradient", "direction"))
        loss, gradient, direction = _once(stale, evaluate, known)
        failures = ops.where(stale, 0, state["failures"])
        updates = state["updates"]

        plain = ops.equal(failures, 1)
        along = ops.where(plain, -gradient, direction)
        derivative = ops.sum(gradient * along)
        first = _first(gradient, derivative, state["decrease"], plain, updates)
        position = parameters, along, loss, gradient
        active = (failures < 2) & (derivative < 0)
        settings = self.sufficient_decrease, self.curvature, self.max_evaluations
        function = objective.value_and_gradient
        result = search(function, position, active, first, *settings)

        took = result.step > 0
        moved = ops.where(took, parameters + result.step * along, parameters)
        lesson, usable = _lesson(along, derivative, gradient, result, updates)
        usable = usable & ~plain
        memory, direction = self.learn(memory, lesson, usable)

        lost = ~(ops.sum(direction * result.gradient) <= 0)
        lost = (lost & ops.isfinite(ops.sum(result.gradient))) | (plain & took)
        state = {
            "parameters": moved,
            "gradient": result.gradient,
            "direction": ops.where(lost, -result.gradient, direction),
            "loss": result.loss,
            "decrease": ops.where(took, loss - result.loss, state["decrease"]),
            "failures": ops.where(took, 0, ops.minimum(failures + 1, 2)),
            "updates": ops.where(lost, 0, updates + ops.cast(usable, "int32")),
            **select(lost, start, memory),
        }
        logs = {
            "loss": result.loss,
            "step_size": result.step,
            "gradient_norm": ops.sqrt(ops.sum(ops.square(result.gradient))),
            "evaluations": result.evaluations + ops.cast(stale, "int32"),
            "restarted": ops.cast(lost, "int32"),
        }
        return moved, state, logs


def _once(needed, evaluate, known):
    """Return `evaluate()` if needed, otherwise the known values.

    This is a loop of at most one iteration. Vectorized over replicas, a branch would be
    evaluated in every step, but a loop only when a replica needs it.
    """

    def body(needed, *_):
        return ops.zeros_like(needed), *evaluate()

    return ops.while_loop(lambda needed, *_: needed, body, (needed, *known))[1:]


def _first(gradient, derivative, decrease, plain, updates):
    """Return the first step to try.

    A parabola with this derivative decreases there by as much as the last step, and it
    is at most 1. Self-scaled methods have a larger H than BFGS: starting from 1, they
    would evaluate the network twice per step for the same descent.
    """
    one = ops.ones_like(derivative)
    likely = 2.02 * decrease / -derivative
    first = ops.where(likely < one, ops.maximum(likely, 0.01), one)
    # Without curvature only the gradient gives a length.
    cautious = one / ops.maximum(ops.sum(ops.abs(gradient)), one)
    return ops.where(plain | ops.equal(updates, 0), cautious, first)


def _lesson(direction, derivative, gradient, result, updates):
    """Return the `Lesson` of a step, and whether it is usable."""
    moved = result.step * direction
    changed = result.gradient - gradient
    product = ops.sum(moved * changed)
    size = ops.sqrt(ops.sum(ops.square(moved)) * ops.sum(ops.square(changed)))
    eps = float(np.finfo(ops.dtype(size)).eps)
    usable = (product > eps * size) & ops.isfinite(size)
    product = ops.where(usable, product, ops.ones_like(product))
    ratio = -result.step * result.step * derivative / product
    return Lesson(moved, changed, result.gradient, product, ratio, updates), usable
