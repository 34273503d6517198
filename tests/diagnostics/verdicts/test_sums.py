"""Fields that quadrature points do not resolve are not trusted."""

import keras
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp

X, S = sp.symbols("x s")
U = sp.Function("u")(X)


@keras.saving.register_keras_serializable("tests")
class Wave(keras.layers.Layer):
    """Layer a sin(rate x), with a = 1."""

    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate

    def build(self, shape):
        self.size = self.add_weight(shape=(), initializer="ones", name="size")

    def call(self, points):
        return self.size * ops.sin(self.rate * points)

    def get_config(self):
        return super().get_config() | {"rate": self.rate}


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "is_followed"), [(3, True), (60, False)])
@pytest.mark.filterwarnings("ignore")
def test_quadrature_of_a_wave_is_judged(rate, is_followed):
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"e": U - sp.sin(rate * X) - sp.Integral(U.subs(X, S) ** 2, (S, 0, 1)) / 2},
        {"left": kp.Condition(U, on={X: 0})},
    )
    model = kp.PINNModel(problem, Wave(float(rate)), seed=0)
    verdict = kp.diagnostics.verdict(model, points=50, points_on_face=1)
    assert list(verdict.sums) == ["e"]
    assert verdict.sums["e"] < 1e-5 if is_followed else verdict.sums["e"] > 0.05


def test_verdict_text_names_unresolved_sums():
    decided = kp.diagnostics.Verdict({"u": 0.0}, {"e": 0}, {"e": 0}, 0.05, ("e",))
    assert decided.trusted
    wrong = kp.diagnostics.Verdict(
        {"u": 0.0}, {"e": 0}, {"e": 0}, 0.05, ("e",), sums={"e": 0.1}
    )
    assert not wrong.trusted and "do not resolve" in str(wrong)
