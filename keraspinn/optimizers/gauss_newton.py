import functools
from typing import Any

import numpy as np
from keras import ops

from keraspinn.common.checks import check_choice, real_number
from keraspinn.optimizers import linear_solves
from keraspinn.optimizers.base import Optimizer
from keraspinn.optimizers.energy_steps import energy_step

FORMS = ("auto", "dense", "free")

# Ratios of actual to predicted decrease: above the first μ falls, below the second it
# rises. They are low, as short steps with little damping beat long ones with much: a
# loss of 2e-8 after 120 steps of the case below, but 2e-5 with 0.25 and 0.1.
_GOOD_RATIO = 0.12
_POOR_RATIO = 0.04
_FALL = 3.0  # factor by which μ falls
_RISE = 4.0  # factor by which μ rises
# Step of the second difference, relative to φ. Helmholtz (1, 4), hard boundary, 20 × 3
# units, 1,500 fresh points a step: 120 steps reached a loss of 8e-6 with acceleration,
# 150 steps 8e-3 without.
_SPAN = 0.1
# Most rows of an energy's J at a point: six strains. It has about P points.
_ROWS_AT_A_POINT = 6


class GaussNewton(Optimizer):
    """Gauss–Newton method with Levenberg damping: natural gradient for residuals.

    With r the weighted residuals, J their Jacobian and J⁺ = (JᵀJ + μI)⁻¹ Jᵀ, a step is

        φ ← m φ + J⁺ (r − m J φ),      θ ← θ − η φ − η²/2 J⁺ r_φφ

    This is the least-squares step of the damped linear model of the residuals. Their
    second derivative along φ, a difference of three residuals, bends the step along
    the valley (geodesic acceleration). The line search tries η = 1, 1/2, 1/4, … until
    the loss at fresh points no longer falls. If no η decreases it, the step is
    rejected. μ falls if the decrease is a good part of the linear model's prediction
    on the step's points, and rises otherwise: fresh points tell progress from
    overfitting.

    The matrix is P × P, or N × N in the equivalent kernel form if the rows N are fewer
    than the parameters P. Both need 2 N P + 3 min(N, P)² numbers of memory. If that
    exceeds `memory_limit`, preconditioned conjugate gradients solve the system from
    products with J.

    Logs are η as `step_size`, μ as `damping`, the ratio of actual to predicted decrease
    as `gain_ratio`, and the trace of J J⁺ as `effective_rank`, to a few percent; NaN
    without a matrix.

    The loss must be a sum of squares or an energy: the step ignores regularizers, the
    line search includes them. For an energy, JᵀJ is half of its Hessian, from the
    second derivatives of its density, and the right side half of its gradient. A step
    then tries three μ and, with a matrix, four that multiply its diagonal (Marquardt),
    keeps that of the least energy at fresh points, and searches η from 2; momentum is
    ignored. Use a few thousand points per step, more than parameters; with fewer it
    overfits. An energy needs more, 16,384 by default, since its gradient does not
    vanish at each point.

    Args:
        damping: Initial μ, relative to the mean square of J's columns.
        momentum: m, in [0, 1). Use 0.9 to 0.99 with fewer rows than parameters: it
            keeps the information of earlier points in directions these do not
            determine (SPRING).
        form: `"dense"`, `"free"` (of matrices), or `"auto"`, dense if it fits
            `memory_limit`.
        halvings: Largest number of halvings of η.
        products: Largest number of products with JᵀJ per step without a matrix.
        rank: Number of products for its preconditioner.
        **kwargs: As for `keraspinn.optimizers.Optimizer`.

    Raises:
        ValueError: For arguments out of range.

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
        least, most = linear_solves.DAMPING_RANGE
        if not least <= real_number(damping) <= most:
            raise ValueError(
                f"`damping` must be from {least} to {most}. Received: {damping!r}"
            )
        if not 0 <= real_number(momentum) < 1:
            raise ValueError(f"`momentum` must be in [0, 1). Received: {momentum!r}")
        check_choice("form", form, FORMS)
        self.damping = float(damping)
        self.momentum = float(momentum)
        self.form = form
        self.halvings = halvings
        self.products = products
        self.rank = rank

    def flops_needed(self, gradient, rows, parameters):
        if self.form == "free":
            return 2 * self.products * gradient
        return 8 * gradient + 4 * rows * parameters * min(rows, parameters)

    def init(self, parameters):
        return {
            "damping": ops.convert_to_tensor(self.damping, parameters.dtype),
            "direction": ops.zeros_like(parameters),
        }

    def step(self, objective, parameters, state):
        rows = objective.residuals(parameters)
        sizes = rows.shape[0], parameters.shape[0]
        itemsize = np.dtype(ops.dtype(rows)).itemsize
        numbers = 2 * sizes[0] * sizes[1] + 3 * min(sizes) ** 2  # see `linear_solves`
        if objective.is_energy:  # JᵀJ and its copies, and rows at about P points
            most_rows = min(sizes[0], _ROWS_AT_A_POINT * sizes[1])
            numbers = 2 * most_rows * sizes[1] + 5 * sizes[1] ** 2
        fits = numbers * itemsize <= self.memory_limit
        is_dense = self.form == "dense" or (fits and self.form == "auto")
        if objective.is_energy:
            return energy_step(self, objective, parameters, state, is_dense)
        make = self._with_matrix if is_dense else self._without
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

        def moved(size):
            return parameters - size * direction - size**2 * bend

        size, reached = self.search(lambda size: judge.loss(moved(size)), loss)
        taken = reached < loss
        gain = ops.where(taken, 1 - reached / loss, 0.0) / promised
        kept = ops.where(gain > _POOR_RATIO, damping, damping * _RISE)
        damping = ops.where(gain > _GOOD_RATIO, damping / _FALL, kept)
        damping = ops.where(ops.isfinite(damping), damping, state["damping"])
        state = {
            "damping": ops.clip(damping, *linear_solves.DAMPING_RANGE),
            "direction": ops.where(taken, direction, ops.zeros_like(direction)),
        }
        logs = {
            "loss": objective.loss(parameters),
            "step_size": ops.where(taken, size, 0.0),
            "damping": state["damping"],
            "gain_ratio": gain,
            "effective_rank": rank,
        }
        return ops.where(taken, moved(size), parameters), state, logs

    def _with_matrix(self, objective, parameters, damping):
        """Return J and J⁺ as functions, the damping used, and the effective rank."""
        jacobian = objective.jacobian(parameters)
        scale = ops.sum(jacobian * jacobian) / parameters.shape[0]
        solve, used = linear_solves.dense_solver(jacobian, damping * scale)
        push = functools.partial(ops.matmul, jacobian)
        # Hutchinson's estimate of a trace; for a projection exact to √(2 / rank). The
        # signs are the same in each call.
        signs = np.random.default_rng(0).choice([-1.0, 1.0], jacobian.shape[0])
        signs = ops.convert_to_tensor(signs, jacobian.dtype)
        return push, solve, used / scale, ops.sum(signs * push(solve(signs)))

    def _without(self, objective, parameters, damping):
        """Return the same without the matrix J."""
        push = functools.partial(objective.jvp, parameters)

        def solve(rows):
            return solve_normal(objective.vjp(parameters, rows), scaled)

        solve_normal, trace = self.free_solver(objective, parameters)
        scaled = damping * trace / parameters.shape[0]
        return push, solve, damping, ops.full_like(damping, float("nan"))

    def free_solver(self, objective, parameters):
        """Return a function from b, μ to (JᵀJ + μI)⁻¹ b, and the trace of JᵀJ."""

        def product(v):
            return objective.vjp(parameters, objective.jvp(parameters, v))

        def solve(right, damping):
            system = product, right, damping
            return linear_solves.free_solve(*system, self.products, sketch)

        sketch, trace = linear_solves.nystroem(product, parameters, self.rank)
        return solve, trace

    def search(self, loss_at, before, longest=1.0):
        """Return the η = 2⁻ᵏ of the least loss before it rises, and that loss.

        Args:
            loss_at: Function of η.
            before: Loss at η = 0.
            longest: First η.
        """

        def going(trial, size, best, last):
            return (trial >= 0.5**self.halvings) & ((last <= best) | (best >= before))

        def halve(trial, size, best, last):
            value = loss_at(trial)
            value = ops.where(ops.isfinite(value), value, float("inf"))
            better = value < best
            size = ops.where(better, trial, size)
            return trial / 2, size, ops.where(better, value, best), value

        infinite = ops.full_like(before, float("inf"))
        first = longest * ops.ones_like(before)
        start = first, first, infinite, infinite
        _, size, best, _ = ops.while_loop(going, halve, start)
        return size, best
