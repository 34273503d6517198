"""Problems with a typical fault: the loss is small and the solution wrong."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.verdicts.case import Case

X, Y, T = sp.symbols("x y t")


def steady_shock():
    """Declare u u' = 0.05 u'' from 1 to −1: residuals hardly determine the shock."""
    u = sp.Function("u")(X)
    return kp.Problem(
        kp.geometry.Box({X: (-1, 2)}),
        {"burgers": sp.Eq(u * u.diff(X), 0.05 * u.diff(X, 2))},
        {
            "left": kp.Condition(sp.Eq(u, 1), on={X: -1}),
            "right": kp.Condition(sp.Eq(u, -1), on={X: 2}),
        },
        {u: -sp.tanh(10 * (X - sp.Rational(1, 2)))},
    )


def bolus(width=1e-5):
    """Declare c' = −c/3 + a dose of 3 at t = 4, shorter than the spacing of points."""
    c = sp.Function("c")(T)
    source = 3 / (width * sp.sqrt(sp.pi)) * sp.exp(-(((T - 4) / width) ** 2))
    times = np.linspace(0, 12, 1001)
    dose = np.where(times > 4, 3 * np.exp(-(times - 4) / 3), 0.0)
    return kp.Problem(
        kp.geometry.Box(time={T: (0, 12)}),
        {"decay": sp.Eq(c.diff(T), -c / 3 + source)},
        {"initial": kp.Condition(sp.Eq(c, 1), on="initial")},
        kp.Reference(times[:, None], {c: np.exp(-times / 3) + dose}),
    )


def two_layers():
    """Declare (k(T) T')' = 0 with k = 1 + T/10 for r < 1.5, and k = 0.1 for r > 1.5."""
    temperature = sp.Function("T")(X)
    k = sp.Piecewise((1 + temperature / 10, X < 1.5), (0.1, True))
    end = 110**0.5 - 10 + 5
    points = np.linspace(1, 2, 1001)
    # T + T²/20 = r − 1 for r < 1.5; the gradient is 10 for r > 1.5.
    inner = np.sqrt(100 + 20 * (np.minimum(points, 1.5) - 1)) - 10
    values = inner + 10 * np.maximum(points - 1.5, 0)
    return kp.Problem(
        kp.geometry.Box({X: (1, 2)}),
        {"heat": (k * temperature.diff(X)).diff(X)},
        {
            "inner": kp.Condition(temperature, on={X: 1}),
            "outer": kp.Condition(sp.Eq(temperature, end), on={X: 2}),
        },
        kp.Reference(points[:, None], {temperature: values}),
    )


# Length and height of the fin, heat transfer coefficient, and temperature of the base
# above the air: m, m, W/(m² K), K.
LENGTH, HEIGHT, COOLING, EXCESS = 0.05, 0.004, 100.0, 100.0


def fin(offset=0.0):
    """Declare a cooling fin whose conductivity depends on temperature.

    The base is 100 K warmer than the air.

    Args:
        offset: Constant added to degrees Celsius, 273.15 for kelvin.
    """
    temperature = sp.Function("T")(X, Y)
    air = 20.0 + offset
    k = 15.0 * (1 + 3e-3 * (temperature - air))
    domain = kp.geometry.Box({X: (0, LENGTH), Y: (0, HEIGHT)})
    flux = -k * kp.normal_derivative(temperature, domain)
    heat = (k * temperature.diff(X)).diff(X) + (k * temperature.diff(Y)).diff(Y)
    points, values = fin_by_volumes()
    return kp.Problem(
        domain,
        {"heat": heat},
        {
            "base": kp.Condition(
                sp.Eq(temperature, air + EXCESS), on={X: 0}, hard=True
            ),
            "convection": kp.Condition(
                sp.Eq(flux, COOLING * (temperature - air)),
                on=[{X: LENGTH}, {Y: 0}, {Y: HEIGHT}],
            ),
        },
        kp.Reference(points, {temperature: air + values}),
    )


def fin_by_volumes(columns=250, rows=20):
    """Return centres of finite volumes and excess temperatures, by Picard iteration."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.linalg import spsolve

    dx, dy = LENGTH / columns, HEIGHT / rows
    number = np.arange(columns * rows).reshape(columns, rows)
    excess = np.full(number.shape, EXCESS)
    inner = np.concatenate(
        [
            np.stack([number[:-1].ravel(), number[1:].ravel()], -1),
            np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], -1),
        ]
    )
    shape = np.repeat([dy / dx, dx / dy], [(columns - 1) * rows, columns * (rows - 1)])
    for _ in range(12):
        k = 15.0 * (1 + 3e-3 * excess)
        between = shape * k.ravel()[inner].mean(axis=-1)
        diagonal, right = np.zeros(number.shape), np.zeros(number.shape)
        base = 15.0 * (1 + 3e-3 * EXCESS) * dy / (dx / 2)
        diagonal[0] += base
        right[0] += base * EXCESS
        for face, size, half in (
            (np.s_[-1], dy, dx / 2),
            (np.s_[:, 0], dx, dy / 2),
            (np.s_[:, -1], dx, dy / 2),
        ):
            diagonal[face] += size / (1 / COOLING + half / k[face])
        first, second = inner.T
        all_volumes = number.ravel()
        row = np.concatenate([first, second, first, second, all_volumes])
        column = np.concatenate([first, second, second, first, all_volumes])
        entries = np.concatenate([between, between, -between, -between])
        entries = np.concatenate([entries, diagonal.ravel()])
        excess = spsolve(coo_matrix((entries, (row, column))).tocsc(), right.ravel())
        excess = excess.reshape(number.shape)
    x, y = ((np.arange(n) + 0.5) * d for n, d in ((columns, dx), (rows, dy)))
    points = np.stack([axis.ravel() for axis in np.meshgrid(x, y, indexing="ij")], -1)
    return points, excess.ravel()


def steel_cantilever(modulus=210e9, poisson=0.3, length=0.12, height=0.03, load=1e6):
    """Declare plane stress in SI units and strong form.

    The reference is Timoshenko's solution.
    """
    u, v = (sp.Function(name)(X, Y) for name in "uv")
    gradient = sp.Matrix([u, v]).jacobian([X, Y])
    strain = (gradient + gradient.T) / 2
    trace = poisson * strain.trace() * sp.eye(2)
    stress = modulus / (1 - poisson**2) * ((1 - poisson) * strain + trace)
    force, inertia, y = load * height, height**3 / 12, Y - height / 2
    factor = force / (6 * modulus * inertia)
    across = (4 + 5 * poisson) * height**2 * X / 4 + (3 * length - X) * X**2
    exact = {
        u: factor
        * y
        * ((6 * length - 3 * X) * X + (2 + poisson) * (y**2 - height**2 / 4)),
        v: -factor * (3 * poisson * y**2 * (length - X) + across),
    }
    return kp.Problem(
        kp.geometry.Box({X: (0, length), Y: (0, height)}),
        {
            "x": stress[0, 0].diff(X) + stress[0, 1].diff(Y),
            "y": stress[0, 1].diff(X) + stress[1, 1].diff(Y),
        },
        {
            "clamp": kp.Condition([u, v], on={X: 0}, hard=True),
            "load": kp.Condition(
                [stress[0, 0], sp.Eq(stress[0, 1], -load)], on={X: length}
            ),
            "free": kp.Condition(
                [stress[0, 1], stress[1, 1]], on=[{Y: 0}, {Y: height}]
            ),
        },
        exact,
    )


def sphere(multiplied):
    """Declare the Laplace–Beltrami equation on a sphere.

    Args:
        multiplied: Whether to multiply the equation by sin², which removes its poles.
    """
    a, b = sp.symbols("theta phi")
    u = sp.Function("u")(a, b)
    exact = sp.sin(a) * sp.cos(a) * sp.cos(b)
    operator = (sp.sin(a) * u.diff(a)).diff(a) / sp.sin(a)
    operator += u.diff(b, 2) / sp.sin(a) ** 2
    equation = operator + 6 * exact
    if multiplied:
        equation = sp.expand(equation * sp.sin(a) ** 2)
    return kp.Problem(
        kp.geometry.Box({a: (0, sp.pi), b: (0, 2 * sp.pi)}, periodic=[b]),
        {"beltrami": equation},
        {"gauge": kp.Condition(kp.integral(u * sp.sin(a)))},
        {u: exact},
    )


def standing_mode():
    """Declare a u_tt − b u_xx + c u = f with measurements of one mode.

    The coefficients are not identifiable: f = sin(πx) cos(πt), so that all a, b and c
    with π² (b − a) + c = 1 satisfy the equation.
    """
    u = sp.Function("u")(X, T)
    a, b, c = (kp.Parameter(name, initial=1.2) for name in "abc")
    mode = sp.sin(sp.pi * X) * sp.cos(sp.pi * T)
    points = np.random.default_rng(0).uniform(size=(100, 2))
    values = np.sin(np.pi * points[:, 0]) * np.cos(np.pi * points[:, 1])
    left = a * u.diff(T, 2) - b * u.diff(X, 2) + c * u
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}),
        {"wave": sp.Eq(left, mode)},
        {
            "walls": kp.Condition(u, on="boundary"),
            "data": kp.Data(points, {u: values}),
        },
        {u: mode},
    )


def sensors(gain=1.0, noise=0.0, count=40):
    """Declare −u'' = 2 with u = 0 at both ends, and measurements of u.

    Args:
        gain: Factor of the measurements.
        noise: Standard deviation, relative to the largest u.
        count: Number of measurements.
    """
    u = sp.Function("u")(X)
    exact = X * (1 - X)
    points = np.linspace(0.03, 0.97, count)
    values = gain * points * (1 - points)
    values = values + 0.25 * noise * np.random.default_rng(0).normal(size=count)
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"heat": sp.Eq(-u.diff(X, 2), 2)},
        {
            "walls": kp.Condition(u, on="boundary"),
            "sensors": kp.Data(points[:, None], {u: values}),
        },
        {u: exact},
    )


def contradiction():
    """Declare −u'' = 2 with u = 0 at both ends and a contradictory condition."""
    u = sp.Function("u")(X)
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"heat": sp.Eq(-u.diff(X, 2), 2)},
        {
            "walls": kp.Condition(u, on="boundary"),
            "flux": kp.Condition(sp.Eq(u.diff(X), 2), on={X: 0}),
        },
        {u: X * (1 - X)},
    )


FAULTS = {
    "steady_shock": Case(
        steady_shock, units=40, adam=1500, second=500, optimizer=kp.optimizers.LBFGS
    ),
    "bolus": Case(bolus, units=20, depth=2, adam=1200),
    "two_layers": Case(two_layers, units=20, depth=2, adam=1500, second=500),
    "fin_celsius": Case(fin, second=1000, rule="weighted"),
    "fin_kelvin": Case(lambda: fin(273.15), second=1000, rule="weighted"),
    "steel_cantilever": Case(steel_cantilever, adam=2000, second=500),
    "sphere": Case(lambda: sphere(False), units=24, depth=2, adam=2000, second=500),
    "sphere_multiplied": Case(
        lambda: sphere(True), units=24, depth=2, adam=2000, second=500
    ),
    "standing_mode": Case(
        standing_mode,
        units=20,
        depth=2,
        adam=1000,
        second=1000,
        parameters={"a": 1.0, "b": 1.0, "c": 1.0},
    ),
    "high_sensors": Case(
        lambda: sensors(gain=1.2), units=16, depth=2, adam=1000, second=500
    ),
    "noisy_sensors": Case(
        lambda: sensors(noise=0.2), units=16, depth=2, adam=1000, second=500
    ),
    "contradiction": Case(contradiction, units=16, depth=2, adam=1000, second=500),
}
