"""User-defined problem, written with public names only."""

import pytest
import sympy as sp

import keraspinn as kp


def cooling(rate=2.0):
    """Declare a warm body in cold air, u' = −rate · u, u(0) = 1."""
    t = sp.Symbol("t")
    u = sp.Function("u")(t)
    return kp.Problem(
        domain=kp.geometry.Box({t: (0, 1)}),
        equations={"cooling": sp.Eq(u.diff(t), -rate * u)},
        conditions={"initial": kp.Condition(sp.Eq(u, 1), on={t: 0})},
        reference={u: sp.exp(-rate * t)},
    )


@pytest.mark.slow
def test_user_problem_trains_and_resumes_exactly(assert_resume_is_bit_exact):
    assert_resume_is_bit_exact(
        lambda: kp.PINNModel(cooling(), kp.networks.MLP(8, 2), seed=0)
    )
