"""Scales from a declaration alone."""

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
U, V = sp.Function("u")(T), sp.Function("u")(X)


def scales(domain, equations, conditions=None, **options):
    problem = kp.Problem(domain, equations, conditions or {}, scales="auto", **options)
    return problem.scales


def beam(stiffness, length, load):
    u = sp.Function("u")(X)
    return scales(
        kp.geometry.Box({X: (0, length)}),
        {"beam": stiffness * u.diff(X, 4) + load},
        {
            "clamp": kp.Condition([u, u.diff(X)], on={X: 0}),
            "free": kp.Condition([u.diff(X, 2), u.diff(X, 3)], on={X: length}),
        },
    )


def test_scales_of_a_beam_do_not_depend_on_units():
    plain, si = beam(1, 1, 1), beam(210e9 * 1e-8, 2, 500)
    assert plain.coordinates == {X: (0.5, 0.5)} and si.coordinates == {X: (1, 1)}
    assert plain.field("u") == pytest.approx(1 / 8, rel=0.01)
    assert si.field("u") == pytest.approx(500 * 2**4 / 2100 / 8, rel=0.01)
    assert si.terms["residual"][0] == pytest.approx(1000, rel=0.01)
    ratios = np.divide(si.terms["clamp"], si.field("u"))
    np.testing.assert_allclose(ratios, [1, 1], rtol=0.01)
    ratios = np.divide(plain.terms["free"], plain.field("u"))
    np.testing.assert_allclose(ratios, [4, 8], rtol=0.01)


def test_an_oscillating_source_term_gives_a_smaller_scale():
    problem = kp.problems.helmholtz(a1=1, a2=4).with_scales("auto")
    assert problem.scales.field("u") == pytest.approx(1, rel=0.1)
    # Set by the terms in u, not by the source: see `Balance.largest`.
    assert problem.scales.terms["residual"][0] == pytest.approx(1, rel=0.1)
    problem = kp.problems.poisson(c=16).with_scales("auto")
    assert problem.scales.field("u") == pytest.approx(1, rel=0.5)


def test_prescribed_values_set_the_scale_of_a_field():
    u = sp.Function("u")(X, T)
    rod = kp.geometry.Box({X: (0, 0.1)}, time={T: (0, 3600)})
    heat = {"heat": u.diff(T) - 1e-5 * u.diff(X, 2)}
    hot = {"initial": kp.Condition(u - 300, on="initial")}
    robin = {"end": kp.Condition(50 * u.diff(X) + 10 * (u - 400), on={X: 0.1})}
    seen = {"gauge": kp.Data([[0.05, 60.0]], {2 * u: [700.0]})}
    cold = {"initial": kp.Condition(u - 3, on="initial")}
    for conditions, size in ((cold, 3), (cold | seen, 350)):
        estimated = scales(rod, heat, conditions)
        assert estimated.field("u") == pytest.approx(size)
        assert estimated.terms["residual"][0] == pytest.approx(1e-5 * size / 0.05**2)
    assert estimated.terms["gauge"] == (700,)
    between = {(): (0, 300), ("robin",): (350, 50), ("seen",): (325, 25)}
    others = {"robin": robin, "seen": seen}
    for names, (offset, size) in between.items():
        conditions = hot.copy()
        for name in names:
            conditions |= others[name]
        estimated = scales(rod, heat, conditions)
        assert estimated.offset("u") == pytest.approx(offset)
        assert estimated.field("u") == pytest.approx(size)
        assert estimated.terms["residual"][0] == pytest.approx(1e-5 * size / 0.05**2)


def test_scales_of_reactions_exceed_small_initial_values():
    a, b = sp.Function("a")(T), sp.Function("b")(T)
    equations = {
        "prey": a.diff(T) - a + 0.01 * a * b,
        "predator": b.diff(T) + b - 0.02 * a * b,
    }
    estimated = scales(
        kp.geometry.Box(time={T: (0, 20)}),
        equations,
        {"i": kp.Condition([a - 10, b - 5], on="initial")},
    )
    assert 278 / 6 < estimated.field("a") < 6 * 278  # 28 times its initial value
    assert 557 / 6 < estimated.field("b") < 6 * 557


def test_pressure_scale_balances_inertia():
    u, v, p = (sp.Function(name)(X, Y) for name in "uvp")
    density, lid = 1000, 2
    flow = {
        "x": density * (u * u.diff(X) + v * u.diff(Y)) + p.diff(X) - u.diff(X, 2),
        "y": density * (u * v.diff(X) + v * v.diff(Y)) + p.diff(Y) - v.diff(Y, 2),
        "mass": u.diff(X) + v.diff(Y),
    }
    estimated = scales(
        kp.geometry.Box({X: (0, 1), Y: (0, 1)}),
        flow,
        {
            "lid": kp.Condition([u - lid, v], on={Y: 1}),
            "wall": kp.Condition([u, v], on=[{X: 0}, {X: 1}, {Y: 0}]),
        },
    )
    assert (estimated.field("u"), estimated.field("v")) == (lid, lid)
    assert estimated.field("p") == density * lid**2


def test_a_stress_in_pascals_sets_the_displacement_scale():
    u, v = (sp.Function(name)(X, Y) for name in "uv")
    young, traction = 210e9, 1e8
    pull = young * (u.diff(X) + 0.3 * v.diff(Y)) - traction
    estimated = scales(
        kp.geometry.Box({X: (-0.1, 0.1), Y: (-0.1, 0.1)}),
        {"x": young * (u.diff(X, 2) + u.diff(Y, 2)), "y": young * v.diff(Y, 2)},
        {
            "pull": kp.Condition(pull, on={X: 0.1}),
            "hold": kp.Condition(u, on={X: -0.1}),
            "sides": kp.Condition([u.diff(Y), v], on=[{Y: -0.1}, {Y: 0.1}]),
        },
    )
    assert estimated.field("u") == pytest.approx(0.2 * traction / young, rel=0.01)
    assert estimated.terms["pull"][0] == pytest.approx(2 * traction, rel=0.01)
    assert estimated.terms["residual"][0] == pytest.approx(traction / 0.05, rel=0.01)


def test_undetermined_scales_are_one_and_prescribed_scales_stay():
    u = sp.Function("u")(X)
    box, equation = kp.geometry.Box({X: (0, 4)}), {"e": u.diff(X, 2) + sp.sin(u)}
    wall = {"wall": kp.Condition(u, on="boundary")}
    assert scales(box, equation, wall).field("u") == 1
    problem = kp.Problem(box, equation, wall, scales={u: 8})
    assert problem.scales.field("u") == 8 and problem.scales.terms["wall"] == (8,)
    assert problem.scales.terms["residual"] == (2,)
    assert "u = 8 û" in str(problem)
    with pytest.raises(ValueError, match="names .'w'"):
        problem.with_scales({sp.Function("w")(X): 2})
    again = kp.Problem.from_config(problem.get_config())
    assert again.scales == problem.scales


def test_a_parameter_with_initial_value_zero_does_not_count():
    u, b = sp.Function("u")(X), kp.Parameter("b", initial=0)
    box = kp.geometry.Box({X: (-1, 1)})
    wall = {"w": kp.Condition(sp.Eq(u, 150), on="boundary")}
    heat = ((1 + b * u) * u.diff(X)).diff(X)
    assert scales(box, {"e": heat}, wall).terms["residual"] == (150,)
    assert scales(box, {"e": b * u.diff(X, 2)}, wall).terms["residual"] == (150,)
    assert scales(box, {"e": u.diff(X, 2) + u / b}, wall).terms["residual"] == (150,)


@pytest.mark.parametrize(
    ("source", "size"),
    [
        (1 + sp.sin(100 * X) / 10, 0.5),
        (X + sp.sin(100 * X) / 10, 0.064),
        (sp.sin(30 * X), 2e-3),
        (sp.exp(-400 * X**2), 0.044),
        (sp.tanh(50 * X), 0.125),
    ],
)
def test_mean_and_oscillation_of_a_source_term_count_separately(source, size):
    # Maxima of u'' + f = 0 with u = 0 at the walls, solved by hand.
    u = sp.Function("u")(X)
    wall = {"wall": kp.Condition(u, on="boundary")}
    for unit in (1, 1e-6):
        box = kp.geometry.Box({X: (-unit, unit)})
        heat = {"heat": 3 * u.diff(X, 2) + source.subs(X, X / unit)}
        magnitude = scales(box, heat, wall).field("u")
        assert size / 3 < 3 * magnitude / unit**2 < 3 * size


def test_a_narrow_pulse_counts_by_its_height():
    u = sp.Function("u")(X, Y, T)
    domain = kp.geometry.Box({X: (-1, 1), Y: (-1, 1)}, time={T: (0, 1)})
    pulse = sp.exp(-((X - 0.2) ** 2 + Y**2) / (2 * 0.05**2))
    start = {"initial": kp.Condition([sp.Eq(u, 7 * pulse), u.diff(T)], on="initial")}
    wave = {"wave": u.diff(T, 2) - u.diff(X, 2) - u.diff(Y, 2)}
    assert 3 < scales(domain, wave, start).field("u") <= 7


@pytest.mark.parametrize(
    "unknown",
    [
        {"w": 2.0},
        kp.Scales({X: (0, 1)}, fields={"w": 2.0}),
        kp.Scales({X: (0, 1)}, terms={"strange": (1.0,)}),
        kp.Scales({X: (0, 1)}, terms={"residual": (1.0, 1.0)}),
    ],
)
def test_scales_of_unknown_fields_raise(unknown):
    u = sp.Function("u")(X)
    domain = kp.geometry.Box({X: (0, 1)})
    fault = r"`scales` (must .*Received also:|names) \['(w|st|re)"
    with pytest.raises(ValueError, match=fault):
        kp.Problem(domain, {"e": u.diff(X) - 1}, scales=unknown)


def test_prescribed_scales_by_field_name():
    u = sp.Function("u")(X)
    domain = kp.geometry.Box({X: (0, 1)})
    problem = kp.Problem(domain, {"e": u.diff(X) - 1}, scales={"u": 8})
    assert problem.scales.field("u") == 8


def test_source_term_counts_inside_the_domain_where_finite():
    u = sp.Function("u")(X, Y)
    laplace = u.diff(X, 2) + u.diff(Y, 2)

    def size(domain, source, edge_value=X / 1000):
        edge = {"edge": kp.Condition(sp.Eq(u, edge_value), on="boundary")}
        return scales(domain, {"poisson": laplace + source}, edge).field("u")

    r = sp.sqrt(X**2 + Y**2)
    disk = kp.geometry.Disk((0, 0), 1, coordinates=(X, Y))
    assert size(disk, sp.exp(20 * r**2)) < 1e7  # beyond the disk, e^40
    square = kp.geometry.Box({X: (-1, 1), Y: (-1, 1)})
    assert 6 < size(square, 100 / r) < 600  # infinite in the middle
    cube = kp.geometry.Box({X: (-1, 1), Y: (-1, 1), T: (-1, 1)})
    v = sp.Function("v")(X, Y, T)
    fast = sp.sin(16 * sp.pi * X) * sp.sin(sp.pi * Y) * sp.sin(sp.pi * T)
    walls = {"walls": kp.Condition(v, on="boundary")}
    equation = {"e": v.diff(X, 2) + v.diff(Y, 2) + v.diff(T, 2) + fast}
    assert 1e-4 < scales(cube, equation, walls).field("v") < 1e-3  # zero on the grid


def test_scale_of_an_insulated_body_grows_with_time():
    u = sp.Function("u")(X, T)
    domain = kp.geometry.Box({X: (0, 0.1)}, time={T: (0, 1e5)})
    start = {"initial": kp.Condition(u, on="initial")}
    sides = kp.Condition(u.diff(X), on="boundary")
    for source, size in ((3, 3e5), (3 * sp.exp(-T / 1e4), 3e4)):
        heat = {"heat": u.diff(T) - 1e-5 * u.diff(X, 2) - source}
        magnitude = scales(domain, heat, start | {"sides": sides}).field("u")
        assert size / 3 < magnitude < 3 * size
    warmed = {"warm": kp.Condition(u.diff(X) - 7, on={X: 0.1})}
    warmed["cold"] = kp.Condition(u.diff(X), on={X: 0})
    heat = {"heat": u.diff(T) - 1e-5 * u.diff(X, 2)}
    magnitude = scales(domain, heat, start | warmed).field("u")
    assert 70 / 3 < magnitude < 3 * 70  # 7 · 1e-5 · 1e5 / 0.1


def test_a_gradient_at_a_face_extends_over_the_decay_length():
    u, v = sp.Function("u")(X), sp.Function("u")(X, T)
    box = kp.geometry.Box({X: (0, 1)})
    string = kp.geometry.Box({X: (0, 1)}, time={T: (0, 0.1)})
    hit = kp.Condition([v, v.diff(T) - 3 * sp.sin(sp.pi * X)], on="initial")
    hit = {"hit": hit, "held": kp.Condition(v, on="boundary")}

    def face(expressions, **further):
        return {"face": kp.Condition(expressions, on={X: 0}), **further}

    end = {"end": kp.Condition([u, u.diff(X)], on={X: 1})}
    cold = {"end": kp.Condition(u, on={X: 1})}

    cases = [  # a fin, a rail on springs, a string
        (box, u.diff(X, 2) - 1e4 * u, face(u.diff(X) - 7, **cold), 0.07),
        (
            box,
            u.diff(X, 4) + 4e4 * u,
            face([u.diff(X), u.diff(X, 3) - 1], **end),
            1.25e-4,
        ),
        (string, v.diff(T, 2) - v.diff(X, 2), hit, 0.3),
    ]
    for domain, equation, conditions, size in cases:
        magnitude = scales(domain, {"e": equation}, conditions).field("u")
        assert size / 3 < magnitude < 3 * size, equation


def test_functions_of_fields_are_evaluated_at_the_fields_scales():
    x, y = sp.Function("x")(T), sp.Function("y")(T)
    pull = 3.986e14 / (x**2 + y**2) ** sp.Rational(3, 2)
    estimated = scales(
        kp.geometry.Box(time={T: (0, 6270)}),
        {"x": x.diff(T, 2) + pull * x, "y": y.diff(T, 2) + pull * y},
        {
            "initial": kp.Condition(
                [x - 7e6, x.diff(T), y, y.diff(T) - 8929], on="initial"
            )
        },
    )
    assert all(0.3 < size < 30 for size in estimated.terms["residual"])  # 8 m/s²


def test_data_set_the_scale_of_a_field():
    u, k = (sp.Function(name)(X) for name in "uk")
    box, places = kp.geometry.Box({X: (0, 1)}), np.linspace(0, 1, 20)[:, None]
    equations = {"drift": u.diff(X, 2) / 100 + k * u.diff(X) + 1}
    coefficient = {"known": kp.Condition(sp.Eq(k, 0.01), on={X: 0})}
    sensors = {"seen": kp.Data(places, {u: np.full(len(places), 3.0)})}
    assert scales(box, equations, coefficient | sensors).field("u") == pytest.approx(
        3.0
    )


def test_scales_of_source_terms_of_all_kinds():
    u = sp.Function("u")(X)
    box, wall = kp.geometry.Box({X: (-1, 1)}), {"w": kp.Condition(u, on="boundary")}
    k = kp.Parameter("k", initial=4.0)
    kink = sp.Piecewise((3, X > 0), (0, True))
    # Source terms, and the largest values of their solutions.
    sources = {3 * sp.Abs(X): 0.125, kink: 0.211, 3 * sp.sign(X): 0.094}
    sources[sp.Max(X, 0) * 3] = 0.08
    for source, size in sources.items():
        estimated = scales(box, {"e": k * u.diff(X, 2) - source}, wall)
        assert size / 2 < estimated.field("u") < 3 * size
        assert estimated.terms["residual"][0] == pytest.approx(
            4 * estimated.field("u"), rel=0.1
        )
    pole = scales(box, {"e": u.diff(X, 2) + u.diff(X) / X - 2}, wall)
    assert 1e-4 < pole.field("u") <= 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fields": {"u": 0.0}}, "`size of u` must be a positive number"),
        ({"terms": {"residual": [np.inf]}}, "`size of residual` must be a positive"),
        ({"offsets": {"u": np.nan}}, "`offset of u` must be a finite number.*nan"),
        ({"offsets": {"u": "20 K"}}, "`offset of u` must be a finite number.*20 K"),
        ({"coordinates": {T: (-np.inf, 1.0)}}, "`centre of t` must be a finite.*inf"),
        ({"coordinates": {T: (0.0, -1.0)}}, "`half of t` must be a positive number"),
    ],
)
def test_scales_that_are_not_positive_numbers_raise(settings, message):
    with pytest.raises(ValueError, match=message):
        kp.Scales(**{"coordinates": {T: (0.0, 1.0)}} | settings)


@pytest.mark.parametrize(
    ("conductivity", "most"),
    [
        (1 + V**2, 91.0),  # by its integral, a cubic in u
        (1 + 1e4 * V**2, 4.2),
        (V**3, 31.6),
    ],
)
def test_nonlinear_conductivity_limits_the_scale(conductivity, most):
    heated = (conductivity * V.diff(X)).diff(X) / 2 + 1e6
    cold = {"cold": kp.Condition(V - sp.Rational(1, 10), on="boundary")}
    magnitude = scales(kp.geometry.Box({X: (0, 1)}), {"heat": heated}, cold).fields["u"]
    assert most / 3 < magnitude < 3 * most


@pytest.mark.filterwarnings("error")
def test_a_term_singular_at_zero_declares_without_a_warning():
    conditions = {"ends": kp.Condition(V - 1, on="boundary")}
    assert scales(kp.geometry.Box({X: (0, 1)}), {"e": V.diff(X, 2) - 1 / V}, conditions)


def test_a_temperature_in_an_arrhenius_rate_stays_positive():
    rate = sp.exp(20 - 10_000 / V)
    walls = {"ends": kp.Condition(V - 500, on="boundary")}
    box = kp.geometry.Box({X: (0, 1)})
    estimated = scales(box, {"heat": V.diff(X, 2) + 1e4 * rate}, walls)
    assert estimated.offset("u") == 500 and 0 < estimated.field("u") < 500
    prescribed = {"u": 600.0}
    problem = kp.Problem(box, {"heat": V.diff(X, 2) + rate}, walls, scales=prescribed)
    assert problem.scales.field("u") == 600


def test_fields_of_an_interface_are_as_large_as_their_values_not_by_flux():
    """A heating too fast for polynomials reaches an insulation of k = 0.02."""
    hot, cold = (sp.Function(name)(X, T) for name in ("hot", "cold"))
    wall, foam = kp.geometry.Box({X: (0, 0.4)}), kp.geometry.Box({X: (0.4, 0.6)})
    k = 0.02
    conditions = {
        "left": kp.Condition(sp.Eq(hot, 1 - sp.exp(-40 * T)), on={X: 0}),
        "right": kp.Condition(cold, on={X: 0.6}),
        "first": kp.Condition(hot, on="initial", where=wall),
        "second": kp.Condition(cold, on="initial", where=foam),
        "interface": kp.interface_condition(
            wall,
            foam,
            values=(hot, cold),
            flux=([-hot.diff(X)], [-k * cold.diff(X)]),
        ),
    }
    equations = {
        "wall": kp.Equation(sp.Eq(hot.diff(T), hot.diff(X, 2)), on=wall),
        "foam": kp.Equation(sp.Eq(cold.diff(T), k * cold.diff(X, 2)), on=foam),
    }
    domain = kp.geometry.Box({X: (0, 0.6)}, time={T: (0, 1)})
    sizes = kp.Problem(domain, equations, conditions).scales.fields
    assert 0.3 < sizes["hot"] < 3 and 0.3 < sizes["cold"] < 3


def test_a_value_that_is_constant_up_to_round_off_does_not_scale_its_field():
    """An outlet prescribes Kovasznay's pressure by a formula, constant along it."""
    u, v, p = (sp.Function(name)(X, Y) for name in "uvp")
    decay = 10 - sp.sqrt(100 + 4 * sp.pi**2)
    speed = 1 - sp.exp(decay * X) * sp.cos(2 * sp.pi * Y)
    rise = decay / (2 * sp.pi) * sp.exp(decay * X) * sp.sin(2 * sp.pi * Y)
    equations = {"continuity": u.diff(X) + v.diff(Y)}
    for name, w in (("x", u), ("y", v)):
        drag = w.diff(X, 2) / 20 + w.diff(Y, 2) / 20
        along = X if name == "x" else Y
        equations[name] = u * w.diff(X) + v * w.diff(Y) + p.diff(along) - drag
    conditions = {
        "walls": kp.Condition([sp.Eq(u, speed), sp.Eq(v, rise)], on="boundary"),
        "outlet": kp.Condition(sp.Eq(p, 0.5 - sp.exp(2 * decay * X) / 2), on={X: 1}),
    }
    box = kp.geometry.Box({X: (-0.5, 1), Y: (-0.5, 1.5)})
    assert 0.3 < kp.Problem(box, equations, conditions).scales.field("p") < 10


def test_a_value_that_is_zero_up_to_round_off_does_not_scale_its_field():
    w, m = (sp.Function(name)(X, Y) for name in "wm")
    exact = sp.sin(sp.pi * X) * sp.sin(sp.pi * Y)  # 1e-16 at X = 1
    box = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
    equations = {
        "load": m.diff(X, 2) + m.diff(Y, 2) - 4 * sp.pi**4 * exact,
        "moment": w.diff(X, 2) + w.diff(Y, 2) - m,
    }
    edges = [sp.Eq(m, -2 * sp.pi**2 * exact), sp.Eq(w, exact)]
    conditions = {"edges": kp.Condition(edges, on="boundary")}
    assert 0.3 < kp.Problem(box, equations, conditions).scales.field("w") < 3


@pytest.mark.parametrize(
    "initial, flux",
    [(3, 1.2e-16), (3 + sp.sin(2.0 * X) ** 2 + sp.cos(2.0 * X) ** 2, 0)],
)
def test_round_off_beside_an_offset_does_not_scale_the_field(initial, flux):
    w = sp.Function("w")(X, T)
    conditions = {
        "right": kp.Condition(sp.Eq(w.diff(X), flux), on={X: 1}),
        "left": kp.Condition(w.diff(X), on={X: 0}),
        "initial": kp.Condition(sp.Eq(w, initial), on="initial"),
    }
    domain = kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)})
    heat = {"heat": w.diff(T) - w.diff(X, 2)}
    assert 1 < kp.Problem(domain, heat, conditions).scales.field("w") < 10
