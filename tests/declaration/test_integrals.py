"""Integrals in conditions: values, round trips and errors."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
U = sp.Function("u")(X, Y)
BOX = kp.geometry.Box({X: (0, 2), Y: (0, 1)})
LAPLACE = {"laplace": U.diff(X, 2) + U.diff(Y, 2)}


def problem(*equations, domain=BOX, **options):
    return kp.Problem(
        domain, LAPLACE, {"mass": kp.Condition(list(equations))}, **options
    )


def integral_of(integrand, over="interior", where=None, domain=BOX, step=0):
    """Return the integral of an expression in u = x + y, with an exact network."""
    equation = kp.integral(integrand, over, where)
    declared = problem(equation, domain=domain, scales=kp.Scales.raw(domain))
    network = keras.Sequential(
        [keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")]
    )
    network.add(keras.layers.Activation("linear"))
    network.trainable = False
    model = kp.PINNModel(declared, network, seed=3)
    batch = model.trainer.sources.draw(3, step)["mass"]
    (residual,) = model._objective.residuals("mass", batch)
    assert residual.shape == (1,)
    return float(residual[0])


HOLE = kp.geometry.Disk((0.5, 0.5), 0.25)
N = BOX.normal


@pytest.mark.parametrize(
    ("integrand", "over", "where", "domain", "exact"),
    [
        (U, "interior", None, BOX, 3.0),
        (U**2, "interior", None, BOX, 16 / 3),
        (U, BOX, None, BOX, 3.0),
        (U, {X: 2}, None, BOX, 2.5),
        (U, {X: 0.5}, None, BOX, 1.0),
        (U, {X: 2, Y: 1}, None, BOX, 3.0),
        (U, [{X: 0}, {X: 2}], None, BOX, 3.0),
        (U, "boundary", None, BOX, 9.0),
        (U, "interior", X < 1, BOX, 1.0),
        (U, kp.geometry.Box({X: (0, 1), Y: (0, 1)}), None, BOX, 1.0),
        # Fluxes of a field of divergence two, and of a divergence-free field.
        (U * (N[0] + N[1]), "boundary", None, BOX, 4.0),
        (kp.normal_derivative(U, BOX), "boundary", None, BOX, 0.0),
        (U * N[0], HOLE, None, BOX - HOLE, -np.pi / 16),
    ],
)
def test_integrals_of_a_known_field(integrand, over, where, domain, exact):
    assert integral_of(integrand, over, where, domain) == pytest.approx(exact, abs=6e-3)


@pytest.mark.parametrize(
    ("domain", "exact", "bound"),
    [
        (BOX, 16 / 3, 5e-5),
        (BOX - HOLE, 16 / 3 - np.pi / 16 - np.pi / 512, 5e-3),
    ],
)
def test_quadrature_error_of_integrals(domain, exact, bound):
    values = [integral_of(U**2, domain=domain, step=step) for step in range(8)]
    assert np.abs(np.array(values) / exact - 1).max() < bound


def test_saving_keeps_the_integral():
    equation = sp.Eq(
        kp.integral(U * X, over=HOLE, where=X > 0.5) ** 2,
        kp.Parameter("m", 2.0) + kp.integral(U, over=[{X: 0}, {Y: 1}]),
    )
    condition = kp.Condition(equation)
    config = keras.saving.serialize_keras_object(condition)
    again = keras.saving.deserialize_keras_object(config)
    assert again.expressions == condition.expressions
    assert again.on is None
    assert r"\int" in problem(kp.integral(U))._repr_latex_()


@pytest.mark.parametrize(
    ("integral", "shown"),
    [
        (kp.integral(U), "integral(u)"),
        (kp.integral(U, over="boundary"), "integral(u, over='boundary')"),
        (kp.integral(U, over={X: 0}), "integral(u, over={x: 0.0})"),
        (kp.integral(U, over=[{X: 0}, {Y: 1}]), "over=[{x: 0.0}, {y: 1.0}])"),
        (kp.integral(U, where=X > 1), "integral(u, where=x > 1)"),
        (kp.integral(U, over=BOX), f"integral(u, over={BOX})"),
    ],
)
def test_text_names_the_region_of_an_integral(integral, shown):
    assert shown in str(problem(integral)).replace("\n    ", " ")


def test_scales_of_integrals_include_the_measure_of_the_part():
    declared = problem(sp.Eq(kp.integral(U), 6.0), scales="auto")
    assert declared.scales.field("u") == 3.0
    assert declared.scales.terms["mass"] == (6.0,)


@pytest.mark.parametrize(
    ("declare", "match"),
    [
        (lambda: kp.Condition(sp.Eq(kp.integral(U), U)), "one number"),
        (lambda: kp.Condition([kp.integral(U), U]), "one number"),
        (lambda: kp.Condition(kp.integral(U) + X), "which holds x outside"),
        (lambda: kp.Condition(kp.integral(U), on="boundary"), "takes no `on`"),
        (lambda: kp.Condition(U), "must say where it holds"),
        (lambda: kp.integral(U * kp.integral(U)), "hold an integral itself"),
        (lambda: kp.integral("u"), "Text is never evaluated"),
        (lambda: problem(kp.integral(U, over={X: 3})), "part of the domain"),
        (lambda: kp.integral(U, over={X: Y}), r"to a number, as \{x: 0.5\}"),
        (lambda: problem(kp.integral(U, over="inside")), "names no part"),
        (lambda: problem(kp.integral(U, where=T > 0)), "`where` names .t"),
        (lambda: problem(kp.integral(U * N[0])), "normal"),
        (
            lambda: kp.Problem(BOX, {"u": U - kp.integral(U)}, {}),
            "only in a Condition",
        ),
        (
            lambda: kp.Problem(
                BOX, LAPLACE, {"d": kp.Data([[0, 0]], {kp.integral(U): [1.0]})}
            ),
            "only in a Condition",
        ),
        (lambda: kp.Condition(sp.Eq(sp.Integral(U, X), 1)), "keraspinn.integral"),
    ],
)
def test_invalid_integrals_raise(declare, match):
    with pytest.raises((TypeError, ValueError), match=match):
        declare()


def test_points_for_an_integral_raise():
    model = kp.PINNModel(problem(kp.integral(U) - 1), kp.networks.MLP(3, 1))
    model.compile("adam")
    with pytest.raises(ValueError, match="points are sampled evenly"):
        model.fit({"mass": np.ones((4, 2))}, steps_per_epoch=1)


def test_chunks_of_a_batch_do_not_change_the_loss_of_integrals():
    model = kp.PINNModel(problem(kp.integral(U) - 1), kp.networks.MLP(3, 1), seed=0)
    batch = model.trainer.sources.draw(0, 0)["mass"]
    assert batch.parts(10)[0] == 1
