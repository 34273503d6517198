"""Numbers that a type cannot hold end in a sentence, or in the right answer."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, T = sp.symbols("x t")
U = sp.Function("u")(T)
UNIX = 1.7e9


def later(equation, start=UNIX):
    box = kp.geometry.Box(time={T: (start, start + 100)})
    return kp.Problem(box, {"decay": equation}, {"i": kp.Condition(U - 1, "initial")})


def refused(problem, network=None):
    with pytest.raises(ValueError) as caught:
        kp.PINNModel(problem, network or kp.networks.MLP(4, 1))
    return str(caught.value)


def test_a_late_time_is_refused_where_it_is_used_and_fits_in_float64():
    problem = later(U.diff(T) + sp.sin(T) * U)
    message = refused(problem)
    assert "equation 'decay'" in message and "does not tell apart" in message
    assert "so that it begins at zero" in message and "float64" in message
    network = kp.networks.MLP(4, 1, dtype="float64")
    kp.PINNModel(problem, network, dtype="float64")


def test_a_network_of_ones_own_sees_the_time_itself():
    network = keras.Sequential([keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)])
    problem = later(U.diff(T) + U / 20)
    assert "the network" in refused(problem, network)
    kp.PINNModel(problem, kp.networks.MLP(4, 1))
    kp.PINNModel(later(U.diff(T) + U / 20, start=0), network)


def test_a_late_time_that_no_equation_holds_trains_right():
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(later(U.diff(T) + U / 20), kp.networks.MLP(16, 2), seed=0)
    model.compile(kp.optimizers.SSBroyden())
    model.fit(batch_size=200, steps_per_epoch=100, verbose=0)
    t = np.linspace(0, 100, 41)
    found = model.predict(UNIX + t[:, None], verbose=0)[:, 0]
    np.testing.assert_allclose(found, np.exp(-t / 20), atol=0.02)


def test_a_problem_all_of_whose_coefficients_are_tiny_is_refused():
    u = sp.Function("u")(X)
    box = kp.geometry.Box({X: (0, 1)})
    wall = {"wall": kp.Condition(u, on="boundary")}
    for equation in (1e-22 * u.diff(X, 2) + 1e-22, 6e-39 * u.diff(X, 2) + 1e-19 * u):
        problem = kp.Problem(box, {"e": equation}, wall, scales=kp.Scales.raw(box))
        message = refused(problem)
        assert "equation 'e'" in message and "Nondimensionalise" in message


def test_data_beyond_the_type_are_told():
    u = sp.Function("u")(X)
    box = kp.geometry.Box({X: (0, 1)})
    data = {"gauge": kp.Data([[0.5]], {u: [3e12]})}
    problem = kp.Problem(box, {"e": u.diff(X, 2)}, data, scales=kp.Scales.raw(box))
    message = refused(problem)
    assert "condition 'gauge'" in message and "1e+12" in message
