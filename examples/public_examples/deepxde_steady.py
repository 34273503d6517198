"""Forward examples of DeepXDE without time."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.public_examples.common import declared_by, function, laplacian
from examples.verdicts.problems import beam

x, y, s = sp.symbols("x y s")


def helmholtz_dirichlet_2d(waves=2):
    u, wavenumber = function("u", x, y), 2 * sp.pi * waves
    exact = sp.sin(wavenumber * x) * sp.sin(wavenumber * y)
    source = wavenumber**2 * exact
    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}),
        {"helmholtz": -laplacian(u, x, y) - wavenumber**2 * u - source},
        {"boundary": kp.Condition(u, on="boundary", hard=True)},
        {u: exact},
    )


def helmholtz_neumann_2d_hole(wavenumber=2 * sp.pi):
    u = function("u", x, y)
    exact = sp.sin(wavenumber * x) * sp.sin(wavenumber * y)
    half = sp.Rational(1, 2)
    hole = kp.geometry.Disk((0, 0), 0.25)
    domain = kp.geometry.Box({x: (-half, half), y: (-half, half)}) - hole
    nx, ny = domain.normal
    derivative = nx * exact.diff(x) + ny * exact.diff(y)
    edge = [{x: -half}, {x: half}, {y: -half}, {y: half}]
    return kp.Problem(
        domain,
        {"helmholtz": -laplacian(u, x, y) - wavenumber**2 * u - wavenumber**2 * exact},
        {
            "hole": kp.Condition(kp.normal_derivative(u, domain) - derivative, on=hole),
            "edge": kp.Condition(u - exact, on=edge),
        },
        {u: exact},
    )


def poisson_dirichlet_1d():
    u, exact = function("u", x), sp.sin(sp.pi * x)
    return kp.Problem(
        kp.geometry.Box({x: (-1, 1)}),
        {"poisson": -u.diff(x, 2) - sp.pi**2 * sp.sin(sp.pi * x)},
        {"ends": kp.Condition(u - exact, on="boundary")},
        {u: exact},
    )


def poisson_dirichlet_1d_exact_bc():
    u = function("u", x)
    source = sum(k * sp.sin(k * x) for k in range(1, 5)) + 8 * sp.sin(8 * x)
    exact = x + sum(sp.sin(k * x) / k for k in (1, 2, 3, 4, 8))
    return kp.Problem(
        kp.geometry.Box({x: (0, sp.pi)}),
        {"poisson": -u.diff(x, 2) - source},
        {"ends": kp.Condition(u - x, on="boundary", hard=True)},
        {u: exact},
    )


def poisson_lshape():
    u = function("u", x, y)
    corners = [(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)]
    return kp.Problem(
        kp.geometry.Polygon(corners, coordinates=(x, y)),
        {"poisson": -laplacian(u, x, y) - 1},
        {"boundary": kp.Condition(u, on="boundary")},
    )


def parabola(u, right):
    """Declare u'' = 2 with the solution (x + 1)² and a condition at the right end."""
    return kp.Problem(
        kp.geometry.Box({x: (-1, 1)}),
        {"poisson": u.diff(x, 2) - 2},
        {"left": kp.Condition(u, on={x: -1}), "right": right},
        {u: (x + 1) ** 2},
    )


def poisson_neumann_1d():
    u = function("u", x)
    return parabola(u, kp.Condition(sp.Eq(u.diff(x), 2 * (x + 1)), on={x: 1}))


def poisson_robin_1d():
    u = function("u", x)
    return parabola(u, kp.Condition(sp.Eq(u.diff(x), u), on={x: 1}))


def poisson_multiscale_1d(slow=2, fast=50):
    u = function("u", x)
    low, high = sp.sin(slow * sp.pi * x), sp.sin(fast * sp.pi * x) / 10
    source = (slow * sp.pi) ** 2 * low + (fast * sp.pi) ** 2 * high
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"poisson": u.diff(x, 2) + source},
        {"ends": kp.Condition(u, on="boundary")},
        {u: low + high},
    )


def poisson_periodic_1d():
    """Declare periodic values and zero at one end; derivatives are not periodic."""
    u = function("u", x)
    return kp.Problem(
        kp.geometry.Box({x: (-1, 1)}),
        {"poisson": -u.diff(x, 2) - sp.pi**2 * sp.sin(sp.pi * x)},
        {
            "left": kp.Condition(u, on={x: -1}),
            "alike": kp.Condition(u - u.subs(x, -1), on={x: 1}),
        },
        {u: sp.sin(sp.pi * x)},
    )


def laplace_disk():
    """Declare Laplace's equation in polar coordinates, periodic in the angle.

    There is no condition at the centre.
    """
    u = function("u", s, y)
    return kp.Problem(
        kp.geometry.Box({s: (0, 1), y: (0, 2 * sp.pi)}, periodic=[y]),
        {"laplace": s * u.diff(s) + s**2 * u.diff(s, 2) + u.diff(y, 2)},
        {"rim": kp.Condition(u - sp.cos(y), on={s: 1})},
        {u: s * sp.cos(y)},
    )


def point_set_operator():
    """Declare a problem with derivatives measured at points."""
    u = function("u", x)
    return parabola(u, kp.Data([[1.0]], {u.diff(x): [4.0]}))


def sound_hard_scatterer(wavenumber=2.0):
    """Declare real and imaginary part as fields, coupled by an absorbing edge."""
    re, im = function("re", x, y), function("im", x, y)
    disk = kp.geometry.Disk((0, 0), float(np.pi / 4))
    half = float(np.pi)
    domain = kp.geometry.Box({x: (-half, half), y: (-half, half)}) - disk
    normal_re, normal_im = (kp.normal_derivative(f, domain) for f in (re, im))
    nx, _ = domain.normal
    incoming = (
        wavenumber * nx * sp.Matrix([sp.sin(wavenumber * x), -sp.cos(wavenumber * x)])
    )
    edge = [{x: -half}, {x: half}, {y: -half}, {y: half}]
    return kp.Problem(
        domain,
        {n: laplacian(f, x, y) + wavenumber**2 * f for n, f in (("r", re), ("i", im))},
        {
            "hard": kp.Condition(
                [normal_re - incoming[0], normal_im - incoming[1]], on=disk
            ),
            "absorbing": kp.Condition(
                [normal_re + wavenumber * im, normal_im - wavenumber * re], on=edge
            ),
        },
    )


def elasticity_plate(lame=1, shear=sp.S.Half, load=4):
    """Declare displacements and stresses as five fields, some with hard constraints."""
    fields = [function(name, x, y) for name in ("u", "v", "xx", "yy", "xy")]
    u, v, xx, yy, xy = fields
    bent = sp.cos(2 * sp.pi * x) * sp.sin(sp.pi * y)
    raised = load * sp.sin(sp.pi * x) * y**4 / 4

    def stresses(u, v):
        along, across = u.diff(x), v.diff(y)
        pressure = lame * (along + across)
        sheared = shear * (u.diff(y) + v.diff(x))
        return 2 * shear * along + pressure, 2 * shear * across + pressure, sheared

    exact = bent, raised, *stresses(bent, raised)
    force_x = exact[2].diff(x) + exact[4].diff(y)
    force_y = exact[4].diff(x) + exact[3].diff(y)
    laws = zip(("xx", "yy", "xy"), (xx, yy, xy), stresses(u, v), strict=True)
    top = (lame + 2 * shear) * load * sp.sin(sp.pi * x)
    keep = {"hard": True}
    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}),
        {
            "x": xx.diff(x) + xy.diff(y) - force_x,
            "y": xy.diff(x) + yy.diff(y) - force_y,
            **{f"law_{name}": law - field for name, field, law in laws},
        },
        {
            "u": kp.Condition(u, on=[{y: 0}, {y: 1}], **keep),
            "v": kp.Condition(v, on=[{x: 0}, {x: 1}, {y: 0}], **keep),
            "xx": kp.Condition(xx, on=[{x: 0}, {x: 1}], **keep),
            "yy": kp.Condition(yy - top, on={y: 1}, **keep),
        },
        dict(zip(fields, exact, strict=True)),
    )


DECLARED = {
    "Euler_beam": beam,
    "Helmholtz_Dirichlet_2d": helmholtz_dirichlet_2d,
    "Helmholtz_Dirichlet_2d_HPO": helmholtz_dirichlet_2d,
    "Helmholtz_Neumann_2d_hole": helmholtz_neumann_2d_hole,
    "Helmholtz_Sound_hard_ABC_2d": sound_hard_scatterer,
    "Kovasznay_flow": declared_by("examples/gallery/kovasznay.py"),
    "Laplace_disk": laplace_disk,
    "Poisson_Dirichlet_1d": poisson_dirichlet_1d,
    "Poisson_Dirichlet_1d_exactBC": poisson_dirichlet_1d_exact_bc,
    "Poisson_Lshape": poisson_lshape,
    "Poisson_Neumann_1d": poisson_neumann_1d,
    "Poisson_PointSetOperator_1d": point_set_operator,
    "Poisson_Robin_1d": poisson_robin_1d,
    "Poisson_multiscale_1d": poisson_multiscale_1d,
    "Poisson_periodic_1d": poisson_periodic_1d,
    "elasticity_plate": elasticity_plate,
}
