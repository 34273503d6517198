"""Ten problems that ran before anything was tuned on them."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.verdicts.case import Case

X, Y, T = sp.symbols("x y t")


def logistic():
    """Declare n' = 2 n (1 − n/5) from n = 0.1, logistic growth."""
    n = sp.Function("n")(T)
    return kp.Problem(
        kp.geometry.Box(time={T: (0, 5)}),
        {"growth": sp.Eq(n.diff(T), 2 * n * (1 - n / 5))},
        {"initial": kp.Condition(sp.Eq(n, 0.1), on="initial")},
        {n: 5 / (1 + 49 * sp.exp(-2 * T))},
    )


def cooling_rod():
    """Declare u_t = 0.2 u_xx with u = 0 at both ends, two decaying modes."""
    u = sp.Function("u")(X, T)
    rate = sp.Rational(1, 5) * sp.pi**2
    exact = sp.exp(-rate * T) * sp.sin(sp.pi * X)
    exact += sp.exp(-9 * rate * T) * sp.sin(3 * sp.pi * X) / 2
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}),
        {"heat": sp.Eq(u.diff(T), u.diff(X, 2) / 5)},
        {
            "walls": kp.Condition(u, on="boundary"),
            "initial": kp.Condition(sp.Eq(u, exact.subs(T, 0)), on="initial"),
        },
        {u: exact},
    )


def fast_advection(speed=20):
    """Declare u_t + 20 u_x = 0, periodic; without time windows training often fails."""
    u = sp.Function("u")(X, T)
    return kp.Problem(
        kp.geometry.Box({X: (0, 2 * sp.pi)}, time={T: (0, 1)}, periodic=[X]),
        {"advection": u.diff(T) + speed * u.diff(X)},
        {"initial": kp.Condition(sp.Eq(u, sp.sin(X)), on="initial")},
        {u: sp.sin(X - speed * T)},
    )


def bratu():
    """Declare u'' + e^u = 0 with u = 0 at both ends, and its lower solution."""
    u = sp.Function("u")(X)
    theta = 1.5171645990507543  # smaller root of θ = √2 cosh(θ/4)
    exact = -2 * sp.log(sp.cosh(theta * (X - 0.5) / 2) / np.cosh(theta / 4))
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"bratu": u.diff(X, 2) + sp.exp(u)},
        {"walls": kp.Condition(u, on="boundary")},
        {u: exact},
    )


def boundary_layer(width=0.01):
    """Declare −ε u'' + u' = 1 with ε = 0.01 and u = 0 at both ends."""
    u = sp.Function("u")(X)
    layer = (sp.exp((X - 1) / width) - np.exp(-1 / width)) / (1 - np.exp(-1 / width))
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"transport": sp.Eq(-width * u.diff(X, 2) + u.diff(X), 1)},
        {"walls": kp.Condition(u, on="boundary")},
        {u: X - layer},
    )


def schroedinger():
    """Declare a coherent state in a harmonic trap, its two parts as fields."""
    a, b = (sp.Function(name)(X, T) for name in "ab")
    phase = T / 2 + X * sp.sin(T) - sp.sin(2 * T) / 4
    packet = sp.exp(-((X - sp.cos(T)) ** 2) / 2)
    exact = {a: packet * sp.cos(phase), b: -packet * sp.sin(phase)}
    at_first = [sp.Eq(field, exact[field].subs(T, 0)) for field in (a, b)]
    return kp.Problem(
        kp.geometry.Box({X: (-5, 5)}, time={T: (0, 1)}),
        {
            "real": sp.Eq(a.diff(T), -b.diff(X, 2) / 2 + X**2 * b / 2),
            "imaginary": sp.Eq(-b.diff(T), -a.diff(X, 2) / 2 + X**2 * a / 2),
        },
        {
            "walls": kp.Condition([a, b], on="boundary"),
            "initial": kp.Condition(at_first, on="initial"),
        },
        exact,
    )


def plate():
    """Declare ΔΔw = q for a simply supported square plate, loaded by one mode."""
    w = sp.Function("w")(X, Y)
    mode = sp.sin(sp.pi * X) * sp.sin(sp.pi * Y)
    laplacian = w.diff(X, 2) + w.diff(Y, 2)
    bending = laplacian.diff(X, 2) + laplacian.diff(Y, 2)
    return kp.Problem(
        kp.geometry.Box({X: (0, 1), Y: (0, 1)}),
        {"plate": sp.Eq(bending.doit(), 4 * sp.pi**4 * mode)},
        {
            "supported": kp.Condition([w, laplacian], on="boundary"),
        },
        {w: mode},
    )


def diffusivity():
    """Declare u_t = k u_xx with unknown k and 60 measurements with 5 % of noise."""
    u, k = sp.Function("u")(X, T), kp.Parameter("k", initial=0.5)
    generator = np.random.default_rng(1)
    points = generator.uniform(size=(60, 2))
    exact = np.exp(-0.1 * np.pi**2 * points[:, 1]) * np.sin(np.pi * points[:, 0])
    values = exact + 0.05 * generator.normal(size=60)
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}),
        {"heat": sp.Eq(u.diff(T), k * u.diff(X, 2))},
        {
            "walls": kp.Condition(u, on="boundary"),
            "initial": kp.Condition(sp.Eq(u, sp.sin(sp.pi * X)), on="initial"),
            "data": kp.Data(points, {u: values}),
        },
        {u: sp.exp(-(sp.pi**2) * T / 10) * sp.sin(sp.pi * X)},
    )


def pendulum():
    """Declare θ'' + 9 sin θ = 0 from rest at 2 rad, for a period and a half."""
    from scipy.integrate import solve_ivp

    angle = sp.Function("theta")(T)
    times = np.linspace(0, 4, 801)
    accurate = {"rtol": 1e-10, "atol": 1e-12}
    solution = solve_ivp(
        lambda t, y: [y[1], -9 * np.sin(y[0])], (0, 4), [2, 0], t_eval=times, **accurate
    )
    return kp.Problem(
        kp.geometry.Box(time={T: (0, 4)}),
        {"pendulum": angle.diff(T, 2) + 9 * sp.sin(angle)},
        {"initial": kp.Condition([sp.Eq(angle, 2), angle.diff(T)], on="initial")},
        kp.Reference(times[:, None], {angle: solution.y[0]}),
    )


def screened_disk():
    """Declare Δu − 4 u = f in a disk with a Robin condition."""
    u = sp.Function("u")(X, Y)
    exact = sp.exp(-X) * sp.cos(2 * Y)
    disk = kp.geometry.Disk((0, 0), 1.0, coordinates=(X, Y))
    operator = u.diff(X, 2) + u.diff(Y, 2) - 4 * u
    source = operator.subs(u, exact).doit()
    outward = X * exact.diff(X) + Y * exact.diff(Y)
    rim = sp.Eq(kp.normal_derivative(u, disk) + u, outward + exact)
    return kp.Problem(
        disk,
        {"screened": sp.Eq(operator, source)},
        {"rim": kp.Condition(rim, on="boundary")},
        {u: exact},
    )


HELD_BACK = {
    "logistic": Case(logistic, 16, 2, 1000, 300, held_back=True),
    "cooling_rod": Case(cooling_rod, 20, 3, 1500, 500, held_back=True),
    "fast_advection": Case(fast_advection, 30, 3, 1500, 500, held_back=True),
    "bratu": Case(bratu, 16, 2, 1000, 300, held_back=True),
    "boundary_layer": Case(boundary_layer, 20, 2, 1500, 500, held_back=True),
    "schroedinger": Case(schroedinger, 20, 3, 1500, 500, held_back=True),
    "plate": Case(plate, 20, 2, 1500, 500, held_back=True),
    "diffusivity": Case(
        diffusivity, 20, 2, 1500, 500, parameters={"k": 0.1}, held_back=True
    ),
    "pendulum": Case(pendulum, 20, 2, 1500, 500, held_back=True),
    "screened_disk": Case(screened_disk, 20, 2, 1500, 500, held_back=True),
}
