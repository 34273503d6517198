"""Steady incompressible flow in the lid-driven cavity, by finite differences."""

import numpy as np

from keraspinn.common.checks import check_count, positive_number

from .flow import CavityFlow
from .methods import SAFETY, Stopping, newton, pseudo_time, stable_time_step
from .pressure import pressure_of
from .scheme import CavityScheme

# Smallest number of cells a side.
SMALLEST_N = 8
# Largest accepted tolerance: a flow that changes faster is not steady.
LARGEST_TOLERANCE = 1e-2
# Defaults of the tolerance and of the number of steps, by method.
TOLERANCE = {"newton": 1e-10, "pseudo-time": 1e-4}
MAX_STEPS = {"newton": 200, "pseudo-time": 200_000}
# Pseudo-time step in the appendix of the paper.
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

    The unit square is filled with incompressible fluid. The lid `y = 1` moves to the
    right with speed 1, and the other walls are at rest. The streamfunction-vorticity
    equations

        ψ_y ω_x − ψ_x ω_y = Δω / Re,    Δψ = −ω

    are discretised with central differences of second order and Woods' formula for
    the vorticity on the walls. All quantities are nondimensional, by the side, the
    speed of the lid and the density.

    Both methods solve the same discrete equations. On a coarse grid at a high Reynolds
    number their solution can be far from the flow, or may not exist. So compare two
    grids.

    Args:
        reynolds: The Reynolds number, positive. Small values give creeping flow.
        n: Number of cells a side, at least 8; the grid has `(n + 1)²` nodes.
        method: `"newton"`, sparse Newton with continuation in the Reynolds number, or
            `"pseudo-time"`, explicit steps from rest as in the appendix. These are
            thousands of times as many.
        lid_streamfunction: `"zero"` for a sealed cavity, or `"half-cell"` for `ψ = h/2`
            on the lid as in the appendix. Then `h/2` of fluid leaks past the corners of
            the lid and through the cavity.
        tolerance: Stopping tolerance. For Newton, it bounds the velocity components of
            the last correction, by default 1e-10. In pseudo-time, it bounds the change
            of velocity components per unit of time, by default 1e-4 as in the appendix.
        time_step: Step in pseudo-time. By default it is 1e-3 as in the appendix, or 0.8
            times the stability limit if that is smaller.
        max_steps: Largest number of steps, by default 200 Newton steps in all, or
            200,000 in pseudo-time.
        verbose: 1 shows a progress bar with the change at each step.

    Returns:
        A `CavityFlow` with `psi`, `vorticity`, `u`, `v` and `pressure` at the nodes.

    Raises:
        ValueError: If an argument is out of range.
        SteadyStateNotFound: If the steps diverge or do not reach the tolerance. It is a
            `RuntimeError`.

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
    # Zero is the limit on the floor; below the lid there is none (see CavityFlow).
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
    import keras  # imported here, because the solver needs only SciPy

    bar = keras.utils.Progbar(None, unit_name="step", stateful_metrics=["change"])
    return lambda step, change: bar.update(step, [("change", change)])


def _check_choice(name, choice, choices):
    if choice not in list(choices):  # a list also accepts unhashable values
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
