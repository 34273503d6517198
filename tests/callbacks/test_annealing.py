"""Algorithm 1, compared with a reference implementation."""

import functools

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
import tensors
from keraspinn.sampling.sources import PointSources


@pytest.fixture(autouse=True)
def double_precision():
    keras.config.set_dtype_policy("float64")
    keras.config.set_floatx("float64")  # the optimizer's learning rate follows it
    yield
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")


def problem_with(conditions):
    """Declare u_xx + u² = x on [0, 1], with one condition or three."""
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    available = {
        "left": kp.Condition(sp.Eq(u, 1), on={x: 0}),
        "right": kp.Condition(sp.Eq(u.diff(x), 2), on={x: 1}, weight=0.5),
        "sensor": kp.Data([[0.3], [0.6]], {u: [1.1, 1.2]}, weight=2.0),
    }
    return kp.Problem(
        domain=kp.geometry.Box({x: (0, 1)}),
        equations={"ode": sp.Eq(u.diff(x, 2) + u**2, x)},
        conditions={name: available[name] for name in conditions},
        scales=None,
    )


def held(beta):
    """Return a constant of Adam as Keras holds it: rounded to float32 on TensorFlow."""
    return float(np.float32(beta)) if keras.backend.backend() == "tensorflow" else beta


class HandWritten:
    """Reference: a tanh network 1-5-5-1 trained by Algorithm 1 with Adam."""

    def __init__(self, weights, initial_weights, alpha, update_freq, rule):
        self.theta = [ops.convert_to_tensor(w) for w in weights]
        self.weights = dict(initial_weights)
        self.alpha, self.update_freq, self.rule = alpha, update_freq, rule
        self.first = [np.zeros(w.shape) for w in weights]
        self.second = [np.zeros(w.shape) for w in weights]

    def u(self, theta, x):
        w1, b1, w2, b2, w3, b3 = theta
        h = ops.tanh((x - 0.5) / np.sqrt(1 / 12) @ w1 + b1)
        return ops.tanh(h @ w2 + b2) @ w3 + b3

    def u_x(self, theta, x):
        return tensors.gradient(lambda x: ops.sum(self.u(theta, x)), x)

    def loss(self, name, x, theta):
        if name == "residual":
            u_xx = tensors.gradient(lambda x: ops.sum(self.u_x(theta, x)), x)
            rest = u_xx + self.u(theta, x) ** 2 - x
        elif name == "left":
            rest = self.u(theta, x) - 1.0
        elif name == "right":
            rest = self.u_x(theta, x) - 2.0
        else:
            sensors, values = map(np.array, ([[0.3], [0.6]], [[1.1], [1.2]]))
            rest = self.u(theta, ops.convert_to_tensor(sensors)) - values
        return ops.mean(rest**2)

    def step(self, n, points):
        gradients = {
            name: tensors.gradient(
                functools.partial(self.loss, name, points[name]), self.theta
            )
            for name in points
        }
        gradients = keras.tree.map_structure(np.array, gradients)
        flat = {
            name: np.abs(np.concatenate([g.ravel() for g in parts]))
            for name, parts in gradients.items()
        }
        if n % self.update_freq == 0:
            for name, weight in self.weights.items():
                mean = flat[name].mean()
                if self.rule == "weighted":
                    mean = mean * weight
                estimate = flat["residual"].max() / mean
                self.weights[name] = (1 - self.alpha) * weight + self.alpha * estimate
        for index, theta in enumerate(self.theta):
            g = gradients["residual"][index] + sum(
                weight * gradients[name][index] for name, weight in self.weights.items()
            )
            self.first[index] = 0.9 * self.first[index] + 0.1 * g
            self.second[index] = 0.999 * self.second[index] + 0.001 * g**2
            power_1, power_2 = (held(beta) ** (n + 1) for beta in (0.9, 0.999))
            rate = 1e-2 * np.sqrt(1 - power_2) / (1 - power_1)
            step = rate * self.first[index] / (np.sqrt(self.second[index]) + 1e-7)
            self.theta[index] = theta - step


@pytest.mark.parametrize(
    ("rule", "update_freq", "conditions"),
    [
        ("weighted", 1, ("left", "right", "sensor")),
        ("literal", 1, ("left",)),
        ("weighted", 10, ("left",)),
        ("literal", 10, ("left", "right", "sensor")),
    ],
)
def test_annealing_is_algorithm_1(rule, update_freq, conditions):
    problem = problem_with(conditions)
    network = kp.networks.MLP(units=5, depth=2)
    model = kp.PINNModel(problem, network, seed=3)
    model.compile(keras.optimizers.Adam(1e-2))
    layers = [*network.hidden, network.head]
    variables = [v for layer in layers for v in (layer.kernel, layer.bias)]
    by_hand = HandWritten(
        [v.numpy() for v in variables],
        {name: c.weight for name, c in problem.conditions.items()},
        alpha=0.7,
        update_freq=update_freq,
        rule=rule,
    )
    annealing = kp.callbacks.LearningRateAnnealing(0.7, update_freq, rule)
    steps = 3 if update_freq == 1 else 12
    model.fit(batch_size=8, steps_per_epoch=steps, callbacks=[annealing], verbose=0)
    sources = PointSources(problem, "float64", 8)
    for n in range(steps):
        batches = sources.draw(model.seed, n)
        by_hand.step(n, {name: batch.coordinates for name, batch in batches.items()})
    for name, weight in by_hand.weights.items():
        np.testing.assert_allclose(model.loss_weights[name].numpy(), weight, rtol=1e-11)
    for variable, theta in zip(variables, by_hand.theta, strict=True):
        np.testing.assert_allclose(variable.numpy(), theta, rtol=1e-11)


def test_weights_move_and_are_logged():
    model = kp.PINNModel(problem_with(("left",)), kp.networks.MLP(4, 1), seed=0)
    model.compile("adam", jit_compile=False)
    history = model.fit(
        batch_size=4,
        steps_per_epoch=20,
        epochs=3,
        verbose=0,
        callbacks=[kp.callbacks.LearningRateAnnealing()],
    ).history
    weights = history["left_weight"]
    assert len(set(weights)) == 3 and 1.0 not in weights
    assert weights[-1] == pytest.approx(float(model.loss_weights["left"].numpy()))


@pytest.mark.slow
def test_fit_without_the_callback_keeps_the_weights():
    """Remove the rule from the compiled program with its callback."""
    model = kp.PINNModel(problem_with(("left",)), kp.networks.MLP(4, 1), seed=0)
    model.compile("adam", jit_compile=False)
    run = {"batch_size": 4, "steps_per_epoch": 10, "verbose": 0}
    model.fit(**run)
    assert model.loss_weights["left"].numpy() == 1.0
    model.fit(**run, callbacks=[kp.callbacks.LearningRateAnnealing()])
    moved = model.loss_weights["left"].numpy()
    assert moved != 1.0
    model.fit(**run)
    assert model.loss_weights["left"].numpy() == moved


def test_custom_callback_may_assign_weights():
    class Constant(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.model.loss_weights["left"].assign(7.0 + epoch)

    model = kp.PINNModel(problem_with(("left",)), kp.networks.MLP(4, 1), seed=0)
    model.compile("adam", jit_compile=False)
    history = model.fit(
        batch_size=4, steps_per_epoch=5, epochs=2, verbose=0, callbacks=[Constant()]
    )
    assert history.history["left_weight"] == [7.0, 8.0]


@pytest.mark.slow
def test_literal_rule_grows_where_the_weighted_settles():
    """Compare the rules near a stationary point: λ̂ = λ max|∇L_r| / mean|∇L_r|."""
    problem = kp.problems.helmholtz(1, 1)
    weights = {}
    for rule in ("weighted", "literal"):
        keras.utils.set_random_seed(0)
        model = kp.PINNModel(problem, kp.networks.MLP(16, 2), seed=0)
        model.compile(keras.optimizers.Adam(1e-3))
        model.fit(
            batch_size=32,
            steps_per_epoch=1000,
            verbose=0,
            callbacks=[kp.callbacks.LearningRateAnnealing(rule=rule)],
        )
        weights[rule] = float(model.loss_weights["boundary"].numpy())
    assert weights["literal"] > 30 * weights["weighted"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0}, r"`alpha` must be in \(0, 1\]. Received: 0"),
        ({"alpha": 1.5}, "`alpha` must be in"),
        ({"alpha": float("nan")}, "`alpha` must be in"),
        (
            {"update_freq": 0},
            "`update_freq` must be a positive integer. Received: 0",
        ),
        (
            {"update_freq": 2.5},
            "`update_freq` must be a positive integer. Received: 2.5",
        ),
        ({"layers": "all"}, "`layers` must be one of"),
        ({"exclude": "bias"}, "`exclude` must be a list of texts"),
        ({"rule": "max"}, "`rule` must be one of .*weighted.*literal"),
    ],
)
def test_rejects_settings_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        kp.callbacks.LearningRateAnnealing(**arguments)


def test_rejects_other_models_and_problems_without_conditions():
    annealing = kp.callbacks.LearningRateAnnealing()
    with pytest.raises(TypeError, match="must be a keraspinn.PINNModel or Ensemble"):
        annealing.set_model(keras.Sequential())
    model = kp.PINNModel(problem_with(()), kp.networks.MLP(4, 1))
    model.compile("adam")
    with pytest.raises(ValueError, match="the problem has no conditions"):
        model.fit(callbacks=[annealing], verbose=0)


def test_config_round_trip():
    annealing = kp.callbacks.LearningRateAnnealing(
        0.2, 5, "literal", exclude=["bias"], layers="averaged"
    )
    config = annealing.get_config()
    assert kp.callbacks.LearningRateAnnealing.from_config(config).rule == annealing.rule


@pytest.mark.slow
def test_annealing_beside_an_energy_is_refused():
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        energy=kp.integral(u.diff(x) ** 2 / 2 - u),
        conditions={"held": kp.Condition(u, on={x: 0}, weight=100)},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1))
    model.compile("adam")
    with pytest.raises(ValueError, match="energy outweighs.*hard=True"):
        model.fit(steps_per_epoch=1, callbacks=[kp.callbacks.LearningRateAnnealing()])


@pytest.mark.parametrize("callback", ["annealing", "weighting"])
def test_warns_if_all_conditions_are_hard(callback):
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"ode": u.diff(x, 2) + 1},
        {"ends": kp.Condition(u, on="boundary", hard=True)},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1))
    model.compile("adam")
    rule = kp.callbacks.LearningRateAnnealing()
    if callback == "weighting":
        rule = kp.callbacks.LossWeighting(kp.weighting.GradientRatio())
    with pytest.warns(UserWarning, match="nothing to balance: no condition is soft"):
        history = model.fit(steps_per_epoch=5, verbose=0, callbacks=[rule])
    assert np.isfinite(history.history["loss"]).all()
