"""Peaks that sampling misses, and poles of coefficients."""

import re
import warnings

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
C = sp.Function("c")(T)
U = sp.Function("u")(X, Y)
HOURS = kp.geometry.Box(time={T: (0, 12)})
SQUARE = kp.geometry.Box({X: (0, 1), Y: (0, 2)})
W = 1e-5
BOLUS = sp.exp(-(((T - 4) / W) ** 2)) / W
NARROW = {
    "Gaussian": BOLUS,
    "beside a wave": BOLUS + sp.sin(T),
    "with a factor": (T - 4) / W * BOLUS,
    "soliton": sp.sech((T - 4) / W) ** 2 / W,
    "Lorentzian": 1 / (W**2 + (T - 4) ** 2),
    "derivative of a front": sp.tanh((T - 4) / W).diff(T),
    "beside a constant": 1 + BOLUS,
    "beside a wide one": BOLUS + sp.exp(-((T - 7) ** 2)),
    "of another base": 2 ** (-(((T - 4) / W) ** 2)),
}
PULSE = np.unique(np.r_[np.linspace(0, 12, 201), 4 + 1e-5 * np.linspace(-5, 5, 41)])
NARROW |= {
    "table of a Gaussian": kp.Tabulated(
        PULSE, np.exp(-(((PULSE - 4) / 1e-5) ** 2)) / 1e-5, degree=1
    )(T),
    "very narrow Lorentzian": 1e9 / (1 + ((T - 4) * 10**9) ** 2),
    "squared Lorentzian": 1e9 / (1 + ((T - 4) * 10**9) ** 2) ** 2,
}
V = 1e-3
FLAT = {
    "two fronts": sp.tanh((T - 4) / V + 1) - sp.tanh((T - 4) / V - 1),
    "two error functions": sp.erf((T - 4) / V + 1) - sp.erf((T - 4) / V - 1),
    "two arctangents": sp.atan((T - 4) / V + 1) - sp.atan((T - 4) / V - 1),
    "on and off": sp.Heaviside(T - 4) - sp.Heaviside(T - 4 - V),
    "triangle": sp.Max(0, 1 - sp.Abs(T - 4) / V),
    "branch": sp.Piecewise((1, (T > 4) & (T < 4 + V)), (0, True)),
    "table": kp.Tabulated([0, 4, 4 + V, 4 + 2 * V, 12], [0, 0, 1, 0, 0], degree=1)(T),
}
N = 1e-6
VERY_NARROW = {
    "soliton": sp.sech((T - 4) / N) ** 2,  # one search point meets it
    "on and off": sp.Heaviside(T - 4) - sp.Heaviside(T - 4 - N),
    "signs": sp.sign(T - 4) - sp.sign(T - 4 - N),
    "triangle": sp.Max(0, 1 - sp.Abs(T - 4) / N),
    "table": kp.Tabulated([0, 4, 4 + N, 4 + 2 * N, 12], [0, 0, 1, 0, 0], degree=1)(T),
    "power": sp.cos((T - 4) / 4) ** (10**12),
    "rectangle": (1 + sp.tanh(10**8 * (T - 4))) * (1 - sp.tanh(10**8 * (T - 4) - 100)),
    "squared sum": (1 + sp.exp(-(((T - 4) / N) ** 2)) / N) ** 2,
}


def problem(domain, equation, conditions):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kp.Problem(domain, {"e": equation}, conditions)


def of_time(source):
    start = {"initial": kp.Condition(C - 1, on="initial")}
    return problem(HOURS, sp.Eq(C.diff(T), source - C), start).unreliable


def in_a_square(source, domain=SQUARE, on_wall=0):
    wall = {"wall": kp.Condition(U - on_wall, on="boundary")}
    laplacian = U.diff(X, 2) + U.diff(Y, 2)
    return problem(domain, sp.Eq(laplacian, source), wall).unreliable


@pytest.mark.parametrize("source", NARROW.values(), ids=NARROW)
def test_a_narrow_peak_warns(source):
    assert "has a peak at t = 4, " in of_time(source)


@pytest.mark.parametrize("source", [2**T, 10 ** (T**2 / 99), T ** (T + 1)], ids=str)
def test_a_power_with_a_variable_exponent_does_not_warn(source):
    positive = sp.Symbol("t", positive=True)
    hours, c = kp.geometry.Box(time={positive: (0, 5)}), sp.Function("c")(positive)
    start = {"initial": kp.Condition(c - 1, on="initial")}
    equation = c.diff(positive) + source.subs(T, positive) * c
    assert problem(hours, equation, start).unreliable == ""


@pytest.mark.parametrize("source", FLAT.values(), ids=FLAT)
def test_a_narrow_peak_of_a_function_that_is_flat_elsewhere_warns(source):
    assert "has a peak at t = 4" in of_time(source / V)


@pytest.mark.parametrize("source", VERY_NARROW.values(), ids=VERY_NARROW)
def test_a_peak_narrower_than_the_distance_of_search_points_warns(source):
    assert "has a peak at t = 4" in of_time(source / N)


@pytest.mark.parametrize(
    "source",
    [
        sp.exp(-(((T - 12.012) / 0.012) ** 2)),  # it peaks outside of the domain
        BOLUS.diff(T),
        BOLUS + BOLUS.subs(T, T + 1),
    ],
)
def test_each_peak_is_named_once(source):
    places = re.findall(r"has a peak at (t = \d+)", of_time(source))
    assert places and len(places) == len({*places})


def windows(narrow=1e-4):
    x, y = X - 0.3, Y - 0.7
    on_off = [sp.Heaviside(s) - sp.Heaviside(s - narrow) for s in (x, y)]
    yield on_off[0] * on_off[1]
    yield sp.Heaviside(narrow**2 - x**2 - y**2)
    yield sp.Max(0, 1 - (sp.Abs(x) + sp.Abs(y)) / narrow)


@pytest.mark.parametrize("source", [*windows()], ids=["square", "disc", "pyramid"])
def test_a_narrow_window_in_the_plane_warns(source):
    assert re.search(r"peak at x = 0.3(001)?, y = 0.7(001)?, ", in_a_square(source))


def test_a_narrow_product_of_sums_in_the_plane_warns():
    """Search where both sums underflow nearly everywhere."""
    sums = [sum(sp.exp(-1e11 * (s - a) ** 2) for a in (0.3, 0.8)) for s in (X, Y)]
    for source in (sp.sqrt(sums[0] * sums[1]), sums[0] ** 2 * sums[1] ** 2):
        assert re.search(r"peak at x = 0\.[38], y = 0\.[38], ", in_a_square(source))


def test_a_narrow_load_of_an_energy_warns_and_a_resolved_one_does_not():
    """SymPy would expand the exponent, whose constant underflows."""
    c = sp.Function("c")(X)
    ends = {"ends": kp.Condition(c, on="boundary", hard=True)}
    bar = kp.geometry.Box({X: (0, 1)})
    for width, faults in ((1e-5, "has a peak at x = 0.3"), (0.02, "")):
        load = sp.exp(-(((X - 0.3) / width) ** 2))
        energy = kp.integral(c.diff(X) ** 2 / 2) - sp.pi * (kp.integral(load * c) + 1)
        energy = sp.sqrt(2) * (energy + sp.pi)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            declared = kp.Problem(bar, None, ends, energy=energy)
        assert faults in declared.unreliable and bool(faults) == bool(
            declared.unreliable
        )
        assert load in declared.energy.atoms(sp.exp)


@pytest.mark.parametrize("position", [0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9])
def test_a_peak_that_one_point_meets_by_chance_warns(position):
    peak = sp.exp(-(((X - position) / 1e-4) ** 2))
    assert "In condition 'wall'" in in_a_square(0, on_wall=peak)


@pytest.mark.parametrize(
    "source",
    [
        sp.exp(-(((T - 4) / 0.05) ** 2)),
        sp.exp(-T) + sp.tanh(T - 4),
        1 + sp.exp(-(((T - 4) / W) ** 2)),  # an area of 1e-5 beside 12
        1 / sp.sqrt(T),
        sp.Heaviside(T - 4) - sp.Heaviside(T - 5),
        sp.Piecewise((1, (T > 4) & (T < 5)), (5, T > 20), (0, True)),
        sp.sin(1000 * T),
        sp.cos(T) ** 40,
        sp.Max(0, T - 4) ** 2,
        sp.sign(T - 4) * sp.exp(-T),
    ],
)
def test_resolved_and_negligible_peaks_do_not_warn(source):
    assert of_time(source) == ""


def test_a_peak_in_the_plane_and_on_a_face():
    blob = sp.exp(-((X - 0.3) ** 2 + (Y - 0.7) ** 2) / 1e-8)
    assert "x = 0.3, y = 0.7" in in_a_square(blob)
    holed = SQUARE - kp.geometry.Ball((0.7, 1.5), 0.2)
    assert "x = 0.3, y = 0.7" in in_a_square(blob, holed)
    assert in_a_square(sp.exp(-((X - 0.7) ** 2 + (Y - 1.5) ** 2) / 1e-8), holed) == ""
    beam = sp.exp(-((X - 0.3) ** 2) / 1e-10)
    assert "In condition 'wall'" in in_a_square(0, on_wall=beam)
    assert in_a_square(sp.exp(-((X - Y) ** 2) / 1e-2)) == ""


@pytest.mark.parametrize("width", [1e-5, 0.05])
def test_a_narrow_factor_in_an_integral_warns_and_a_wide_one_does_not(width):
    c = sp.Function("c")(X)
    factor = sp.exp(-(((X - 0.3) / width) ** 2))
    conditions = {
        "left": kp.Condition(c, on={X: 0}),
        "mean": kp.Condition(sp.Eq(kp.integral(factor * c), 1)),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bar = kp.geometry.Box({X: (0, 1)})
        declared = kp.Problem(bar, {"e": c.diff(X, 2) - 1}, conditions)
    warned = "In condition 'mean'" in declared.unreliable
    assert warned == ("has a peak at x = 0.3" in declared.unreliable) == (width < 0.01)
    assert not declared.underdetermined


def test_remedies_do_not_warn():
    assert of_time(0) == ""
    assert of_time(3 / (0.1 * sp.sqrt(sp.pi)) * sp.exp(-(((T - 4) / 0.1) ** 2))) == ""
    late = kp.geometry.Box(time={T: (4, 12)})
    start = {"initial": kp.Condition(C - 4, on="initial")}
    assert problem(late, C.diff(T) + C, start).unreliable == ""


def test_a_coefficient_of_a_derivative_counts():
    front = 1 + sp.tanh((T - 4) / W) / 2
    ends = {"ends": kp.Condition([C, C.diff(T)], on="initial")}
    assert (
        "has a peak at t = 4"
        in problem(HOURS, (front * C.diff(T)).diff(T), ends).unreliable
    )


def test_a_pole_warns_with_its_factor():
    u = sp.Function("u")(X, Y)
    sphere = kp.geometry.Box({X: (0, sp.pi), Y: (0, 2 * sp.pi)}, periodic=[Y])
    laplacian = (sp.sin(X) * u.diff(X)).diff(X) / sp.sin(X)
    laplacian += u.diff(Y, 2) / sp.sin(X) ** 2
    gauge = {"gauge": kp.Condition(kp.integral(u * sp.sin(X)))}
    with pytest.warns(
        UserWarning, match=r"unbounded at x = .*\(sin\(x\)\*\*2\)"
    ) as caught:
        declared = kp.Problem(sphere, {"e": sp.Eq(laplacian, u)}, gauge)
    assert caught[0].filename == __file__
    assert declared.unreliable == ""  # the verdict measures its effect
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = sp.expand(sp.sin(X) ** 2 * (laplacian - u))
        kp.Problem(sphere, {"e": scaled}, gauge)


def test_a_pole_of_the_first_order_trains_well(recwarn):
    u = sp.Function("u")(X)
    radial = u.diff(X, 2) + u.diff(X) / X + 1
    ends = {"axis": kp.Condition(u.diff(X), on={X: 0}), "rim": kp.Condition(u, {X: 1})}
    kp.Problem(kp.geometry.Box({X: (0, 1)}), {"e": radial}, ends)
    assert not recwarn


@pytest.mark.parametrize(
    ("pole", "at"),
    [
        (1 / (1 - sp.cos(X)), 0),
        (1 / sp.sin(X) ** 2, 0),
        (1 / (X - sp.sin(X)), 0),
        (1 / (sp.exp(X) - 1) ** 2, 0),
        (1 / (sp.cos(X - 0.37) - 1), 0.37),
        (1 / (X - sp.Rational(1, 3)) ** 2, 0.3333),
        (X ** sp.Rational(-3, 2), 0),
        (1 / X**2 + 1 / X, 0),
    ],
)
def test_a_pole_of_higher_order_warns_and_the_advice_works(pole, at):
    u = sp.Function("u")(X)
    bar, ends = kp.geometry.Box({X: (0, 1)}), {"ends": kp.Condition(u, on="boundary")}
    equation = u.diff(X, 2) + pole * u - 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kp.Problem(bar, {"e": equation}, ends)
    (message,) = [str(warning.message) for warning in caught]
    position, factor = re.match(
        r".*unbounded at x = (\S+),.*by (.*)\.$", message
    ).groups()
    assert abs(float(position) - at) < 1e-4
    scaled = sp.expand_mul(equation * sp.sympify(factor))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kp.Problem(bar, {"e": scaled}, ends)


@pytest.mark.parametrize(
    "bounded", [1 / X, sp.sin(X) / (1 - sp.cos(X)), (1 - sp.cos(X)) / X**2]
)
def test_a_pole_that_cancels_does_not_warn(bounded, recwarn):
    u = sp.Function("u")(X)
    ends = {"ends": kp.Condition(u, on="boundary")}
    kp.Problem(kp.geometry.Box({X: (0, 1)}), {"e": u.diff(X, 2) + bounded * u}, ends)
    assert not recwarn


HEAT = sp.Function("h")(X, T)
ROD = kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)})


def melting(width):
    """Declare the one-phase problem of Stefan with its latent heat smoothed."""
    melted = (1 + sp.tanh((HEAT - sp.Rational(1, 2)) / width)) / 2
    return kp.Problem(
        ROD,
        {"heat": (HEAT + melted).diff(T) - HEAT.diff(X, 2)},
        {
            "initial": kp.Condition(HEAT, on="initial"),
            "hot": kp.Condition(HEAT - 1, on={X: 0}),
            "cold": kp.Condition(HEAT, on={X: 1}),
        },
    )


def test_narrow_latent_heat_warns():
    with pytest.warns(UserWarning, match="peak at h = 0.5, .* of h's extent.*enthalpy"):
        assert melting(1e-4).unreliable


def test_wide_latent_heat_does_not_warn(recwarn):
    assert not melting(0.05).unreliable
    assert not recwarn


def test_integrals_of_nonlinear_functions_of_a_field_are_declared(recwarn):
    c = sp.Function("c")(X)
    conditions = {
        "left": kp.Condition(c, on={X: 0}),
        "mean": kp.Condition(kp.integral(sp.exp(-c)) - 1),
    }
    kp.Problem(kp.geometry.Box({X: (0, 1)}), {"e": c.diff(X, 2) - 1}, conditions)
    assert not recwarn


def test_a_narrow_dip_of_a_coefficient_warns():
    # A layer of glue: 1e-4 wide, with a conductivity of 1e-4.
    u, q = (sp.Function(name)(X) for name in "uq")
    ends = {"a": kp.Condition(u - 1, on={X: 0}), "b": kp.Condition(u, on={X: 1})}

    def declare(width):
        edges = (sp.tanh((X - at) / width * 10) for at in (0.37, 0.37 + width))
        k = 1 - 0.9999 * (next(edges) - next(edges)) / 2
        domain = kp.geometry.Box({X: (0, 1)})
        return kp.Problem(domain, {"law": q - k * u.diff(X), "flux": q.diff(X)}, ends)

    with pytest.warns(UserWarning, match="'law'.* has a dip at x = 0.37.* points"):
        assert declare(1e-4).unreliable
    assert not declare(0.2).unreliable


@pytest.mark.parametrize("is_step", [False, True])
def test_a_narrow_dip_in_the_range_of_a_field_warns(is_step):
    t = sp.Symbol("t")
    w = sp.Function("w")(t)
    bump = sp.exp(-(((w - 0.5) / 1e-4) ** 2))
    if is_step:
        bump = sp.Heaviside(w - 0.5) - sp.Heaviside(w - 0.5001)
    domain, start = kp.geometry.Box(time={t: (0, 3)}), kp.Condition(w - 1, "initial")
    with pytest.warns(UserWarning, match="has a dip at w = 0.5.*enthalpy"):
        kp.Problem(domain, {"e": w.diff(t) + w / (1 + 5000 * bump)}, {"i": start})


@pytest.mark.parametrize(("share", "warns"), [(0.0095, True), (1e-4, False)])
def test_a_peak_of_a_small_part_of_the_source_warns(share, warns):
    u = sp.Function("u")(X)
    load = share * sp.exp(-(((X - 0.37) / 1e-6) ** 2)) / (1e-6 * sp.sqrt(sp.pi))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ends = {"b": kp.Condition(u, "boundary")}
        equation = {"e": u.diff(X, 2) + 1 + load}
        problem = kp.Problem(kp.geometry.Box({X: (0, 1)}), equation, ends)
    assert ("has a peak at x = 0.37" in problem.unreliable) == warns


@pytest.mark.parametrize(
    "factor",
    [
        sp.exp(-(((X - 0.5) / 0.02) ** 2)),  # zero at the ends
        1 + 100 * (1 + sp.tanh((X - 0.5) / 0.01)),
        sp.exp(-20 * X),
        sp.tanh((X - 0.5) / 0.001),  # a change of sign
        2 + sp.cos(200 * X) + sp.exp(-X),
        sp.tanh((X - 0.5) / 0.1) ** 2,  # a double zero
    ],
)
def test_wide_dips_and_zeros_of_a_coefficient_do_not_warn(factor, recwarn):
    u = sp.Function("u")(X)
    ends = {"a": kp.Condition(u - 1, on={X: 0}), "b": kp.Condition(u, on={X: 1})}
    equation = {"e": u.diff(X, 2) + factor * u.diff(X)}
    assert not kp.Problem(kp.geometry.Box({X: (0, 1)}), equation, ends).unreliable


def test_a_hole_in_the_plane_does_not_warn(recwarn):
    u = sp.Function("u")(X, Y)
    k = 1 - 0.99 * sp.exp(-((X - 0.5) ** 2 + (Y - 0.5) ** 2) / 0.1**2)
    equation = {"e": (k * u.diff(X)).diff(X) + (k * u.diff(Y)).diff(Y) + 1}
    box = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
    assert not kp.Problem(box, equation, {"b": kp.Condition(u, "boundary")}).unreliable
