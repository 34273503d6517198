import keras
import numpy as np
import pytest
import sympy as sp
from keras import layers, ops

import keraspinn as kp
from keraspinn.derivatives.checks import (
    check_derivatives,
    check_no_activity_losses,
    warn_of_kinks,
)
from keraspinn.derivatives.engines import jvp_derivatives, taylor_derivatives
from keraspinn.derivatives.taylor import MissingRule, propagate

LAPLACE = [(2, 0), (0, 2)]


@pytest.fixture(autouse=True)
def random_weights():
    keras.utils.set_random_seed(0)


def points(count=64):
    return ops.cast(np.random.default_rng(0).uniform(-1, 1, (count, 2)), "float32")


def chain(*inner):
    return keras.Sequential([keras.Input((2,)), *inner, layers.Dense(1)])


def check(network, indices=LAPLACE):
    x = points()
    network(x)

    def derivatives():
        try:
            values = taylor_derivatives(lambda s: propagate(network, s), x, indices)
        except MissingRule:
            values = jvp_derivatives(network, x, indices)
        return {("u", index): values[index][..., 0] for index in indices}

    check_derivatives(network, derivatives, ["x", "t"])


def operation():
    x = keras.Input((2,))
    return keras.Model(x, layers.Dense(1)(ops.relu(layers.Dense(5)(x))))


REFUSED = {
    "relu": (lambda: chain(layers.Dense(5, "relu", name="own")), "'own' .relu."),
    "relu6": (lambda: chain(layers.Dense(5, "relu6", name="own")), "'own' .relu6."),
    "hard": (
        lambda: chain(layers.Dense(5, "hard_sigmoid", name="own")),
        "'own' .hard_sigmoid.",
    ),
    "leaky": (
        lambda: chain(layers.Dense(5), layers.LeakyReLU(name="own")),
        "'own' .LeakyReLU.",
    ),
    "discretization": (
        lambda: chain(layers.Discretization([-0.5, 0.0, 0.5], name="own")),
        "because of layer 'own' .Discretization.",
    ),
    "operation": (operation, "because of operation 'relu"),
    "many": (
        lambda: kp.networks.MLP(5, 6, activation="relu"),
        "because of layer 'hidden_1' .relu., .* and 3 more",
    ),
    "linear": (lambda: chain(layers.Rescaling(2.0), layers.Dense(5)), "weights. Use"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_rejects_a_network_without_the_derivatives(case):
    build, named = REFUSED[case]
    with pytest.raises(ValueError, match=named) as error:
        check(build())
    assert "need ∂²u/∂t², ∂²u/∂x², zero" in str(error.value)
    assert '"tanh"' in str(error.value)


@pytest.mark.parametrize(
    "build",
    [
        lambda: kp.networks.MLP(5),
        lambda: chain(layers.Dense(5, "elu")),
        lambda: chain(layers.Dense(5, "relu"), layers.Dense(5, "tanh")),
        lambda: kp.networks.ModifiedMLP(5, kernel_initializer="zeros"),
        lambda: layers.Lambda(lambda x: x[:, :1]),  # given in closed form
    ],
)
def test_smooth_networks_pass(build):
    check(build())


def test_unused_derivatives_may_vanish():
    check(chain(layers.Dense(5, "relu")), [(0, 0), (1, 0), (0, 1)])


def test_an_ansatz_that_is_linear_in_time_is_named_as_such():
    class Linear(layers.Layer):
        def __init__(self):
            super().__init__()
            self.slope = kp.networks.MLP(5)

        def call(self, x):
            return x[:, 1:] * self.slope(x[:, :1])

    with pytest.raises(ValueError, match="need ∂²u/∂t², zero.*meant to be"):
        check(Linear())
    check(Linear(), [(2, 0), (1, 1)])


def test_checks_do_not_change_the_weights():
    network = chain(layers.Dense(5, "relu"))
    before = network.get_weights()
    with pytest.raises(ValueError):
        check(network)
    for weight, other in zip(before, network.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, other)


# Losses of layers


class AddsInTraining(layers.Layer):
    def call(self, x, training=False):
        if training:
            self.add_loss(ops.sum(x))
        return x


class AddsLoss(layers.Layer):
    def call(self, x):
        self.add_loss(ops.sum(x))
        return x


@pytest.mark.parametrize(
    "network",
    [
        lambda: chain(layers.Dense(3, activity_regularizer="l2")),
        lambda: chain(layers.ActivityRegularization(0.1)),
        lambda: chain(AddsLoss()),
        lambda: chain(AddsInTraining()),
        lambda: chain(keras.Sequential([layers.Dense(2), AddsLoss()])),
    ],
)
def test_rejects_losses_of_activities(network):
    with pytest.raises(ValueError, match="`activity_regularizer` or.*Condition"):
        check_no_activity_losses(network(), points(1))


def test_accepts_regularizers_of_weights():
    network = chain(layers.Dense(3, kernel_regularizer="l2"))
    check_no_activity_losses(network, points(1))
    assert len(network.losses) == 1
    check_no_activity_losses(kp.networks.ModifiedMLP(3), points(1))


@pytest.mark.parametrize(
    "network",
    [
        lambda: chain(layers.Dense(5, "relu", name="bent"), layers.Dense(5, "tanh")),
        lambda: keras.Sequential(
            [layers.Dense(5, "tanh"), layers.Dense(1, "relu", name="bent")]
        ),
    ],
)
def test_warns_of_kinks_if_second_derivatives_are_needed(network, recwarn):
    network = network()
    check(network)  # nothing vanishes
    warn_of_kinks(network, order=1)
    assert not recwarn
    with pytest.warns(UserWarning, match="has kinks because of layer 'bent' .relu."):
        warn_of_kinks(network, order=2)


@pytest.mark.parametrize("order", [1, 2])
def test_warns_of_steps_beside_smooth_layers(order):
    x = keras.Input((2,))
    steps = layers.Activation(keras.ops.round, name="own")(x)
    joined = layers.Concatenate()([steps, layers.Dense(3, "tanh")(x)])
    network = keras.Model(x, layers.Dense(1)(joined))
    with pytest.warns(
        UserWarning, match="kinks because of layer 'own' .round..* jumps"
    ):
        warn_of_kinks(network, order)


@pytest.mark.parametrize(
    ("activation", "order"),
    [("selu", 2), ("hard_silu", 2), ("elu", 3), ("softsign", 3)],
)
def test_warns_of_jumps_of_curved_activations(activation, order, recwarn):
    """Warn of activations whose lower derivative jumps."""
    network = chain(layers.Dense(5, activation, name="bent"))
    warn_of_kinks(network, order - 1)
    assert not recwarn
    with pytest.warns(UserWarning, match="has kinks because of layer 'bent'.* jumps"):
        warn_of_kinks(network, order)


@pytest.mark.parametrize(
    "activation",
    ["tanh", "gelu", "silu", "softplus", "sigmoid", "exponential", "mish"]
    + [kp.activations.sin, lambda x: keras.ops.sin(30 * x), keras.ops.square],
)
def test_smooth_activations_have_no_kinks(activation, recwarn):
    warn_of_kinks(chain(layers.Dense(5, activation)), order=4)
    assert not recwarn


def test_warns_of_kinks_behind_hard_conditions():
    """Warn even though φ N has second derivatives, unlike N."""
    box = kp.geometry.Box({(x := sp.Symbol("x")): (0, 1)})
    u = sp.Function("u")(x)
    wall = {"wall": kp.Condition(u, on="boundary", hard=True)}
    problem = kp.Problem(box, {"e": u.diff(x, 2) + 1}, wall)
    with pytest.warns(UserWarning, match="kinks because of layer 'hidden_1' .relu."):
        kp.PINNModel(problem, kp.networks.MLP(4, 1, activation="relu"))
