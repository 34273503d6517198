"""Gauss–Newton steps for an energy: its gradient, and rows of its second variation.

    d = (JᵀJ + μD)⁻¹ g / 2,      θ ← θ − η d

JᵀJ is half the energy's Hessian, as for a sum of squares r², where g / 2 = Jᵀr. An
energy may be negative, so nothing is relative to it. D is a multiple of I (Levenberg)
or, with a matrix, the diagonal of JᵀJ (Marquardt). The first is better beside strong
nonlinearities such as a penalty; the second trains bending beside stretching that takes
a thousand times its energy. Of three μ around the last one for the first, and four
constant ones for the second, that of the least energy at fresh points is used, and so
is the best η from 2 downwards: damped steps are often too short.

Sources: Müller & Zeinhofer, "Achieving high accuracy with PINNs via energy natural
gradient descent", arXiv 2302.13163; Marquardt, "An algorithm for least-squares
estimation of nonlinear parameters", doi:10.1137/0111030 (D).
"""

import numpy as np
from keras import ops

from keraspinn.optimizers import linear_solves

# Steel cantilever, 20 × 2 units, 1,024 points: error of the tip after 60 steps 0.25 %;
# with η ≤ 1 0.59 %, with 14 values of μ from 1e-13 to 1 and η ≤ 1 0.57 %, each step
# three times as long.
_TRIED, _RATIO = 3, 0.2  # values of μ, and each one's ratio to the last
_LONGEST = 2.0  # η
# Values 1, 0.1, … of μ relative to the diagonal. Error of a wrench's tip after 60 steps
# 4.9 %, without them 7.7 %, and with them alone 3.9 %; of a string on an obstacle
# (penalty 1e4) 7e-4, 2.7e-3 and 2.4e-2. A step takes half as long again.
_TRIED_RELATIVE = 4
_LEAST = 1e-8  # entry of the diagonal, relative to its mean


def energy_step(optimizer, objective, parameters, state, is_dense):
    """Return new parameters, state and logs of one step.

    Args:
        optimizer: The `GaussNewton`.
        objective: An `Objective` with an energy.
        parameters: The parameters, `(P,)`.
        state: The optimizer's state.
        is_dense: Whether to build JᵀJ.
    """
    loss, gradient = objective.value_and_gradient(parameters)
    if is_dense:
        solve = _dense_solver(objective.jacobian(parameters), gradient / 2)
    else:
        solve = _free_solver(optimizer, objective, parameters, gradient / 2)
    judge = objective.fresh()
    before = judge.loss(parameters)

    def going(number, *_):
        return number < (_TRIED + _TRIED_RELATIVE if is_dense else _TRIED)

    def attempt(number, trial, best, kept, direction, rank):
        is_relative = number >= _TRIED
        power = ops.cast(_TRIED - number, trial.dtype)
        relative = ops.where(is_relative, 10.0**power, trial)
        change, trial_rank = solve(relative, is_relative)
        value = judge.loss(parameters - change)
        better = (value < best) & ops.isfinite(value)
        used = better | (number == 0)
        direction = ops.where(used, change, direction)
        rank = ops.where(used, trial_rank, rank)
        kept = ops.where(better & ~is_relative, trial, kept)
        best = ops.where(better, value, best)
        return number + 1, trial * _RATIO, best, kept, direction, rank

    first = ops.minimum(state["damping"] / _RATIO, linear_solves.DAMPING_RANGE[1])
    infinite = ops.full_like(before, float("inf"))
    start = ops.convert_to_tensor(0), first, infinite, first, 0 * parameters, infinite
    *_, damping, direction, rank = ops.while_loop(going, attempt, start)
    size, reached = optimizer.search(
        lambda size: judge.loss(parameters - size * direction), before, _LONGEST
    )
    taken = reached < before
    # Where the whole of the step was too long, less would have been better.
    damping = ops.where(size < 1, damping / _RATIO, damping)
    damping = ops.clip(damping, *linear_solves.DAMPING_RANGE)
    promised = ops.sum(gradient * direction) / 2
    logs = {
        "loss": loss,
        "step_size": ops.where(taken, size, 0.0),
        "damping": damping,
        "gain_ratio": ops.where(taken, (before - reached) / promised, 0.0),
        "effective_rank": rank,
    }
    state = {"damping": damping, "direction": ops.where(taken, direction, 0.0)}
    return ops.where(taken, parameters - size * direction, parameters), state, logs


def _dense_solver(jacobian, right):
    """Return a function from μ, and whether D is JᵀJ's diagonal, to (JᵀJ + μD)⁻¹ b.

    It also returns Hutchinson's estimate of the trace of JᵀJ (JᵀJ + μD)⁻¹.
    """
    matrix = linear_solves.lower_product(ops.transpose(jacobian))
    squares = ops.diagonal(matrix)
    mean = linear_solves.positive_or_one(ops.mean(squares))

    def solve(damping, is_relative):
        scales = ops.where(is_relative, ops.maximum(squares, _LEAST * mean), mean)
        scales = ops.sqrt(scales)
        scaled = matrix / scales / scales[:, None]
        factor, damping = linear_solves.damped_factor(scaled, damping)
        lost = damping * ops.sum(signs * linear_solves.solved(factor, signs))
        change = linear_solves.solved(factor, right / scales) / scales
        return change, right.shape[0] - lost

    signs = np.random.default_rng(0).choice([-1.0, 1.0], right.shape[0])
    signs = ops.convert_to_tensor(signs, right.dtype)
    return solve


def _free_solver(optimizer, objective, parameters, right):
    """Return the same without a matrix, for D = I."""
    solve, trace = optimizer.free_solver(objective, parameters)
    scale, unknown = trace / parameters.shape[0], ops.full_like(trace, float("nan"))
    return lambda damping, _: (solve(right, damping * scale), unknown)
