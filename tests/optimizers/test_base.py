import keras
import numpy as np
import pytest
from keras import ops

from keraspinn import optimizers

ALL = (optimizers.BFGS, optimizers.LBFGS, optimizers.SSBFGS, optimizers.SSBroyden)
each = pytest.mark.parametrize("method", ALL, ids=lambda method: method.__name__)


class Counter(optimizers.Optimizer):
    def init(self, parameters):
        zero = ops.zeros((), parameters.dtype)
        return {"sum": zero, "steps": ops.zeros((2,), "int32")}


def variables(dtype="float64"):
    return [
        keras.Variable(ops.ones((2, 3), dtype), name="kernel"),
        keras.Variable(ops.zeros((3,), dtype), name="bias"),
    ]


def test_build_keeps_the_state_in_variables():
    optimizer = Counter()
    optimizer.build(variables())
    assert list(optimizer.state_variables) == ["sum", "steps"]
    assert {v.name for v in optimizer.variables} >= {"iteration", "sum", "steps"}
    assert optimizer.state_variables["sum"].dtype == "float64"
    assert optimizer.state_variables["steps"].dtype == "int32"
    optimizer.state_variables["sum"].assign(2.5)
    optimizer.state_variables["steps"].assign([3, 4])
    assert float(optimizer.state["sum"]) == 2.5
    np.testing.assert_array_equal(optimizer.state["steps"], [3, 4])


def test_subclass_may_use_any_attribute_name():
    class Named(optimizers.Optimizer):
        def __init__(self):
            super().__init__()
            self._state = "the subclass's"

        def init(self, parameters):
            return {"memory": ops.zeros_like(parameters)}

    optimizer = Named()
    optimizer.build([keras.Variable(np.ones(3), dtype="float64")])
    assert list(optimizer.state_variables) == ["memory"]
    assert optimizer._state == "the subclass's"


def test_an_optimizer_without_memory_has_an_empty_state():
    class Forgetful(Counter):
        def init(self, parameters):
            return {}

    optimizer = Forgetful()
    optimizer.build(variables())
    assert optimizer.state == {}


def test_apply_error_names_pinn_model():
    optimizer = Counter()
    weights = variables()
    for apply in (
        lambda: optimizer.apply([ops.ones(v.shape) for v in weights], weights),
        lambda: optimizer.apply_gradients([(ops.ones(v.shape), v) for v in weights]),
    ):
        with pytest.raises(NotImplementedError, match=r"PINNModel only.*`fit`"):
            apply()


@pytest.mark.parametrize(
    "arguments",
    [
        {"clipnorm": 1.0},
        {"gradient_accumulation_steps": 2},
        {"use_ema": True},
        {"learning_rate": 0.1},
    ],
    ids=str,
)
def test_rejects_arguments_of_keras(arguments):
    with pytest.raises(TypeError, match=next(iter(arguments))):
        optimizers.SSBroyden(**arguments)


@pytest.mark.parametrize("period", [0, 1.5, True, "often"])
def test_resample_every_is_checked(period):
    with pytest.raises(ValueError, match="resample_every"):
        Counter(resample_every=period)


@pytest.mark.parametrize("period", [None, 1])
def test_quasi_newton_rejects_points_that_change_each_step(period):
    with pytest.raises(ValueError, match="at least 2"):
        optimizers.SSBroyden(resample_every=period)


def test_memory_is_bounded_at_build():
    count = 9
    needed = 3 * 8 * count**2
    optimizers.SSBroyden(memory_limit=needed).build(variables())
    optimizer = optimizers.SSBroyden(memory_limit=needed - 1)
    with pytest.raises(ValueError, match=r"GiB for 9 parameters.*LBFGS"):
        optimizer.build(variables())
    large = [keras.Variable(ops.zeros((20_000,), "float64"))]
    with pytest.raises(ValueError, match=r"8\.9 GiB for 20,000 .*2 GiB"):
        optimizers.SSBroyden().build(large)


def test_single_precision_warns():
    with pytest.warns(UserWarning, match=r'single precision.*astype\("float64"\)'):
        optimizers.SSBroyden().build(variables("float32"))


@each
def test_config_round_trip(method):
    settings = {"resample_every": 70, "curvature": 0.5, "max_evaluations": 9}
    settings |= {"memory_size": 3} if method is optimizers.LBFGS else {}
    optimizer = method(name="second", memory_limit=10**6, **settings)
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert type(again) is method
    assert again.get_config() == optimizer.get_config()
    assert settings.items() <= again.get_config().items()


@each
def test_keras_file_carries_the_state(method, tmp_path):
    dense = keras.layers.Dense(3, dtype="float64")
    model = keras.Sequential([keras.Input((2,)), dense])
    model.compile(method(), loss="mse")
    model.optimizer.build(model.trainable_variables)
    random = np.random.default_rng(0)
    state = {
        name: (10 * random.random(variable.shape)).astype(variable.dtype)
        for name, variable in model.optimizer.state_variables.items()
    }
    for name, variable in model.optimizer.state_variables.items():
        variable.assign(state[name])
    model.optimizer.iterations.assign(12)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras").optimizer
    assert int(again.iterations) == 12
    for name, value in state.items():
        np.testing.assert_array_equal(again.state[name], value)


@pytest.mark.parametrize(
    "constants",
    [
        {"curvature": 1.0},
        {"sufficient_decrease": 0.0},
        {"sufficient_decrease": 0.5, "curvature": 0.4},
    ],
    ids=str,
)
def test_wolfe_s_constants_are_checked(constants):
    with pytest.raises(ValueError, match="Wolfe"):
        optimizers.BFGS(**constants)
