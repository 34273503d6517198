"""Problems of the study, with the settings of their training."""

import dataclasses

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.long_times.spectral import etdrk4, wave_numbers
from examples.second_stage.cavity import (
    cavity,
    cavity_parabolic,
    cavity_regularised,
    cavity_split,
)

X, Y, T = sp.symbols("x y t")


@dataclasses.dataclass(frozen=True)
class Case:
    """Problem, with the network and numbers of points for its training.

    Attributes:
        problem: Function without arguments that returns the `Problem`.
        units: Units of each hidden layer.
        depth: Number of hidden layers.
        points: Number of points inside in a step of the second stage.
        faces: Number of points of each condition in a step of the second stage.
        held_back: Whether the case ran before anything was tuned on it.
    """

    problem: object
    units: int = 30
    depth: int = 3
    points: int = 3000
    faces: int = 200
    held_back: bool = True


def burgers(viscosity=0.01 / np.pi):
    """Declare u_t + u u_x = ν u_xx with the initial condition u = −sin(πx)."""
    u = sp.Function("u")(X, T)
    domain = kp.geometry.Box({X: (-1, 1)}, time={T: (0, 1)})
    points = domain.grid(100)
    return kp.Problem(
        domain,
        {"burgers": u.diff(T) + u * u.diff(X) - viscosity * u.diff(X, 2)},
        {
            "walls": kp.Condition(u, on="boundary"),
            "initial": kp.Condition(sp.Eq(u, -sp.sin(sp.pi * X)), on="initial"),
        },
        kp.Reference(points, {u: cole_hopf(points, viscosity)}),
    )


def cole_hopf(points, viscosity, nodes=1000):
    """Return the Cole–Hopf solution by Gauss–Hermite quadrature, `(n,)`."""
    from scipy.special import roots_hermite

    x, t = points.T[..., None]
    z, weights = roots_hermite(nodes)
    shift = 2 * np.sqrt(viscosity * t) * z
    exponent = -np.cos(np.pi * (x - shift)) / (2 * np.pi * viscosity)
    mass = weights * np.exp(exponent - exponent.max(axis=-1, keepdims=True))
    moving = (-np.sin(np.pi * (x - shift)) * mass).sum(-1) / mass.sum(-1)
    return np.where(points[:, 1] == 0, -np.sin(np.pi * points[:, 0]), moving)


def allen_cahn(width=1e-3):
    """Declare u_t = ε u_xx + 5 (u − u³) from x² cos(πx), with u = −1 at both ends."""
    u = sp.Function("u")(X, T)
    domain = kp.geometry.Box({X: (-1, 1)}, time={T: (0, 1)})
    points = domain.grid(100)
    return kp.Problem(
        domain,
        {"allen_cahn": u.diff(T) - width * u.diff(X, 2) - 5 * (u - u**3)},
        {
            "walls": kp.Condition(u + 1, on="boundary"),
            "initial": kp.Condition(sp.Eq(u, X**2 * sp.cos(sp.pi * X)), on="initial"),
        },
        kp.Reference(points, {u: chebyshev_allen_cahn(points, width)}),
    )


def allen_cahn_sharp(width=1e-4):
    """Declare the periodic problem of Raissi et al., which has thin fronts."""
    u = sp.Function("u")(X, T)
    domain = kp.geometry.Box({X: (-1, 1)}, time={T: (0, 1)}, periodic=[X])
    points = domain.grid(100)
    return kp.Problem(
        domain,
        {"allen_cahn": u.diff(T) - width * u.diff(X, 2) - 5 * (u - u**3)},
        {"initial": kp.Condition(sp.Eq(u, X**2 * sp.cos(sp.pi * X)), on="initial")},
        kp.Reference(points, {u: fourier_allen_cahn(points, width)}),
    )


def fourier_allen_cahn(points, width, modes=8192, steps=10):
    """Solve the Allen–Cahn equation by a Fourier series and ETDRK4.

    With 2,048 modes, the kink of the initial value leaves an error of 2.4e-6.

    Args:
        points: Points of a grid with equidistant times from 0 on, `(N, 2)`.
        width: Diffusion coefficient.
        modes: Number of points of the period.
        steps: Number of time steps between two times.
    """
    (offsets, columns), (times, rows) = (
        np.unique(points[:, k], return_inverse=True) for k in (0, 1)
    )
    nodes, ik = -1 + 2 * np.arange(modes) / modes, 1j * wave_numbers(modes, 2)
    stored = len(times) - 1
    series = etdrk4(
        width * ik**2 + 5,
        lambda v, _: np.fft.fft(-5 * np.fft.ifft(v).real ** 3),
        np.fft.fft(nodes**2 * np.cos(np.pi * nodes)),
        times[-1],
        steps * stored,
        stored,
    )
    values = (np.exp(np.outer(offsets + 1, ik)) @ series.T / modes).real
    return values[columns, rows]


def chebyshev_allen_cahn(points, width, degree=400):
    """Solve the Allen–Cahn equation by Chebyshev collocation and a stiff integrator."""
    from scipy.integrate import solve_ivp
    from scipy.interpolate import BarycentricInterpolator

    angle = np.pi * np.arange(degree + 1) / degree
    nodes = np.cos(angle)
    scale = np.r_[2.0, np.ones(degree - 1), 2.0] * (-1.0) ** np.arange(degree + 1)
    gap = nodes[:, None] - nodes + np.eye(degree + 1)
    first = np.outer(scale, 1 / scale) / gap
    first -= np.diag(first.sum(1))
    second = (first @ first)[1:-1]

    def rate(_, inner):
        values = np.r_[-1.0, inner, -1.0]
        return width * second @ values + 5 * (inner - inner**3)

    def jacobian(_, inner):
        return width * second[:, 1:-1] + np.diag(5 - 15 * inner**2)

    initial = (nodes**2 * np.cos(np.pi * nodes))[1:-1]
    moments = np.unique(points[:, 1])
    inner = solve_ivp(
        rate, (0, 1), initial, "Radau", moments, jac=jacobian, rtol=1e-10, atol=1e-12
    ).y
    values = np.empty(len(points))
    for number, moment in enumerate(moments):
        now = points[:, 1] == moment
        column = np.r_[-1.0, inner[:, number], -1.0]
        values[now] = BarycentricInterpolator(nodes, column)(points[now, 0])
    return values


def wave(speed=2):
    """Declare u_tt = c² u_xx with modes 1 and 4 and zero initial velocity."""
    u = sp.Function("u")(X, T)
    exact = sum(
        amplitude * sp.sin(k * sp.pi * X) * sp.cos(k * speed * sp.pi * T)
        for k, amplitude in ((1, 1), (4, sp.Rational(1, 2)))
    )
    initial = exact.subs(T, 0)
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}),
        {"wave": u.diff(T, 2) - speed**2 * u.diff(X, 2)},
        {
            "ends": kp.Condition(u, on="boundary"),
            "initial": kp.Condition([sp.Eq(u, initial), u.diff(T)], on="initial"),
        },
        {u: exact},
    )


def kovasznay(reynolds=20):
    """Declare Kovasznay's flow behind a grid, whose solution is a closed form."""
    u, v, p = (sp.Function(name)(X, Y) for name in "uvp")
    rate = sp.Rational(reynolds, 2)
    rate = rate - sp.sqrt(rate**2 + 4 * sp.pi**2)
    grown = sp.exp(rate * X)
    exact = {
        u: 1 - grown * sp.cos(2 * sp.pi * Y),
        v: rate / (2 * sp.pi) * grown * sp.sin(2 * sp.pi * Y),
        p: (1 - sp.exp(2 * rate * X)) / 2,
    }

    def momentum(w, pressure_gradient):
        viscous = (w.diff(X, 2) + w.diff(Y, 2)) / reynolds
        return u * w.diff(X) + v * w.diff(Y) + pressure_gradient - viscous

    domain = kp.geometry.Box({X: (-0.5, 1), Y: (-0.5, 1.5)})
    return kp.Problem(
        domain,
        {
            "x": momentum(u, p.diff(X)),
            "y": momentum(v, p.diff(Y)),
            "continuity": u.diff(X) + v.diff(Y),
        },
        {
            "walls": kp.Condition([u - exact[u], v - exact[v]], on="boundary"),
            "outlet": kp.Condition(p - exact[p], on={X: 1}),
        },
        exact,
    )


def helmholtz_hard():
    """Declare the paper's Helmholtz equation with the hard constraint u = 0."""
    problem = kp.problems.helmholtz()
    (u,) = problem.fields
    return kp.Problem(
        problem.domain,
        problem.equations,
        {"boundary": kp.Condition(u, on="boundary", hard=True)},
        problem.reference,
    )


def scaled(declare, *arguments):
    """Return a function that declares a problem with automatic scales."""
    return lambda: declare(*arguments).with_scales("auto")


CASES = {
    "helmholtz": Case(scaled(kp.problems.helmholtz), held_back=False),
    "helmholtz_hard": Case(helmholtz_hard),
    "klein_gordon": Case(scaled(kp.problems.klein_gordon), held_back=False),
    "poisson-1": Case(scaled(kp.problems.poisson, 1), units=20, depth=2, points=500),
    "poisson-4": Case(scaled(kp.problems.poisson, 4), units=20, depth=2, points=500),
    "poisson-16": Case(scaled(kp.problems.poisson, 16), depth=2, points=500),
    "burgers": Case(burgers, units=20, depth=4),
    "allen_cahn": Case(allen_cahn),
    "allen_cahn_sharp": Case(allen_cahn_sharp, held_back=False),
    "wave": Case(wave, units=40, held_back=False),
    "kovasznay": Case(kovasznay),
    "cavity": Case(cavity, faces=1600, held_back=False),
    "cavity_velocity": Case(
        lambda: cavity("velocity-pressure"), faces=1600, held_back=False
    ),
    "cavity_split": Case(cavity_split),
    "cavity_split_velocity": Case(lambda: cavity_split("velocity-pressure")),
    "cavity_regularised": Case(cavity_regularised),
    "cavity_parabolic": Case(cavity_parabolic),
    "cavity_regularised_velocity": Case(
        lambda: cavity_regularised("velocity-pressure")
    ),
}
