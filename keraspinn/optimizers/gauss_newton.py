from typing import Any

import keras
import numpy as np
from keras import ops

from keraspinn.common.checks import check_count, real_number
from keraspinn.optimizers.base import Optimizer, in_bytes
from keraspinn.optimizers.linear_solves import (
    dense_numbers,
    dense_solver,
    free_solve,
    nystroem,
)

FORMS = ("auto", "dense", "free")

# μ is counted in mean squares of J's columns. Below the smallest, the factorization is
# rounding; above the largest, the search of η does what damping would.
_SMALLEST = 1e-13
_LARGEST = 1.0
# Of what a full step promises, a search that gains this much lets μ fall, and one
# that gains less than that makes it rise. So little, for short steps with little
# damping beat long ones with much: a loss of 2e-8 after 120 steps of the case below,
# with 0.25 and 0.1 one of 2e-5.
_ENOUGH, _TOO_LITTLE = 0.12, 0.04
_FALL, _RISE = 3.0, 4.0
# How much of φ the second difference along it spans. Helmholtz (1, 4), hard boundary,
# 20 × 3 units, 1,500 fresh points a step: 120 steps ended at a loss of 8e-6 with what
# it adds to the step, 150 at 8e-3 without.
_SPAN = 0.1


@keras.saving.register_keras_serializable("keraspinn")
class GaussNewton(Optimizer):
    """Gauss–Newton with Levenberg's damping: natural gradient descent for residuals.

    With r the weighted residuals, J their Jacobian and J⁺ = (JᵀJ + μI)⁻¹ Jᵀ, a step is

        φ ← m φ + J⁺ (r − m J φ),      θ ← θ − η φ − η²/2 J⁺ r_φφ

    that is, towards the least of the damped linear model of the residuals. Their second
    derivative along φ, a difference of three residuals, bends the step into the valley
    (geodesic acceleration). η is searched over 1, 1/2, 1/4, … until the loss at fresh
    points no longer falls. No η that lessens it, no step. μ falls where the search
    gained a good part of what the full step had promised on its own points, and rises
    where it did not: points that the step was not made from tell progress from what is
    learnt by heart.

    The matrix is P × P, or, with fewer rows N than parameters P, N × N in the kernel
    form, which is the same to rounding. Both take 2 N P + 3 min(N, P)² numbers of
    memory. Where that is more than `memory_limit`, the system is solved by
    preconditioned conjugate gradients, from products with J alone.

    Logged are η as `step_size`, μ as `damping`, what was gained of what was promised as
    `gain_ratio`, and how many directions the damping leaves, the trace of J J⁺, as
    `effective_rank`, to a few percent; not a number where there is no matrix.

    The loss must be a sum of squares: the step does not see regularizers, though the
    search does. Take a few thousand points a step, more than parameters: what exceeds
    them averages, what falls short overfits.

    Args:
        damping: μ at the start, relative to the mean square of J's columns.
        momentum: m, in [0, 1). Of use with fewer rows than parameters, 0.9 to 0.99:
            what earlier points said is kept where these say nothing (SPRING).
        form: `"dense"`, `"free"` (of matrices), or `"auto"`, dense where it fits.
        halvings: How often η is halved at most.
        products: Largest number of products with JᵀJ for one step without matrices.
        rank: Number of products for the preconditioner of these.
        **kwargs: As for `keraspinn.optimizers.Optimizer`.

    Raises:
        ValueError: For arguments out of range, and from the first step for
            `form="dense"` that does not fit `memory_limit`.

    Example:

    >>> optimizer = keraspinn.optimizers.GaussNewton(damping=1e-2)
    >>> optimizer.build([keras.Variable(keras.ops.zeros((4,), "float64"))])
    >>> float(optimizer.state["damping"])
    0.01

    Reference:
        Müller & Zeinhofer, "Achieving high accuracy with PINNs via energy natural
        gradient descent", arXiv 2302.13163; Goldshlager, Abrahamsen & Lin, "A
        Kaczmarz-inspired approach to accelerate the optimization of neural network
        wavefunctions" (SPRING), arXiv 2401.10190; Transtrum & Sethna, "Improvements to
        the Levenberg–Marquardt algorithm for nonlinear least-squares minimization",
        arXiv 1201.5885.
    """

    log_names = ("step_size", "damping", "gain_ratio", "effective_rank")

    def __init__(
        self,
        damping: float = 1e-3,
        momentum: float = 0.0,
        form: str = "auto",
        halvings: int = 10,
        products: int = 100,
        rank: int = 30,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not _SMALLEST <= real_number(damping) <= _LARGEST:
            raise ValueError(
                f"`damping` must be from {_SMALLEST} to {_LARGEST}. Received: "
                f"{damping!r}"
            )
        if not 0 <= real_number(momentum) < 1:
            raise ValueError(f"`momentum` must be in [0, 1). Received: {momentum!r}")
        if form not in FORMS:
            raise ValueError(f"`form` must be one of {FORMS}. Received: {form!r}")
        check_count("halvings", halvings)
        check_count("products", products)
        check_count("rank", rank)
        self.damping = float(damping)
        self.momentum = float(momentum)
        self.form = form
        self.halvings = halvings
        self.products = products
        self.rank = rank

    def flops_needed(self, gradient, rows, parameters):
        if self.form == "free":
            return 2 * self.products * gradient
        product = rows * parameters * min(rows, parameters)
        return 8 * gradient + 4 * product

    def init(self, parameters):
        return {
            "damping": ops.convert_to_tensor(self.damping, parameters.dtype),
            "direction": ops.zeros_like(parameters),
        }

    def step(self, objective, parameters, state):
        rows = objective.residuals(parameters)
        make = self._with_matrix if self._dense(rows, parameters) else self._without
        push, solve, damping, rank = make(objective, parameters, state["damping"])
        ahead = self.momentum * state["direction"]
        direction = ahead + solve(rows - push(ahead))
        model = push(direction)
        promised = 1 - ops.sum(ops.square(rows - model)) / ops.sum(rows * rows)
        near = objective.residuals(parameters - _SPAN * direction)
        bend = solve(near - rows + _SPAN * model) / _SPAN**2
        bend = ops.where(ops.isfinite(ops.sum(bend)), bend, ops.zeros_like(bend))

        judge = objective.fresh()
        loss = judge.loss(parameters)
        size, reached = self._search(
            lambda size: judge.loss(parameters - size * direction - size**2 * bend),
            loss,
        )
        taken = reached < loss
        gain = ops.where(taken, 1 - reached / loss, 0.0) / promised
        damping = ops.where(
            gain > _ENOUGH,
            damping / _FALL,
            ops.where(gain > _TOO_LITTLE, damping, damping * _RISE),
        )
        damping = ops.where(ops.isfinite(damping), damping, state["damping"])
        state = {
            "damping": ops.clip(damping, _SMALLEST, _LARGEST),
            "direction": ops.where(taken, direction, ops.zeros_like(direction)),
        }
        logs = {
            "loss": objective.loss(parameters),
            "step_size": ops.where(taken, size, 0.0),
            "damping": state["damping"],
            "gain_ratio": gain,
            "effective_rank": rank,
        }
        moved = parameters - size * direction - size**2 * bend
        parameters = ops.where(taken, moved, parameters)
        return parameters, state, logs

    def _dense(self, rows, parameters):
        """Whether to build the matrix."""
        shape = rows.shape[0], parameters.shape[0]
        itemsize = np.dtype(keras.backend.standardize_dtype(rows.dtype)).itemsize
        needed = dense_numbers(*shape) * itemsize
        fits = needed <= self.memory_limit
        if self.form == "dense" and not fits:
            raise ValueError(
                f"GaussNewton(form='dense') needs {in_bytes(needed)} for "
                f"{shape[0]:,} residuals and {shape[1]:,} parameters, more than its "
                f"`memory_limit` of {in_bytes(self.memory_limit)}. Take fewer "
                "points a step, or form='auto', which then builds no matrix, or raise "
                f"the limit: GaussNewton(form='dense', memory_limit={needed})."
            )
        return fits and self.form != "free"

    def _with_matrix(self, objective, parameters, damping):
        """J as a function, J⁺ as one, the damping that this took, and their rank."""
        jacobian = objective.jacobian(parameters)
        scale = ops.sum(jacobian * jacobian) / parameters.shape[0]
        solve, used = dense_solver(jacobian, damping * scale)

        def push(v):
            return ops.matmul(jacobian, v)

        # Hutchinson's estimate of a trace; of a projection's to √(2 / rank).
        signs = _signs(jacobian.shape[0], jacobian.dtype)
        rank = ops.sum(signs * push(solve(signs)))
        return push, solve, used / scale, rank

    def _without(self, objective, parameters, damping):
        """The same without J itself."""

        def push(v):
            return objective.jvp(parameters, v)

        def product(v):
            return objective.vjp(parameters, push(v))

        def solve(rows):
            right = objective.vjp(parameters, rows)
            return free_solve(product, right, scaled, self.products, sketch)

        sketch, trace = nystroem(product, parameters, self.rank)
        scaled = damping * trace / parameters.shape[0]
        return push, solve, damping, ops.full_like(damping, float("nan"))

    def _search(self, loss_at, before):
        """The η = 2⁻ᵏ at which the loss is least before it rises, and that loss."""
        smallest = 0.5**self.halvings

        def going(trial, size, best, last):
            falls = ops.logical_or(last <= best, best >= before)
            return ops.logical_and(trial >= smallest, falls)

        def halve(trial, size, best, last):
            value = loss_at(trial)
            value = ops.where(ops.isfinite(value), value, float("inf"))
            better = value < best
            size = ops.where(better, trial, size)
            return trial / 2, size, ops.where(better, value, best), value

        infinite = ops.full_like(before, float("inf"))
        start = (ops.ones_like(before), ops.ones_like(before), infinite, infinite)
        _, size, best, _ = ops.while_loop(going, halve, start)
        return size, best

    def get_config(self):
        return {
            **super().get_config(),
            "damping": self.damping,
            "momentum": self.momentum,
            "form": self.form,
            "halvings": self.halvings,
            "products": self.products,
            "rank": self.rank,
        }


def _signs(count, dtype):
    """Numbers ±1, the same in each call, `(count,)`."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], count)
    return ops.convert_to_tensor(signs, dtype)
