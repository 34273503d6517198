"""Detection of clamped elastic bodies in strong form."""

import pytest
import sympy as sp

import keraspinn as kp
from examples.public_examples.common import declared_by
from keraspinn.declaration.validation.elasticity import describe_unreliable_elasticity

X, Y = sp.symbols("x y")
U, V, P = (sp.Function(name)(X, Y) for name in "uvp")
BOX = kp.geometry.Box({X: (0, 4), Y: (0, 1)})


def sentence(problem):
    return describe_unreliable_elasticity(problem.domain, problem.all_terms)


def cantilever(hard=True, by_component=False):
    strain_x, strain_y, shear = U.diff(X), V.diff(Y), U.diff(Y) + V.diff(X)
    xx, yy, xy = 3 * strain_x + strain_y, strain_x + 3 * strain_y, shear
    clamp = {"clamp": kp.Condition([U, V], on={X: 0}, hard=hard)}
    if by_component:
        clamp = {f.name: kp.Condition(f, on={X: 0}, hard=hard) for f in (U, V)}
    return kp.Problem(
        BOX,
        {"x": xx.diff(X) + xy.diff(Y), "y": xy.diff(X) + yy.diff(Y)},
        {
            **clamp,
            "load": kp.Condition([xx, xy + 1], on={X: 4}),
            "free": kp.Condition([xy, yy], on=[{Y: 0}, {Y: 1}]),
        },
    )


@pytest.mark.parametrize("by_component", [True, False])
@pytest.mark.parametrize("hard", [True, False])
def test_clamped_elastic_body_under_tractions_is_detected(hard, by_component):
    with pytest.warns(UserWarning, match="energy="):
        assert "energy=" in sentence(cantilever(hard, by_component))


def test_clamped_elastic_body_with_stresses_as_fields_is_detected():
    xx, yy, xy = (sp.Function(name)(X, Y) for name in ("s_xx", "s_yy", "s_xy"))
    strain_x, strain_y, shear = U.diff(X), V.diff(Y), U.diff(Y) + V.diff(X)
    equations = {
        "xx": xx - 2e11 * (3 * strain_x + strain_y),
        "yy": yy - 2e11 * (strain_x + 3 * strain_y),
        "xy": sp.Eq(shear, xy / 2e11),
        "x": xx.diff(X) + xy.diff(Y),
        "y": xy.diff(X) + yy.diff(Y),
    }
    conditions = {
        "clamp": kp.Condition([U, V], on={X: 0}),
        "load": kp.Condition([xx, xy + 1e6], on={X: 4}),
        "free": kp.Condition([xy, yy], on=[{Y: 0}, {Y: 1}]),
    }
    with pytest.warns(UserWarning, match="energy="):
        assert "energy=" in sentence(kp.Problem(BOX, equations, conditions))


@pytest.mark.parametrize("name", ["kirsch", "cantilever", "thin_plate"])
def test_reliable_structures_are_not_detected(name):
    assert sentence(declared_by(f"examples/gallery/{name}.py")()) == ""


def test_flow_and_diffusion_are_not_detected():
    def momentum(velocity, slope):
        return U * velocity.diff(X) + V * velocity.diff(Y) + slope - velocity.diff(X, 2)

    flow = {"x": momentum(U, P.diff(X)), "y": momentum(V, P.diff(Y))}
    walls = kp.Condition([U, V], on=[{X: 0}, {Y: 0}, {Y: 1}])
    outlet = kp.Condition([P - U.diff(X), V.diff(X) + U.diff(Y)], on={X: 4})
    conditions = {"walls": walls, "outlet": outlet}
    mass = {"mass": U.diff(X) + V.diff(Y)}
    assert sentence(kp.Problem(BOX, flow | mass, conditions)) == ""
    xx, yy, xy = 2 * U.diff(X) - P, 2 * V.diff(Y) - P, U.diff(Y) + V.diff(X)
    stokes = {"x": xx.diff(X) + xy.diff(Y), "y": xy.diff(X) + yy.diff(Y)}
    pulled = {"walls": kp.Condition([U, V], on=[{X: 0}, {Y: 0}, {Y: 1}])}
    pulled["outlet"] = kp.Condition([xx, xy], on={X: 4})
    assert sentence(kp.Problem(BOX, stokes | mass, pulled)) == ""
    tensor = U.diff(X, 2) + U.diff(X, Y) + 2 * U.diff(Y, 2)
    walls = {"walls": kp.Condition(U, on="boundary")}
    assert sentence(kp.Problem(BOX, {"e": tensor}, walls)) == ""
