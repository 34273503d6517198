"""What methods share that learn the curvature from changes of the gradient."""

import collections
from typing import Any

import keras
import numpy as np
from keras import ops

from keraspinn.common.checks import check_count
from keraspinn.common.typing import State, Tensor
from keraspinn.optimizers.base import GIBIBYTE, Optimizer
from keraspinn.optimizers.line_search import search

# What a step taught: the change s of the parameters, the change y of the gradient, the
# new gradient, s·y, b = −α s·g / s·y, and how many updates the inverse Hessian has had.
Lesson = collections.namedtuple(
    "Lesson", "moved changed gradient product ratio updates"
)


class QuasiNewton(Optimizer):
    """A descent along −H g, with H an inverse Hessian that is learned on the way.

    A method defines `memory`, what H is kept in at the start; `descend`, −H g; and
    `learn`, the memory after a step, with the next direction. The rest is here:

    * The line is searched for the strong Wolfe conditions (`line_search`); the loss and
      the gradient at the new point are remembered, so that most steps cost as many
      evaluations as the search makes, little more than one.
    * Where points or loss weights are renewed, or the parameters are not those the step
      before left, loss and gradient are computed anew. H is kept.
    * A step that has no s·y > 0 beyond rounding teaches nothing: H is kept.
    * When a search finds no decrease, the next step goes along −g. If that decreases
      the loss, H was at fault and starts again from the identity. If not, the loss is
      at its floor on these points: H is kept, and nothing is evaluated until they or
      the weights are renewed.
    * H starts again from the identity, too, if −H g is finite nowhere or no descent.

    Args:
        resample_every: Number of steps for which points are held, at least 2.
        sufficient_decrease: Fraction of the promised decrease that a step must reach.
        curvature: Fraction of the slope along the line that a step may leave.
        max_evaluations: Largest number of evaluations in one search.
        memory_limit: Largest number of bytes that `build` may ask for.
        name: Its name.
        **kwargs: None, see `Optimizer`.
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
        **kwargs: Any,
    ) -> None:
        super().__init__(
            resample_every=resample_every,
            memory_limit=memory_limit,
            name=name,
            **kwargs,
        )
        if resample_every in (None, 1):
            raise ValueError(
                f"{type(self).__name__} learns from the change of the gradient between "
                "two steps on the same points, so `resample_every` must be an integer "
                f"of at least 2, a few hundred as a rule. Received: {resample_every}"
            )
        check_count("max_evaluations", max_evaluations)
        if not 0 < sufficient_decrease < curvature < 1:
            raise ValueError(
                "The Wolfe conditions need 0 < sufficient_decrease < curvature < 1. "
                f"Received: sufficient_decrease={sufficient_decrease!r}, "
                f"curvature={curvature!r}"
            )
        self.sufficient_decrease = sufficient_decrease
        self.curvature = curvature
        self.max_evaluations = max_evaluations

    def memory(self, parameters: Tensor) -> State:
        """What H = I is kept in: a dict of tensors."""
        raise NotImplementedError(f"{type(self).__name__} must define `memory`.")

    def descend(self, memory: State, gradient: Tensor) -> Tensor:
        """−H g, `(P,)`."""
        raise NotImplementedError(f"{type(self).__name__} must define `descend`.")

    def learn(
        self, memory: State, lesson: Lesson, usable: Tensor
    ) -> tuple[State, Tensor]:
        """The memory after a step, and −H g with it at the new gradient.

        Args:
            memory: As before the step.
            lesson: A `Lesson`, finite numbers even if not usable.
            usable: Boolean scalar; without it the memory stays.
        """
        raise NotImplementedError(f"{type(self).__name__} must define `learn`.")

    def init(self, parameters):
        unknown = ops.zeros_like(parameters[0]) + np.inf
        return {
            "parameters": ops.zeros_like(parameters),
            "gradient": ops.zeros_like(parameters),
            "direction": ops.zeros_like(parameters),
            # Not finite: loss and gradient are not known, nor what a step can gain.
            "loss": unknown,
            "decrease": unknown,
            "failures": ops.zeros((), "int32"),
            "updates": ops.zeros((), "int32"),
            **self.memory(parameters),
        }

    def step(self, objective, parameters, state):
        memory = {name: state[name] for name in self.memory_names}
        renewed = ops.logical_or(
            objective.renewed, ops.any(parameters != state["parameters"])
        )
        stale = ops.logical_or(renewed, ops.logical_not(ops.isfinite(state["loss"])))

        def evaluate():
            loss, gradient = objective.value_and_gradient(parameters)
            return loss, gradient, self.descend(memory, gradient)

        known = tuple(state[name] for name in ("loss", "gradient", "direction"))
        loss, gradient, direction = _once(stale, evaluate, known)
        failures = ops.where(stale, 0, state["failures"])
        updates = state["updates"]

        plain = ops.equal(failures, 1)
        along = ops.where(plain, -gradient, direction)
        slope = ops.sum(gradient * along)
        first = _first(gradient, slope, state["decrease"], plain, updates)
        found = search(
            objective.value_and_gradient,
            (parameters, along, loss, gradient),
            ops.logical_and(failures < 2, slope < 0),
            first,
            self.sufficient_decrease,
            self.curvature,
            self.max_evaluations,
        )

        took = found.step > 0
        moved = ops.where(took, parameters + found.step * along, parameters)
        lesson, usable = _lesson(along, slope, gradient, found, updates)
        usable = ops.logical_and(usable, ops.logical_not(plain))
        memory, direction = self.learn(memory, lesson, usable)

        lost = ops.logical_not(ops.sum(direction * found.gradient) <= 0)
        lost = ops.logical_and(lost, ops.isfinite(ops.sum(found.gradient)))
        lost = ops.logical_or(lost, ops.logical_and(plain, took))
        start = self.memory(parameters)
        state = {
            "parameters": moved,
            "gradient": found.gradient,
            "direction": ops.where(lost, -found.gradient, direction),
            "loss": found.loss,
            "decrease": ops.where(took, loss - found.loss, state["decrease"]),
            "failures": ops.where(took, 0, ops.minimum(failures + 1, 2)),
            "updates": ops.where(lost, 0, updates + ops.cast(usable, "int32")),
            **{
                name: ops.where(lost, start[name], value)
                for name, value in memory.items()
            },
        }
        logs = {
            "loss": found.loss,
            "step_size": found.step,
            "gradient_norm": ops.sqrt(ops.sum(ops.square(found.gradient))),
            "evaluations": found.evaluations + ops.cast(stale, "int32"),
            "restarted": ops.cast(lost, "int32"),
        }
        return moved, state, logs

    def get_config(self):
        return {
            **super().get_config(),
            "sufficient_decrease": self.sufficient_decrease,
            "curvature": self.curvature,
            "max_evaluations": self.max_evaluations,
        }


def _once(needed, evaluate, known):
    """`evaluate()` if needed, or else what is known.

    A loop of at most one trip: with an axis of replicas before it, a branch would be
    taken by all in every step, a loop only when one of them needs it.
    """

    def body(needed, *_):
        return ops.zeros_like(needed), *evaluate()

    return ops.while_loop(lambda needed, *_: needed, body, (needed, *known))[1:]


def _first(gradient, slope, decrease, plain, updates):
    """The first step to try.

    The one at which a parabola with this slope decreases by as much as the last step
    did, and at most 1. Self-scaled methods take H larger than BFGS does: where they
    start from 1, the network is evaluated twice a step for the same descent.
    """
    one = ops.ones_like(slope)
    likely = 2.02 * decrease / -slope
    first = ops.where(likely < one, ops.maximum(likely, 0.01), one)
    # Without curvature there is no length to trust but that of the gradient.
    cautious = one / ops.maximum(ops.sum(ops.abs(gradient)), one)
    return ops.where(ops.logical_or(plain, ops.equal(updates, 0)), cautious, first)


def _lesson(direction, slope, gradient, found, updates):
    """The `Lesson` of a step, and whether it is one."""
    moved = found.step * direction
    changed = found.gradient - gradient
    product = ops.sum(moved * changed)
    size = ops.sqrt(ops.sum(ops.square(moved)) * ops.sum(ops.square(changed)))
    eps = float(np.finfo(keras.backend.standardize_dtype(size.dtype)).eps)
    usable = ops.logical_and(product > eps * size, ops.isfinite(size))
    product = ops.where(usable, product, ops.ones_like(product))
    ratio = -found.step * found.step * slope / product
    return Lesson(moved, changed, found.gradient, product, ratio, updates), usable
