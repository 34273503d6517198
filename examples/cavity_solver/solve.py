"""Steady incompressible flow in the lid-driven cavity, by finite differences."""

import numpy as np

from keraspinn.common.checks import check_count, positive_number

from .flow import CavityFlow
from .methods import SAFETY, Stopping, newton, pseudo_time, stable_time_step
from .pressure import pressure_of
from .scheme import CavityScheme

SMALLEST_N = 8
# A velocity that changes faster than this is no steady state.
LARGEST_TOLERANCE = 1e-2
TOLERANCE = {"newton": 1e-10, "pseudo-time": 1e-4}
MAX_STEPS = {"newton": 200, "pseudo-time": 200_000}
APPENDIX_TIME_STEP = 1e-3


def lid_driven_cavity(
    reynolds: float,
    n: int,
    *,
    method: str = "newton",
    lid_streamfunction: str = "zero",
    tolerance: float | None = None,
    time_step: float | None = None,
    max_steps: int | None = None,
    verbose: int = 0,
) -> CavityFlow:
    """Solve for the steady flow in a square cavity whose lid slides.

    The unit square is filled with incompressible fluid; the lid `y = 1` moves to the
    right with speed 1, the other walls stand still. The streamfunction-vorticity
    equations

        ψ_y ω_x − ψ_x ω_y = Δω / Re,    Δψ = −ω

    are discretised with central differences of second order and Woods' formula for
    the vorticity on the walls. Everything is nondimensional, by the side, the lid's
    speed and the density.

    Both methods solve the same discrete equations. The field is theirs, not the
    continuum's: a coarse grid at a high Reynolds number gives a solution far from the
    flow, or none at all, so compare two grids.

    Args:
        reynolds: The Reynolds number, positive. Small values give creeping flow.
        n: Number of cells a side, at least 8; the grid has `(n + 1)²` nodes.
        method: `"newton"`, sparse Newton with continuation in the Reynolds number, or
            `"pseudo-time"`, the appendix's explicit steps from rest, thousands of
            times as many.
        lid_streamfunction: `"zero"`, a sealed cavity, or `"half-cell"`, the appendix's
            `ψ = h/2` on the lid, which lets `h/2` of fluid leak past the lid's
            corners and through the cavity.
        tolerance: When to stop. For Newton, the largest velocity component of the
            last correction, 1e-10 by default; in pseudo-time, the largest change of a
            velocity component per unit of time, 1e-4 by default as in the appendix.
        time_step: The step in pseudo-time. By default the appendix's 1e-3, or 0.8
            times the stability limit where that is less.
        max_steps: Most steps before giving up: 200 Newton steps in all, or 200,000
            in pseudo-time, by default.
        verbose: 1 shows a progress bar with the change at each step.

    Returns:
        A `CavityFlow` with `psi`, `vorticity`, `u`, `v` and `pressure` at the nodes.

    Raises:
        ValueError: An argument is out of range.
        SteadyStateNotFound: The steps diverge or do not reach the tolerance. It is a
            `RuntimeError`; no field is returned.

    Example:
        >>> flow = lid_driven_cavity(reynolds=100, n=64)
        >>> centre = flow.at([[0.5, 0.5]])
        >>> print(f"{centre['u'][0]:.2f} {centre['v'][0]:.2f}")
        -0.21 0.06

    Reference:
        S. Wang, Y. Teng, P. Perdikaris, *Understanding and mitigating gradient
        pathologies in physics-informed neural networks*, appendix on the finite
        difference approximation. Compared with U. Ghia, K. N. Ghia, C. T. Shin (1982)
        and O. Botella, R. Peyret, *Benchmark spectral results on the lid-driven
        cavity flow* (1998).
    """
    reynolds = positive_number("reynolds", reynolds)
    n = check_count("n", n, least=SMALLEST_N)
    _check_choice("method", method, TOLERANCE)
    lid_values = {"zero": 0.0, "half-cell": 0.5 / n}
    _check_choice("lid_streamfunction", lid_streamfunction, lid_values)
    stopping = Stopping(
        tolerance=_check_tolerance(tolerance, TOLERANCE[method]),
        max_steps=check_count("max_steps", max_steps, None) or MAX_STEPS[method],
        report=_progress_bar() if verbose else _silence,
    )

    scheme = CavityScheme(n, lid_values[lid_streamfunction])
    if method == "newton":
        if time_step is not None:
            raise ValueError(
                "`time_step` belongs to method='pseudo-time'. Received "
                f"time_step={time_step!r} with method='newton'; leave one of them out."
            )
        psi = newton(scheme, reynolds, stopping)
    else:
        if time_step is None:
            limit = stable_time_step(scheme, reynolds)
            time_step = min(APPENDIX_TIME_STEP, SAFETY * limit)
        time_step = positive_number("time_step", time_step)
        psi = pseudo_time(scheme, reynolds, stopping, time_step)
    return _flow(scheme, psi, reynolds)


def _flow(scheme, psi, reynolds):
    """Return all fields on all nodes, from the streamfunction inside."""
    inside = (scheme.n - 1, scheme.n - 1)
    u, v = np.zeros(scheme.shape), np.zeros(scheme.shape)
    u[1:-1, 1:-1], v[1:-1, 1:-1] = (
        part.reshape(inside) for part in scheme.velocity(psi)
    )
    u[:, -1] = 1.0

    vorticity = scheme.vorticity(psi).reshape(scheme.shape)
    # Zero is the limit on the floor; under the lid there is none (see CavityFlow).
    vorticity[0, -1] = 0.5 * (vorticity[1, -1] + vorticity[0, -2])
    vorticity[-1, -1] = 0.5 * (vorticity[-2, -1] + vorticity[-1, -2])
    return CavityFlow(
        reynolds=reynolds,
        x=np.linspace(0.0, 1.0, scheme.n + 1),
        y=np.linspace(0.0, 1.0, scheme.n + 1),
        psi=scheme.streamfunction(psi).reshape(scheme.shape),
        vorticity=vorticity,
        u=u,
        v=v,
        pressure=pressure_of(reynolds, u, v, vorticity),
    )


def _silence(step, change):
    pass


def _progress_bar():
    import keras  # here, so that the solver alone needs SciPy only

    bar = keras.utils.Progbar(None, unit_name="step", stateful_metrics=["change"])
    return lambda step, change: bar.update(step, [("change", change)])


def _check_choice(name, choice, choices):
    if choice not in list(choices):  # a list, so that unhashable values get here too
        raise ValueError(
            f"`{name}` must be one of {', '.join(map(repr, choices))}. Received "
            f"{name}={choice!r}; write {name}={next(iter(choices))!r}."
        )


def _check_tolerance(tolerance, default):
    number = default if tolerance is None else positive_number("tolerance", tolerance)
    if number > LARGEST_TOLERANCE:
        raise ValueError(
            f"`tolerance` must be at most {LARGEST_TOLERANCE:g}: a flow that changes "
            f"faster is not steady. Received: {tolerance!r}; write {default:g}."
        )
    return number
