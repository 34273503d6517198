"""Newton's method and pseudo-time steps for the steady state of a `CavityScheme`."""

import dataclasses
from collections.abc import Callable

import numpy as np

# Reynolds number up to which Newton converges from creeping flow in a few steps.
EASY_REYNOLDS = 50.0
# Bounds of the ratio of successive Reynolds numbers in the continuation.
LARGEST_RATIO = 2.0
SMALLEST_RATIO = 1.005
# Tolerance of solutions that are only guesses for the next Reynolds number.
GUESS_TOLERANCE = 1e-3
# Newton step below which stagnation is caused by round-off.
ROUNDING = 1e-9
# Ratio of the default step to the stability limit of the explicit scheme.
SAFETY = 0.8


class SteadyStateNotFound(RuntimeError):
    """Error of an iteration that diverged, stalled, or exhausted its steps."""


@dataclasses.dataclass(frozen=True)
class Stopping:
    """Stopping criteria, and a function that reports progress.

    Args:
        tolerance: Change of velocity below which the iteration stops.
        max_steps: Largest number of steps.
        report: Function of the number of a step and its change of velocity.
    """

    tolerance: float
    max_steps: int
    report: Callable[[int, float], None]


def newton(scheme, reynolds, stopping):
    """Solve by Newton's method, with continuation in the Reynolds number.

    The initial guess is the creeping flow. Each solution is the guess for a Reynolds
    number up to twice as high. The ratio decreases if Newton fails, and recovers.

    Returns:
        The streamfunction at the interior nodes.
    """
    budget = iter(range(1, stopping.max_steps + 1))
    on_the_way = dataclasses.replace(
        stopping, tolerance=max(stopping.tolerance, GUESS_TOLERANCE)
    )
    creeping, forcing = scheme.creeping_system()
    psi = _factorise(creeping).solve(forcing)
    reached, ratio = EASY_REYNOLDS, LARGEST_RATIO
    while True:
        target = min(reynolds, reached * ratio)
        goal = stopping if target == reynolds else on_the_way
        solution = _newton_at(scheme, psi, target, goal, budget)
        if solution is None:
            ratio = np.sqrt(target / reached)
            if ratio < SMALLEST_RATIO:
                raise SteadyStateNotFound(
                    f"Newton's iteration diverged on the way to reynolds={reynolds:g} "
                    f"on {scheme.n} cells a side (last Reynolds number tried: "
                    f"{target:.4g}). Use more cells (a larger n) or a lower Reynolds "
                    "number."
                )
        elif target == reynolds:
            return solution
        else:
            psi, reached = solution, target
            ratio = min(ratio**1.5, LARGEST_RATIO)


def _newton_at(scheme, psi, reynolds, stopping, budget):
    """Iterate at one Reynolds number; return `None` if the steps do not contract."""
    nu, previous = 1.0 / reynolds, np.inf
    for step in budget:
        try:
            inverse = _factorise(scheme.steady_jacobian(psi, nu))
        except RuntimeError:  # SuperLU's error for a singular matrix
            return None
        correction = inverse.solve(-scheme.steady_residual(psi, nu))
        psi = psi + correction
        change = scheme.velocity_change(correction)
        stopping.report(step, change)
        if change < stopping.tolerance:
            return psi
        if not change < previous:
            if change < ROUNDING:
                raise SteadyStateNotFound(
                    f"tolerance={stopping.tolerance:g} cannot be reached: Newton's "
                    f"steps stopped shrinking at {change:.1e}, where rounding begins. "
                    f"Write a larger tolerance, such as {ROUNDING:g}."
                )
            return None
        previous = change
    raise SteadyStateNotFound(
        f"Newton's method did not reach tolerance={stopping.tolerance:g} in "
        f"{stopping.max_steps} steps (last Reynolds number: {reynolds:.4g}; last "
        f"change of velocity: {previous:.1e}). Allow more with max_steps, or use a "
        "larger tolerance."
    )


def _factorise(matrix):
    # The pattern is symmetric. Partial pivoting would fill the factors in iterations
    # that diverge, and is not needed in others.
    from scipy.sparse.linalg import splu

    return splu(
        matrix.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=1e-3,
        options={"SymmetricMode": True},
    )


def stable_time_step(scheme, reynolds):
    """Return the stability limit of the explicit step, for speeds up to the lid's.

    Diffusion requires `Δt ≤ h² Re / 4`, advection `Δt ≤ 2 / (Re |u|²)`.
    """
    return min(0.25 * reynolds * scheme.h**2, 2.0 / reynolds)


def pseudo_time(scheme, reynolds, stopping, time_step):
    """Make explicit steps from rest to a steady state, as in the appendix.

    The stopping test takes the absolute value of the change, which is missing in the
    formula of the appendix. It begins after a minimum time, because from rest the drag
    of the lid acts slowly if Re h² is large.

    Returns:
        The streamfunction at the interior nodes.
    """
    nu = 1.0 / reynolds
    psi = np.zeros((scheme.n - 1) ** 2)
    omega = np.zeros_like(psi)
    for step in range(1, stopping.max_steps + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            omega = omega - time_step * scheme.steady_residual(psi, nu)
            previous, psi = psi, scheme.solve_poisson(omega)
            change = scheme.velocity_change(psi - previous) / time_step
        if not np.isfinite(change):
            smaller = min(SAFETY * stable_time_step(scheme, reynolds), 0.5 * time_step)
            raise SteadyStateNotFound(
                f"The velocity diverged at step {step} with time_step={time_step:g}. "
                f"Write time_step={smaller:.2g} or less, or method='newton'."
            )
        stopping.report(step, change)
        # Minimum time: one for advection by the lid, or Re for diffusion.
        if change < stopping.tolerance and step * time_step >= min(1.0, reynolds):
            return psi
    raise SteadyStateNotFound(
        f"The flow had not reached tolerance={stopping.tolerance:g} after "
        f"{stopping.max_steps} steps of {time_step:g}: its velocity still changes by "
        f"{change:.1e} per unit of time. Allow more with max_steps, use a larger "
        "tolerance, or method='newton'."
    )
