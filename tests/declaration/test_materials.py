"""Equations and fields on parts of a domain."""

import warnings

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.probe_points import probe_points
from keraspinn.declaration.windows import restricted

x, y, t = sp.symbols("x y t")
Box, Condition, Equation = kp.geometry.Box, kp.Condition, kp.Equation
Interface, across = kp.geometry.Interface, kp.normal_derivative
DOMAIN, LEFT, RIGHT = (Box({x: ends}) for ends in ((0, 1), (0, 0.5), (0.5, 1)))
u1, u2, u = (sp.Function(name)(x) for name in ("u1", "u2", "u"))
MEET = kp.interface_condition(
    LEFT, RIGHT, (u1, u2), ([-400 * u1.diff(x)], [-1.38 * u2.diff(x)])
)
EQUATIONS = {
    "left": Equation(400 * u1.diff(x, 2), on=LEFT),
    "right": Equation(1.38 * u2.diff(x, 2), on=RIGHT),
}
ENDS = {"hot": Condition(u1 - 1, on={x: 0}), "cold": Condition(u2, on={x: 1})}


def slab(**changes):
    return kp.Problem(DOMAIN, EQUATIONS, {**ENDS, "meet": MEET, **changes})


@pytest.fixture
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.usefixtures("no_warnings")
@pytest.mark.parametrize("domain", [DOMAIN, LEFT + RIGHT], ids=["whole", "sum"])
def test_each_material_has_a_loss_term_with_points_inside(domain):
    problem = kp.Problem(domain, EQUATIONS, {**ENDS, "meet": MEET})
    assert list(problem.terms) == ["residual", "right", "hot", "cold", "meet"]
    for name, material in (("residual", LEFT), ("right", RIGHT)):
        (block,) = problem.terms[name].blocks
        points = [domain.centre + domain.sample(p, np.full((9, 1), 0.3)) for p in block]
        assert all(
            material.contains(material.interior, p - material.centre).all()
            for p in points
        )
    assert problem.field_terms == {"u1": ("residual",), "u2": ("right",)}
    assert problem.equations["right"] == EQUATIONS["right"].expression


@pytest.mark.usefixtures("no_warnings")
def test_materials_config_round_trip_and_text():
    problem = slab()
    assert "on x ∈ [0.5, 1]" in str(problem)
    again = kp.Problem.from_config(problem.get_config())
    assert str(again) == str(problem) and list(again.terms) == list(problem.terms)
    beside = Equation(u1.diff(x), where=x < 0.5)
    config = Equation.from_config(beside.get_config()).get_config()
    assert config == beside.get_config()


def test_scales_differ_by_material():
    scales = slab().scales  # all but 0.3 % of the drop is on the right
    assert scales.field("u1") == pytest.approx(1.38 / 400, rel=0.1)
    assert scales.field("u2") == pytest.approx(1, rel=0.1)


@pytest.mark.usefixtures("no_warnings")
def test_one_field_may_have_equations_in_several_parts():
    equations = {
        "source": Equation(u.diff(x, 2) + 1, on=LEFT),
        "rest": Equation(u.diff(x, 2), on=RIGHT),
    }
    problem = kp.Problem(DOMAIN, equations, {"ends": Condition(u, on="boundary")})
    assert problem.field_terms == {"u": ("residual", "rest")}


@pytest.mark.usefixtures("no_warnings")
def test_equation_on_the_whole_domain_is_the_residual():
    equations = {"part": Equation(u2.diff(x) - u, on=RIGHT), "all": u.diff(x, 2)}
    held = {"ends": Condition(u - x, on="boundary"), "end": Condition(u2, on={x: 1})}
    problem = kp.Problem(DOMAIN, equations, held)
    assert problem.terms["residual"].labels == ("all",)
    assert problem.field_parts["u"] is None


@pytest.mark.parametrize("missing", ["hot", "cold", "meet"])
def test_missing_boundary_condition_of_a_material_warns(missing):
    held = {n: c for n, c in {**ENDS, "meet": MEET}.items() if n != missing}
    with pytest.warns(UserWarning, match="underdetermined"):
        kp.Problem(DOMAIN, EQUATIONS, held)


def in_the_plane(right):
    v1, v2 = (sp.Function(name)(x, y) for name in ("v1", "v2"))
    gradients = [v1.diff(x), v1.diff(y)], [v2.diff(x), v2.diff(y)]
    return kp.Problem(
        Box({x: (0, 1), y: (0, 1)}),
        {
            "left": Equation(v1.diff(x, 2) + v1.diff(y, 2), on=LEFT),
            "right": Equation(v2.diff(x, 2) + v2.diff(y, 2) + 1, on=RIGHT),
        },
        {
            "left side": Condition(v1, on="boundary", where=LEFT),
            "right side": Condition(v2, on=right, where=RIGHT),
            "meet": kp.interface_condition(
                *(Box({x: ends, y: (0, 1)}) for ends in ((0, 0.5), (0.5, 1))),
                (v1, v2),
                gradients,
            ),
        },
    )


@pytest.mark.usefixtures("no_warnings")
def test_side_of_two_materials_has_boundary_conditions_of_both():
    in_the_plane("boundary")


def test_half_a_side_without_a_boundary_condition_warns():
    with pytest.warns(UserWarning, match="50% of y = 0"):
        in_the_plane([{x: 1}, {y: 1}])


def in_time(**changes):
    w1, w2 = (sp.Function(name)(x, t) for name in ("w1", "w2"))
    held = {
        "ends": Condition(w1 - 1, on={x: 0}),
        "cold": Condition(w2, on={x: 1}),
        "meet": Condition(
            [w1 - w2, w1.diff(x) - w2.diff(x)], on=Interface(LEFT, RIGHT)
        ),
        "first": Condition(w1, on="initial", where=LEFT),
        "second": Condition(w2, on="initial", where=RIGHT),
    }
    equations = {
        "left": Equation(w1.diff(t) - w1.diff(x, 2), on=LEFT),
        "right": Equation(w2.diff(t) - w2.diff(x, 2), on=RIGHT),
    }
    held = {
        name: condition for name, condition in {**held, **changes}.items() if condition
    }
    return kp.Problem(Box({x: (0, 1)}, time={t: (0, 1)}), equations, held)


@pytest.mark.usefixtures("no_warnings")
def test_each_material_has_initial_conditions():
    problem = in_time()
    again = kp.Problem.from_config(problem.get_config())
    assert str(again) == str(problem)


def test_time_windows_keep_the_parts_and_drop_initial_conditions():
    problem = restricted(in_time(), 0.5, 1)
    assert list(problem.terms) == ["residual", "right", "ends", "cold", "meet"]
    points = probe_points(problem.domain, problem.terms["right"].blocks, 64)
    assert points.min(axis=0) == pytest.approx([0.5, 0.5], abs=0.02)
    assert problem.field_parts["w2"] == problem.terms["right"].blocks[0]


def test_material_without_an_initial_condition_warns():
    with pytest.warns(UserWarning, match="An initial condition is missing"):
        in_time(second=None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cold": Condition(u1, on={x: 1})}, "'cold' takes u1 where it does not live"),
        (
            {"hot": Condition(u1, on="boundary")},
            "restrict the condition to the same part",
        ),
        ({"sensor": kp.Data([[0.9]], {u1: [1.0]})}, "'sensor' takes u1"),
        ({"meet": Condition(u1 - u2, on=Interface(LEFT, Box({x: (0.7, 1)})))}, "touch"),
    ],
)
def test_field_outside_of_its_material_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        slab(**changes)


def test_advice_on_conditions_of_one_material_works():
    slab(hot=Condition(u1 - 1, on="boundary", where=LEFT))


def test_field_in_the_equation_of_another_material_is_refused():
    equations = {**EQUATIONS, "right": Equation(u2.diff(x, 2) + u1, on=RIGHT)}
    with pytest.raises(ValueError, match="'right' takes u1"):
        kp.Problem(DOMAIN, equations, {**ENDS, "meet": MEET})


def test_an_interface_may_end_a_region_by_a_relation():
    equations = {
        "left": Equation(u1.diff(x, 2), where=x < 0.5),
        "right": Equation(u2.diff(x, 2), where=x > 0.5),
    }
    kp.Problem(DOMAIN, equations, {**ENDS, "meet": MEET})


def test_equations_outside_and_on_faces_are_refused():
    with pytest.raises(ValueError, match="within the domain"):
        kp.Problem(DOMAIN, {"out": Equation(u.diff(x), on=Box({x: (2, 3)}))})
    with pytest.raises(ValueError, match="Condition"):
        Equation(u, on={x: 0})


def test_an_interface_condition_follows_from_one_flux_by_region():
    square, disk = kp.geometry.Box({x: (0, 1), y: (0, 1)}), kp.geometry.Disk((0, 0), 1)
    for first, second in ((square - disk, disk), (disk, square - disk)):
        one, two = (sp.Function(name)(x, y) for name in ("one", "two"))
        T = kp.by_region({first: one, second: two})
        k = kp.by_region({first: 400, second: 1 + T})
        declared = kp.interface_condition(first, second, T, [-k * T.diff(x), 0])
        sides = [-400 * one.diff(x), 0], [-(1 + two) * two.diff(x), 0]
        expected = kp.interface_condition(first, second, (one, two), sides)
        pairs = zip(declared.expressions, expected.expressions, strict=True)
        assert all(sp.expand(e - other) == 0 for e, other in pairs)
    with pytest.raises(ValueError, match="two sides.*by_region"):
        kp.interface_condition(first, second, (one, two), [-one.diff(x)])


@pytest.mark.parametrize("count", [1, 3])
def test_a_flux_needs_a_component_for_each_coordinate_in_space(count):
    v1, v2 = (sp.Function(name)(x, y) for name in ("v1", "v2"))
    sides = (Box({x: ends, y: (0, 1)}) for ends in ((0, 0.5), (0.5, 1)))
    flux = [v1.diff(x)] * count, [v2.diff(x)] * count
    with pytest.raises(ValueError, match="a component for each"):
        kp.interface_condition(*sides, values=(v1, v2), flux=flux)


def test_an_interface_of_three_materials_takes_the_branches_of_its_sides():
    disk, strip = kp.geometry.Disk((1, 1), 0.5), kp.geometry.Box({x: (2, 3), y: (0, 3)})
    around = kp.geometry.Box({x: (0, 2), y: (0, 3)}) - disk
    one, two, three = (sp.Function(name)(x, y) for name in ("one", "two", "three"))
    T = kp.by_region({disk: one, around: two, strip: three})
    layered = sp.Piecewise((1, y < 0.5), (7, True))  # stays as it is
    flux = [-layered * T.diff(x), -layered * T.diff(y)]
    assert kp.interface_condition(disk, around, T, flux).expressions[0] == one - two
    jumps = kp.interface_condition(around, strip, [T, 2 * T], [flux, flux]).expressions
    assert jumps[:2] == (two - three, 2 * two - 2 * three)
    assert jumps[2].has(layered) and not jumps[2].has(one)


def test_an_interface_condition_takes_lists_of_fields():
    stress = sp.symbols("s:4")
    pair = kp.interface_condition(
        Box({x: (0, 1), y: (0, 1)}),
        Box({x: (1, 2), y: (0, 1)}),
        ([u1, u2], [u, u]),
        ([stress[:2], stress[2:]], [[0, 0], [0, 0]]),
    )
    n = Box({x: (0, 1), y: (0, 1)}).normal
    assert pair.expressions[:2] == (u1 - u, u2 - u)
    assert sp.expand(pair.expressions[3] - stress[2] * n[0] - stress[3] * n[1]) == 0


def test_references_are_compared_where_their_fields_live():
    T = kp.by_region({LEFT: u1, RIGHT: u2})
    exact = {u1: 1 - x / 100, u2: 1 - x, T: kp.by_region({LEFT: x, RIGHT: 2 * x})}
    held = {**ENDS, "meet": MEET}
    points, values = kp.Problem(DOMAIN, EQUATIONS, held, reference=exact).test_data(11)
    assert np.isnan(values["u1"][points[:, 0] > 0.51]).all()
    assert np.isnan(values["u2"][points[:, 0] < 0.49]).all()
    assert np.isfinite(values["u1_or_u2"]).all()
