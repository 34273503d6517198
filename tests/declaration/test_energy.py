"""Energies: declaration, consequences and errors."""

import warnings

import keras
import pytest
import sympy as sp
from scipy.optimize import brentq

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
U = sp.Function("u")(X)
BAR = kp.geometry.Box({X: (0, 2)})
SQUARE = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
STORED = kp.integral(U.diff(X) ** 2 / 2)
ALONG = sp.Integral(sp.Function("u")(T), (T, 0, X))
HELD = {"held": kp.Condition(U, on={X: 0}, hard=True)}


def plane():
    return tuple(sp.Function(name)(X, Y) for name in "uv")


def cantilever(metre=1.0, pascal=1.0):
    """Declare a cantilever with lengths in units of `metre`, stresses of `pascal`."""
    u, v = plane()
    gradient = sp.Matrix([u, v]).jacobian([X, Y])
    strain = (gradient + gradient.T) / 2
    stress = pascal / 0.91 * (0.7 * strain + 0.3 * strain.trace() * sp.eye(2))
    stored = sum(stress.multiply_elementwise(strain)) / 2
    beam = kp.geometry.Box({X: (0, 4 * metre), Y: (0, metre)})
    load = kp.integral(1e-3 * pascal * v, over={X: 4 * metre})
    clamp = kp.Condition([u, v], on={X: 0}, hard=True)
    return kp.Problem(
        beam, energy=kp.integral(stored) + load, conditions={"clamp": clamp}
    )


def test_a_problem_needs_equations_or_an_energy():
    with pytest.raises(TypeError, match="equations"):
        kp.Problem(BAR)
    problem = kp.Problem(BAR, energy=STORED - kp.integral(U), conditions=HELD)
    assert list(problem.terms) == ["residual"]
    assert problem.underdetermined == ""


@pytest.mark.parametrize(
    ("energy", "words"),
    [
        (kp.integral(U), "linear"),
        (STORED**2, "sum of integrals"),
        (STORED + U, "sum of integrals"),
        (STORED + kp.integral(U.diff(X, 3) ** 2), "order 3"),
        (STORED * kp.Parameter("k", initial=1.0), "sum of integrals"),
        (kp.integral(kp.Parameter("k", initial=1.0) * U.diff(X) ** 2), "over k"),
        (kp.integral(U.diff(X) ** 2 + ALONG * U), "at the point itself"),
        (kp.integral(U * U.diff(X)), "is a divergence"),
        (kp.integral(-U * U.diff(X, 2) / 2 - U), "Integrate by parts"),
        (STORED + kp.integral(2 * U, {X: 2}) - 2 * kp.integral(U, {X: 2}), "cancel"),
        (STORED - kp.integral(U, over={X: 0}), "no effect"),
        (kp.integral(sp.Function("w")(X, T).diff(T) ** 2), "not a coordinate"),
    ],
)
def test_invalid_energies_are_refused(energy, words):
    with pytest.raises(ValueError, match=words):
        kp.Problem(BAR, energy=energy, conditions=HELD)


def test_null_lagrangians_in_the_plane_are_refused():
    """Refuse det ∇(u, v): nonlinear, but its Euler–Lagrange equations vanish."""
    u, v = plane()
    null = u.diff(X) * v.diff(Y) - u.diff(Y) * v.diff(X)
    with pytest.raises(ValueError, match=r"divergence.*over='boundary'"):
        kp.Problem(SQUARE, energy=kp.integral(null))
    on_rim = kp.integral(u**2 + v**2, over="boundary")
    stored = sum(w.diff(s) ** 2 for w in (u, v) for s in (X, Y))
    kp.Problem(SQUARE, energy=kp.integral(null + stored) + on_rim)


def test_time_dependent_energy_is_refused():
    w = sp.Function("w")(X, T)
    domain = kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)})
    with pytest.raises(ValueError, match=r"time.*`equations`"):
        kp.Problem(domain, energy=kp.integral(w.diff(X) ** 2))


@pytest.mark.parametrize(
    ("energy", "conditions", "words"),
    [
        (-STORED, HELD, "negative for some changes of u"),
        (-kp.integral(sp.sqrt(1 + U.diff(X) ** 2)), HELD, "negative for some changes"),
        (STORED - kp.integral(U**4 + U), HELD, "negative for some changes of u"),
        (STORED - kp.integral(U, over={X: 2}), {}, "no condition holds"),
        (STORED, {}, "undetermined"),
        (STORED - kp.integral(sp.cos(sp.pi * X) * U), {}, "undetermined"),
    ],
)
def test_energy_without_a_minimum_warns(energy, conditions, words):
    with pytest.warns(UserWarning, match=words):
        problem = kp.Problem(BAR, energy=energy, conditions=conditions)
    assert words in problem.underdetermined


@pytest.mark.parametrize(
    "held",
    [
        {"clamp": kp.Condition(U, on={X: 0}, hard=True)},
        {"clamp": kp.Condition(U, on={X: 0}, weight=100)},
        {"mean": kp.Condition(kp.integral(U))},
    ],
)
def test_conditions_that_bound_the_energy_do_not_warn(held):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kp.Problem(BAR, energy=STORED - kp.integral(U), conditions=held)


@pytest.mark.parametrize("density", [(U**2 - 1) ** 2, sp.cos(U), -(U**2) + U**4])
def test_bounded_energies_with_negative_curvature_do_not_warn(density):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kp.Problem(BAR, energy=STORED + kp.integral(density), conditions=HELD)


def test_scales_follow_from_the_energy():
    """u'' = -3 / 1e11 with u(0) = 0 and a free end: u(2) = 6e-11, energy -12e-11 …"""
    energy = kp.integral(1e11 * U.diff(X) ** 2 / 2 - 3 * U)
    scales = kp.Problem(BAR, energy=energy, conditions=HELD).scales
    assert scales.fields["u"] == pytest.approx(6e-11, rel=0.1)
    assert scales.terms["residual"][0] == pytest.approx(9 * 8 / 6 / 1e11, rel=0.05)


def test_scales_in_pascals_and_metres_agree_with_nondimensional_scales():
    nondimensional, in_pascals = cantilever(), cantilever(metre=0.03, pascal=210e9)
    for name in "uv":
        ratio = in_pascals.scales.fields[name] / nondimensional.scales.fields[name]
        assert ratio == pytest.approx(0.03, rel=0.02)
    (energy_of_nondimensional,), (energy_in_pascals,) = (
        nondimensional.scales.terms["residual"],
        in_pascals.scales.terms["residual"],
    )
    assert energy_in_pascals / energy_of_nondimensional == pytest.approx(
        210e9 * 0.03**2, rel=0.02
    )


@pytest.mark.parametrize("zero", [0.0, 273.15])
def test_scales_of_temperatures_in_celsius_and_kelvin(zero):
    """120 °C at one end of a wall, convection to 20 °C at the other: 33 °C there."""
    convection = kp.integral(10 * (U - zero - 20) ** 2 / 2, over={X: 2})
    conditions = {"hot": kp.Condition(sp.Eq(U, zero + 120), on={X: 0}, hard=True)}
    energy = kp.integral(3 * U.diff(X) ** 2 / 2) + convection
    scales = kp.Problem(BAR, energy=energy, conditions=conditions).scales
    assert scales.fields["u"] == pytest.approx(100 / (1 + 3 / 20), rel=0.05)


@pytest.mark.parametrize("zero", [0.0, 273.15])
def test_scales_of_convection_alone_in_celsius_and_kelvin(zero):
    """Heated by 60, insulated at x = 0: T = 72 - 10 x². Energy beside T = 52: 3600."""
    convection = kp.integral(10 * (U - zero - 20) ** 2 / 2, over={X: 2})
    energy = kp.integral(3 * U.diff(X) ** 2 / 2 - 60 * U) + convection
    scales = kp.Problem(BAR, energy=energy).scales
    assert scales.fields["u"] == pytest.approx(20, rel=0.05)
    assert scales.offsets["u"] == pytest.approx(zero + 52, abs=1)
    assert scales.terms["residual"][0] == pytest.approx(3600, rel=0.05)


def test_scales_of_two_phases_have_no_offset():
    energy = STORED + kp.integral(25 * (U**2 - 1) ** 2)
    assert not kp.Problem(BAR, energy=energy).scales.offsets


@pytest.mark.parametrize(
    ("density", "value"), [((U - 300) ** 2 / 2, 300), (sp.exp(U / 100) - 20 * U, 760)]
)
def test_scale_of_a_constant_minimum_is_its_value(density, value):
    scales = kp.Problem(BAR, energy=STORED + kp.integral(density)).scales
    assert not scales.offsets
    assert scales.fields["u"] == pytest.approx(value, rel=0.01)
    assert scales.terms["residual"][0] > value


@pytest.mark.parametrize("end", [4, 4.309, 4.5])
def test_scales_of_an_energy_beside_prescribed_values_do_not_cancel(end):
    """½∫(c' - u')² for c = 0: d²/4 + 1/3."""
    ends = {"a": kp.Condition(U, on={X: 0}), "b": kp.Condition(U - end, on={X: 2})}
    problem = kp.Problem(BAR, energy=STORED - kp.integral(U), conditions=ends)
    size = problem.scales.terms["residual"][0]
    assert size == pytest.approx(end**2 / 4 + 1 / 3, rel=0.01)


def test_a_condition_leaves_no_offset_to_a_steep_layer():
    energy = STORED + kp.integral(1000 * (U - 300) ** 2 / 2)
    assert not kp.Problem(BAR, energy=energy, conditions=HELD).scales.offsets


@pytest.mark.parametrize("size", [1e-14, 1e14])
def test_offsets_do_not_depend_on_the_unit_of_the_energy(size):
    convection = kp.integral(size * (U - 5) ** 2 / 2, over={X: 2})
    energy = kp.integral(size * (U.diff(X) ** 2 / 2 - U / 10)) + convection
    offsets = kp.Problem(BAR, energy=energy).scales.offsets
    assert offsets["u"] == pytest.approx(5.3, rel=0.01)


def test_an_energy_that_falls_on_both_sides_of_a_minimum_is_named():
    energy = STORED - kp.integral(U.diff(X) ** 4 / 1000 + U)
    with pytest.warns(UserWarning, match="no minimum"):
        problem = kp.Problem(BAR, energy=energy, conditions=HELD)
    assert problem.scales.fields["u"] == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("rate", [1e-6, 1e-2, 2e-2])
def test_scales_of_a_conductivity_that_is_negative_at_zero_kelvin(rate):
    """Newton's method neither jumps to a distant minimum nor passes the nearest."""
    stored = kp.integral((3 + rate * (U - 300)) * U.diff(X) ** 2 / 2 - 60 * U)
    convection = kp.integral(10 * (U - 293.15) ** 2 / 2, over={X: 2})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scales = kp.Problem(BAR, energy=stored + convection).scales
    assert scales.offsets["u"] == pytest.approx(325, abs=5)
    assert scales.fields["u"] == pytest.approx(20, rel=0.2)


@pytest.mark.parametrize("rate", [1e-5, 1e-6])
def test_scales_of_a_nearly_quadratic_energy(rate):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        energy = STORED + kp.integral(rate * U**3 / 3 - U)
        scales = kp.Problem(BAR, energy=energy, conditions=HELD).scales
    assert scales.fields["u"] == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize("hot", [800, 1000])
def test_scales_of_radiation_from_a_hot_end(hot):
    radiation = kp.integral(5.67e-8 * (U**5 / 5 - 300**4 * U), over={X: 2})
    held = {"hot": kp.Condition(U - hot, on={X: 0}, hard=True)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = kp.Problem(BAR, energy=3 * STORED + radiation, conditions=held)
    # Conduction to the end equals radiation: 3 (hot - T) / 2 = 5.67e-8 (T⁴ - 300⁴).
    end = brentq(lambda T: 1.5 * (hot - T) - 5.67e-8 * (T**4 - 300**4), 300, hot)
    assert problem.scales.fields["u"] == pytest.approx(hot - end, rel=0.02)


def test_scales_of_radiation_are_those_of_the_minimum_nearby():
    """q = h (T⁴ - 300⁴) at a face. The energy has T⁵, which falls for negative T."""
    radiation = kp.integral(1e-8 * (U**5 / 5 - 300**4 * U), over={X: 2})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = kp.Problem(BAR, energy=3 * STORED - kp.integral(60 * U) + radiation)
    end = (60 * 2 / 1e-8 + 300**4) ** 0.25
    assert problem.scales.offsets["u"] == pytest.approx(end + 20, rel=0.02)
    assert problem.scales.fields["u"] == pytest.approx(20, rel=0.1)


def test_scales_of_strong_heating_with_radiation():
    radiation = kp.integral(5.67e-8 * (U**5 / 5 - 300**4 * U), over={X: 2})
    energy = 3 * STORED - kp.integral(6e4 * U) + radiation
    end = (6e4 * 2 / 5.67e-8 + 300**4) ** 0.25
    size = kp.Problem(BAR, energy=energy).scales.fields["u"]
    assert size == pytest.approx(end + 6e4 * 4 / 2 / 3, rel=0.02)


@pytest.mark.parametrize("power", [sp.Rational(3, 2), 4])
def test_scales_of_an_energy_without_curvature_at_zero(power):
    """(|u'|^(p-2) u')' = -1 on (0, 2), u(0) = 0, u'(2) = 0."""
    slope = U.diff(X)
    energy = kp.integral((slope**2) ** sp.Rational(power, 2) / power - U)
    size = kp.Problem(BAR, energy=energy, conditions=HELD).scales.fields["u"]
    q = power / (power - 1)
    assert size == pytest.approx(float(2**q / q), rel=0.3)
    held = {"held": kp.Condition(U, on="boundary", hard=True)}
    size = kp.Problem(BAR, energy=energy, conditions=held).scales.fields["u"]
    assert size == pytest.approx(float(1 / q), rel=0.3)  # twice on half of the length


def test_equations_and_natural_conditions_are_printed():
    text = str(
        kp.Problem(BAR, energy=STORED - kp.integral(3 * U), conditions=HELD)
    ).replace("\n    ", " ")
    assert "follows: -u_xx - 3 = 0" in text
    assert "n_x*u_x = 0" in text
    pulled = str(
        kp.Problem(BAR, energy=STORED - kp.integral(3 * U, {X: 2}), conditions=HELD)
    )
    assert "n_x*u_x - 3 = 0, over={x: 2.0}" in pulled.replace("\n    ", " ")


def test_equations_of_an_energy_on_parts_are_printed_for_each_part():
    u, _ = plane()
    stored = (u.diff(X) ** 2 + u.diff(Y) ** 2) / 2
    halves = [kp.geometry.Box({X: ends, Y: (0, 1)}) for ends in ((0, 0.5), (0.5, 1))]
    held = {"left": kp.Condition(u, on={X: 0}, hard=True)}

    def text(energy):
        lines = str(kp.Problem(SQUARE, energy=energy, conditions=held))
        return lines.replace("\n    ", " ")

    heated = text(kp.integral(stored) - kp.integral(u, where=X > 0.5))
    assert "-u_xx - u_yy - 1 = 0, where=x > 0.5" in heated
    assert "-u_xx - u_yy = 0 elsewhere" in heated and "jumps" not in heated
    one, other = (kp.integral(4 * stored, halves[0]), kp.integral(stored, halves[1]))
    layers = text(one + other - kp.integral(3 * u, over={X: 1}))
    assert f"-4*u_xx - 4*u_yy = 0, over={halves[0]}" in layers
    assert f"-u_xx - u_yy = 0, over={halves[1]}" in layers
    assert "n_x*u_x + n_y*u_y - 3 = 0, over={x: 1.0}" in layers
    foot = text(one + other + kp.integral(u**2, over={Y: 0}))
    assert "4*n_x*u_x + 4*n_y*u_y + 2*u = 0, over={y: 0.0}" in foot
    assert " n_x*u_x + n_y*u_y + 2*u = 0, over={y: 0.0}" in foot
    partly = text(kp.integral(stored) - kp.integral(u, over={X: 1}, where=Y > 0.5))
    assert "n_x*u_x + n_y*u_y - 1 = 0, over={x: 1.0}, where=y > 0.5" in partly
    between = kp.integral(u, over={X: sp.Rational(1, 2)})
    jump = "4*n_x*u_x + 4*n_y*u_y or n_x*u_x + n_y*u_y jumps by 1"
    assert jump in text(one + other + between)


def test_load_on_an_inner_line_is_printed_as_a_jump():
    u, _ = plane()
    stored = kp.integral((u.diff(X) ** 2 + u.diff(Y) ** 2) / 2)
    held = {"left": kp.Condition(u, on={X: 0}, hard=True)}
    load = kp.integral(3 * u, over={X: sp.Rational(1, 2)})
    text = str(kp.Problem(SQUARE, energy=stored - load, conditions=held))
    assert "n_x*u_x + n_y*u_y jumps by -3, over={x: 0.5}" in text
    plate = kp.integral(u.diff(X, 2) ** 2 / 2 - u)
    text = str(kp.Problem(SQUARE, energy=plate, conditions=held))
    assert "not shown for second derivatives" in text


def test_equations_beside_an_energy_are_soft_conditions():
    u, v = plane()
    problem = kp.Problem(
        SQUARE,
        {"poisson": v.diff(X, 2) + v.diff(Y, 2) - u},
        {"edge": kp.Condition([u, v], on="boundary", hard=True)},
        energy=kp.integral((u.diff(X) ** 2 + u.diff(Y) ** 2) / 2 - u),
    )
    assert set(problem.terms) == {"residual", "poisson"}
    assert "poisson" in problem.conditions
    assert type(problem).from_config(problem.get_config()) is not None


def test_a_config_round_trip_keeps_the_energy():
    problem = cantilever()
    config = keras.saving.serialize_keras_object(problem)
    other = keras.saving.deserialize_keras_object(config)
    assert other.energy == problem.energy
    assert other.scales == problem.scales
    assert str(other) == str(problem)


def test_normals_are_allowed_in_integrals_over_faces():
    """Add the work of a pressure on a face to a density without normals."""
    u, v = plane()
    push = u * SQUARE.normal[0] + v * SQUARE.normal[1]
    stored = kp.integral(u.diff(X) ** 2 + v.diff(Y) ** 2 + u**2 + v**2)
    kp.Problem(SQUARE, energy=stored + kp.integral(push, over={X: 1}))
    with pytest.raises(ValueError, match="normal"):
        kp.Problem(SQUARE, energy=stored + kp.integral(push))
