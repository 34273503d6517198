"""Magnitudes of coupled fields, from a coarse spectral solution."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import keraspinn as kp

X, Y, T = sp.symbols("x y t")


def sizes(domain, equations, conditions):
    scales = kp.Problem(domain, equations, conditions).with_scales("auto").scales
    return scales.fields


def beam(depth, load, length=1.0):
    """Return a square steel beam by Timoshenko, and its load over stiffness."""
    w, angle = sp.Function("w")(X), sp.Function("theta")(X)
    shear, bend = 80e9 * 5 / 6 * depth**2, 210e9 * depth**4 / 12
    magnitudes = sizes(
        kp.geometry.Box({X: (0, length)}),
        {
            "shear": shear * (w.diff(X, 2) - angle.diff(X)) + load,
            "bending": bend * angle.diff(X, 2) + shear * (w.diff(X) - angle),
        },
        {
            "clamp": kp.Condition([w, angle], on={X: 0}),
            "free": kp.Condition([w.diff(X) - angle, angle.diff(X)], on={X: length}),
        },
    )
    return magnitudes["w"] * bend / load, magnitudes["theta"] * bend / load


@given(depth=st.floats(0.02, 0.05), load=st.floats(1e-3, 1e6), length=st.floats(1, 1e3))
@settings(max_examples=10)
def test_a_slender_beam_bends_a_thousand_times_more_than_it_shears(depth, load, length):
    w, angle = beam(depth * length, load, length)
    assert w == pytest.approx(length**4 / 8, rel=0.02)
    assert angle == pytest.approx(length**3 / 6, rel=0.02)


def channel(density, viscosity, speed, length, height):
    u, v, p = (sp.Function(name)(X, Y) for name in "uvp")

    def momentum(f, slope):
        friction = viscosity * (f.diff(X, 2) + f.diff(Y, 2))
        return density * (u * f.diff(X) + v * f.diff(Y)) + slope - friction

    profile = 4 * speed * Y * (height - Y) / height**2
    return kp.Problem(
        kp.geometry.Box({X: (0, length), Y: (0, height)}),
        {
            "x": momentum(u, p.diff(X)),
            "y": momentum(v, p.diff(Y)),
            "mass": u.diff(X) + v.diff(Y),
        },
        {
            "inlet": kp.Condition([u - profile, v], on={X: 0}),
            "walls": kp.Condition([u, v], on=[{Y: 0}, {Y: height}]),
            "outlet": kp.Condition([p - 101325, v], on={X: length}),
        },
    )


def test_continuity_determines_the_transverse_velocity_scale():
    scales = channel(1000, 1e-3, 0.01, 0.1, 1e-3).scales
    assert scales.field("u") == pytest.approx(0.01, rel=0.01)
    assert scales.field("v") == pytest.approx(0.01 * 1e-3 / 0.1, rel=0.01)
    assert scales.offset("p") == 101325
    assert scales.field("p") == pytest.approx(8e-3 * 0.01 * 0.1 / 1e-6, rel=0.02)


def test_normals_integrals_and_data_enter_the_spectral_solve():
    u, p = sp.Function("u")(X, Y), sp.Function("p")(X, Y)
    disk = kp.geometry.Disk((0, 0), 2, coordinates=(X, Y))
    turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    magnitudes = sizes(
        disk,
        {"u": u.diff(X, 2) + u.diff(Y, 2) - p, "p": p.diff(X, 2) + p.diff(Y, 2)},
        {
            "flux": kp.Condition(kp.normal_derivative(u, disk) - 7, on="boundary"),
            "mean": kp.Condition(kp.integral(u, over=disk)),
            "seen": kp.Data(
                2 * np.stack([np.cos(turn), np.sin(turn)], 1), {p: 7.0 + 0 * turn}
            ),
        },
    )  # p = 7 and u = 7 (x² + y²) / 4 − 7 / 2
    assert magnitudes["u"] == pytest.approx(3.5, rel=0.15)


def test_a_solution_that_violates_a_condition_is_rejected():
    u, energy = sp.Function("u")(X), sp.Function("e")(X)
    box = kp.geometry.Box({X: (-6, 6)})
    magnitudes = sizes(
        box,
        {"u": -u.diff(X, 2) / 2 + X**2 * u / 2 - energy * u, "e": energy.diff(X)},
        {
            "walls": kp.Condition(u, on="boundary"),
            "norm": kp.Condition(kp.integral(u**2, over=box) - 1),
        },
    )
    assert magnitudes["u"] > 0.1  # not u = 0, which satisfies all but the norm


@pytest.mark.parametrize(
    ("k", "thickness", "heat"),
    [(50, 0.01, 1e2), (50, 0.01, 1e3), (50, 0.01, 1e5), (400, 1e-3, 1e6)],
)
def test_radiation_equilibrium_far_from_zero(k, thickness, heat):
    u = sp.Function("u")(X)
    magnitudes = sizes(
        kp.geometry.Box({X: (0, thickness)}),
        {"heated": k * u.diff(X, 2) + heat},
        {
            "insulated": kp.Condition(u.diff(X), on={X: 0}),
            "radiates": kp.Condition(k * u.diff(X) + 5.67e-8 * u**4, on={X: thickness}),
        },
    )
    expected = (heat * thickness / 5.67e-8) ** 0.25
    assert magnitudes["u"] == pytest.approx(expected, rel=0.01)


def test_newton_continues_while_steps_halve_the_field():
    u = sp.Function("u")(X)
    rod, walls = kp.geometry.Box({X: (0, 1)}), {"w": kp.Condition(u, on="boundary")}
    for square in (u**2, sp.Abs(u) * u, sp.Max(u, 0) ** 2):
        magnitude = single(rod, u.diff(X, 2) - square + 1e6, walls, u)
        assert magnitude == pytest.approx(1e3, rel=0.02)
    ends = {
        "closed": kp.Condition(u.diff(X), on={X: 0}),
        "orifice": kp.Condition(50 * u.diff(X) + 1e-7 * u**2, on={X: 1}),
    }
    magnitude = single(rod, 50 * u.diff(X, 2) + 1e3, ends, u)
    assert magnitude == pytest.approx(1e5, rel=0.01)


def test_a_flux_through_resistances_in_series():
    u, q = sp.Function("u")(X), sp.Function("q")(X)
    k = sp.Piecewise((45.0, X < 0.005), (0.06, True))
    magnitudes = sizes(
        kp.geometry.Box({X: (0, 0.045)}),
        {"fourier": u.diff(X) + q / k, "energy": q.diff(X)},
        {
            "steam": kp.Condition(q - 80 * (250 - u), on={X: 0}),
            "room": kp.Condition(q - 12 * (u - 20), on={X: 0.045}),
        },
    )
    assert magnitudes["q"] == pytest.approx(
        230 / (1 / 80 + 0.04 / 0.06 + 1 / 12), rel=0.1
    )


def single(domain, equation, conditions, u):
    return sizes(domain, {"e": equation}, conditions)[u.func.__name__]


def test_robin_and_radiation_conditions_set_the_temperature_scale():
    u, v = sp.Function("u")(X), sp.Function("v")(X, Y)
    rod, closed = kp.geometry.Box({X: (0, 1)}), kp.Condition(u.diff(X), on={X: 1})
    weak = {"closed": closed, "air": kp.Condition(u.diff(X) - u / 100, on={X: 0})}
    assert single(rod, u.diff(X, 2) + 1, weak, u) == pytest.approx(100.5, rel=0.01)
    # Radiation into the cold sky, by the fourth power of the temperature.
    sky = kp.Condition(50 * u.diff(X) - 5.67e-8 * u**4, on={X: 0})
    magnitude = single(rod, 50 * u.diff(X, 2) + 2e5, {"closed": closed, "sky": sky}, u)
    assert magnitude == pytest.approx((2e5 / 5.67e-8) ** 0.25 + 2000, rel=0.01)
    plate = kp.geometry.Disk((0, 0), 2, coordinates=(X, Y))
    air = {"air": kp.Condition(10 * kp.normal_derivative(v, plate) + v, on="boundary")}
    magnitude = single(plate, v.diff(X, 2) + v.diff(Y, 2) + 3, air, v)
    assert magnitude == pytest.approx(33, rel=0.01)


U1, U2, U2T = (sp.Function("u")(*args) for args in ((X,), (X, Y), (X, T)))
LAPLACIAN = U2.diff(X, 2) + U2.diff(Y, 2)
LINE, SQUARE = kp.geometry.Box({X: (0, 1)}), kp.geometry.Box({X: (0, 1), Y: (0, 1)})
ROD = kp.geometry.Box({X: (0, 1)}, time={T: (0, 2)})


def disc(radius):
    inside = (X - 0.4) ** 2 + (Y - 0.5) ** 2 < radius**2
    return sp.Piecewise((1, inside), (0, True))


NARROW = {  # domain, equation, magnitude by finite differences or in closed form
    "disc of 0.05": (SQUARE, LAPLACIAN + disc(0.05), 3.5e-3),
    "disc of 0.1": (SQUARE, LAPLACIAN + disc(0.1), 1.07e-2),
    "Gaussian of 2 %": (
        LINE,
        U1.diff(X, 2) + sp.exp(-(((X - 0.37) / 0.02) ** 2)),
        8.3e-3,
    ),
    "Gaussian of 0.2 %": (
        LINE,
        U1.diff(X, 2) + sp.exp(-(((X - 0.37) / 2e-3) ** 2)),
        8.3e-4,
    ),
    "in time": (
        ROD,
        U2T.diff(T) - U2T.diff(X, 2) - sp.exp(-(((X - 0.4) / 0.05) ** 2)),
        2.1e-2,
    ),
}


@pytest.mark.parametrize(("domain", "equation", "size"), NARROW.values(), ids=NARROW)
def test_a_narrow_source_has_its_mean_effect(domain, equation, size):
    (field,) = equation.atoms(sp.core.function.AppliedUndef)
    conditions = {"walls": kp.Condition(field, on="boundary")}
    if domain.time_coordinate is not None:
        conditions["initial"] = kp.Condition(field, on="initial")
    scale = sizes(domain, {"poisson": equation}, conditions)["u"]
    assert 1 / 3 < scale / size < 3


def test_a_narrow_flux_has_its_mean_effect():
    heater = 1e4 * sp.exp(-(((X - 0.5) / 0.02) ** 2))
    conditions = {
        "cold": kp.Condition(U2, on=[{X: 0}, {X: 1}, {Y: 0}]),
        "heater": kp.Condition(U2.diff(Y) - heater, on={Y: 1}),
    }
    scale = sizes(SQUARE, {"heat": LAPLACIAN}, conditions)["u"]
    assert 1 / 3 < scale / 254 < 3


LAYERS = {  # no narrow source, or bending: the solve does not change scales
    "advection": (LINE, 1e-3 * U1.diff(X, 2) + U1.diff(X) + 1, 1.0),
    "thin advection": (LINE, 1e-5 * U1.diff(X, 2) + U1.diff(X) + 1, 1.0),
    "plane": (SQUARE, 1e-3 * LAPLACIAN - U2.diff(X) - U2.diff(Y) / 2 + 1, 1.0),
}


@pytest.mark.parametrize(("domain", "equation", "size"), LAYERS.values(), ids=LAYERS)
def test_a_boundary_layer_keeps_its_scale(domain, equation, size):
    (field,) = equation.atoms(sp.core.function.AppliedUndef)
    walls = {"walls": kp.Condition(field, on="boundary")}
    assert 1 / 3 < sizes(domain, {"layer": equation}, walls)["u"] / size < 3


def test_a_narrow_traction_does_not_reduce_bending():
    u, v = (sp.Function(name)(X, Y) for name in "uv")
    plate = kp.geometry.Box({X: (0, 1), Y: (0, 0.5)})
    gradient = sp.Matrix([u, v]).jacobian([X, Y])
    strain = (gradient + gradient.T) / 2
    stress = 2e11 / 0.91 * (0.7 * strain + 0.3 * strain.trace() * sp.eye(2))
    load = -1e6 * sp.exp(-(((X - 0.8) / 0.02) ** 2))
    rows = [stress[k, 0].diff(X) + stress[k, 1].diff(Y) for k in (0, 1)]
    conditions = {
        "clamp": kp.Condition([u, v], on={X: 0}),
        "top": kp.Condition([stress[0, 1], stress[1, 1] - load], on={Y: 0.5}),
        "bottom": kp.Condition([stress[0, 1], stress[1, 1]], on={Y: 0}),
        "end": kp.Condition([stress[0, 0], stress[1, 0]], on={X: 1}),
    }
    with pytest.warns(UserWarning, match="too stiff"):
        scale = sizes(plate, dict(zip("xy", rows, strict=True)), conditions)["v"]
    assert 1 / 4 < scale / 4.5e-6 < 4


def test_a_wave_that_is_not_resolved_keeps_its_scale():
    a = sp.Function("a")(T)
    string = kp.geometry.Box({X: (0, 1)}, time={T: (0, 30)})
    equations = {
        "string": U2T.diff(T, 2) - U2T.diff(X, 2) - a * sp.sin(sp.pi * X),
        "force": a.diff(T, 2) + 4 * a,
    }
    conditions = {
        "rest": kp.Condition([U2T, U2T.diff(T), a - 1, a.diff(T)], on="initial"),
        "ends": kp.Condition(U2T, on="boundary"),
    }
    assert 0.1 < sizes(string, equations, conditions)["u"] < 1


def test_periodic_sides_have_a_fourier_basis():
    u, v = sp.Function("u")(X, T), sp.Function("v")(X)
    ring = kp.geometry.Box({X: (0, 3)}, time={T: (0, 5)}, periodic=[X])
    turn = 2 * sp.pi * X / 3
    start = {"initial": kp.Condition(u, on="initial")}
    flow = u.diff(T) + u.diff(X) - 4 * sp.cos(turn - 2 * sp.pi * T / 3)
    # The source moves with the flow.
    assert single(ring, flow, start, u) == pytest.approx(20, rel=0.1)
    loop = kp.geometry.Box({X: (0, 3)}, periodic=[X])
    driven = v.diff(X, 2) - v / 100 + 7 * sp.sin(turn) + 1
    expected = 100 + 7 / ((2 * np.pi / 3) ** 2 + 0.01)
    assert single(loop, driven, {}, v) == pytest.approx(expected, rel=0.01)


def test_scale_is_that_of_the_largest_parameter_value():
    a = sp.Symbol("a")
    u = sp.Function("u")(X, a)
    box = kp.geometry.Box({X: (0, 1)}, parameters={a: (1, 1000)})
    slope = {
        "slope": kp.Condition(u.diff(X) + 1, on={X: 0}),
        "cold": kp.Condition(u, on={X: 1}),
    }
    magnitude = single(box, u.diff(X, 2) - a * u, slope, u)
    assert magnitude == pytest.approx(np.tanh(1), rel=0.02)
    seen = {"seen": kp.Data([[0.5, 500.0]], {u: [1e-4]})}  # at another value of a
    magnitude = single(box, u.diff(X, 2) - a * u, slope | seen, u)
    assert magnitude == pytest.approx(np.tanh(1), rel=0.02)


def test_underdetermined_problems_have_no_spectral_solution():
    u = sp.Function("u")(X, T)
    rod = kp.geometry.Box({X: (0, 0.1)}, time={T: (0, 3600)})
    conditions = {
        "initial": kp.Condition(u - 3, on="initial"),
        "gauge": kp.Data([[0.05, 60.0]], {u: [350.0]}),
    }
    magnitude = single(rod, u.diff(T) - 1e-5 * u.diff(X, 2), conditions, u)
    assert magnitude == 350  # an oscillating polynomial gives 34,400


def time(end):
    return kp.geometry.Box(time={T: (0, end)})


def satellite(orbits):
    x, y = (sp.Function(name)(T) for name in "xy")
    force = 4e5 / (x**2 + y**2) ** sp.Rational(3, 2)  # km and s; perigee 7000 km
    start = [x - 7000, y, x.diff(T), y.diff(T) - 8.62]
    return sizes(
        time(9950 * orbits),
        {"x": x.diff(T, 2) + force * x, "y": y.diff(T, 2) + force * y},
        {"initial": kp.Condition(start, on="initial")},
    ), {"x": 13e3, "y": 9.5e3}


def pendulum(swings):
    angle = sp.Function("angle")(T)
    return sizes(
        time(2.4 * swings),
        {"swing": angle.diff(T, 2) + 9 * sp.sin(angle)},
        {"initial": kp.Condition([angle, angle.diff(T) - 4], on="initial")},
    ), {"angle": 1.46}


def struck_string(periods):
    u = sp.Function("u")(X, T)
    return sizes(
        kp.geometry.Box({X: (0, 1)}, time={T: (0, 2 * periods)}),
        {"wave": u.diff(T, 2) - u.diff(X, 2)},
        {
            "initial": kp.Condition([u, u.diff(T) - sp.sin(sp.pi * X)], on="initial"),
            "ends": kp.Condition(u, on="boundary"),
        },
    ), {"u": 1 / np.pi}


@pytest.mark.parametrize("count", [2, 10, 60, 300])
@pytest.mark.parametrize("oscillator", [satellite, pendulum, struck_string])
def test_an_oscillator_has_the_same_scale_over_many_periods(oscillator, count):
    scales, true = oscillator(count)
    for name, size in true.items():
        assert size / 4 < scales[name] < size * 4


def test_a_slow_field_beside_a_fast_one_keeps_its_scale():
    x, z = (sp.Function(name)(T) for name in "xz")
    scales = sizes(
        time(1500),
        {"spring": x.diff(T, 2) + 400 * x, "growth": z.diff(T) - z * (1 - z) / 100},
        {"initial": kp.Condition([x, x.diff(T) - 3, z - 1e-3], on="initial")},
    )
    assert scales["z"] == pytest.approx(1)


def test_a_late_source_counts_for_an_oscillator():
    q = sp.Function("q")(T)
    pulse = 50 * sp.exp(-((T - 80) ** 2))
    scales = sizes(
        time(100),
        {"q": q.diff(T, 2) + q.diff(T) / 5 + 9 * q - pulse},
        {"initial": kp.Condition([q, q.diff(T) - 1e-3], on="initial")},
    )
    assert 1 < scales["q"] < 10


def test_growing_solution_is_not_a_scale():
    # The temperature of a wall heated from one side grows with the root of time.
    u = sp.Function("u")(X, T)
    scales = sizes(
        kp.geometry.Box({X: (0, 1)}, time={T: (0, 1e-4)}),
        {"heat": u.diff(T) - u.diff(X, 2)},
        {
            "initial": kp.Condition(u, on="initial"),
            "heater": kp.Condition(u.diff(X) + 1, on={X: 0}),
            "back": kp.Condition(u, on={X: 1}),
        },
    )
    assert scales["u"] > 0.01


@pytest.mark.parametrize("at", [1, 100])
def test_later_value_is_a_lower_bound_of_the_scale(at):
    # The initial rate of 0.01 alone gives an amplitude of 3e-4.
    u = sp.Function("u")(T)
    scales = sizes(
        time(100),
        {"swing": u.diff(T, 2) + 900 * u},
        {
            "initial": kp.Condition([u, u.diff(T) - 0.01], on="initial"),
            "later": kp.Condition(u - 1, on={T: at}),
        },
    )
    assert 0.3 < scales["u"] < 3


def test_noisy_data_leave_an_oscillator_its_scale():
    q, times = sp.Function("q")(T), np.linspace(0.1, 5, 40)
    noise = 0.02 * np.random.default_rng(0).normal(size=40)
    values = 0.13 * np.exp(-times / 10) * np.sin(3.87 * times) + 0.13 * noise
    scales = sizes(
        time(5),
        {"swing": q.diff(T, 2) + q.diff(T) / 5 + 15 * q},
        {
            "initial": kp.Condition([q, q.diff(T) - 0.5], on="initial"),
            "sensor": kp.Data(times[:, None], {q: values}),
        },
    )
    assert 0.05 < scales["q"] < 0.3


def test_boundary_value_with_a_square_root_has_a_spectral_solution():
    u = sp.Function("u")(X)
    scales = sizes(
        kp.geometry.Box({X: (-0.6, 0.2)}),
        {"poisson": u.diff(X, 2) + 100},
        {"ends": kp.Condition(u - 1 - sp.sqrt(0.2 - X), on="boundary")},
    )
    assert 6 < scales["u"] < 12  # 16 without a coarse solution


@pytest.mark.parametrize("difference", [1e-3, 1e-5])
def test_a_small_difference_of_two_fields_is_not_zero(difference):
    x = sp.Symbol("x")
    a, b, v = (sp.Function(name)(x) for name in "abv")
    equations = {
        "a": a.diff(x, 2) - a,
        "b": b.diff(x, 2) - (1 + difference) * b,
        "v": v.diff(x, 2) - v + a - b,
    }
    ends = {
        "left": kp.Condition([a - 1, b - 1, v], on={x: 0}),
        "right": kp.Condition([a, b, v], on={x: 2}),
    }
    problem = kp.Problem(kp.geometry.Box({x: (0, 2)}), equations, ends)
    assert problem.scales.field("v") == pytest.approx(0.0376 * difference, rel=0.01)


@pytest.mark.parametrize("speed", [1e2, 1e3])
def test_a_slow_string_does_not_have_the_scale_of_a_short_time(speed):
    x, t = sp.symbols("x t")
    u, v = (sp.Function(name)(x, t) for name in "uv")
    domain = kp.geometry.Box({x: (0, 1)}, time={t: (0, 20)})
    fast, slow = (w.diff(t, 2) - c * w.diff(x, 2) for w, c in ((u, speed**2), (v, 1)))
    struck = [u, v, *(w.diff(t) - sp.sin(sp.pi * x) for w in (u, v))]
    conditions = {
        "initial": kp.Condition(struck, on="initial"),
        "walls": kp.Condition([u, v], on="boundary"),
    }
    problem = kp.Problem(domain, {"fast": fast, "slow": slow}, conditions)
    assert 0.3 < problem.scales.field("v") < 11  # by its rate over all of the time
