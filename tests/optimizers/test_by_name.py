import keras
import pytest

import keraspinn as kp

NAMES = ["BFGS", "LBFGS", "SOAP", "SSBFGS", "GaussNewton", "SSBroyden"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_optimizers_ignore_case(name):
    for written in (name, name.lower(), name.upper()):
        assert type(kp.optimizers.get(written)) is getattr(kp.optimizers, name)


def test_accepts_arguments_of_keras():
    adam = keras.optimizers.Adam(0.1)
    assert kp.optimizers.get(adam) is adam and kp.optimizers.get(None) is None
    assert type(kp.optimizers.get("Adam")) is keras.optimizers.Adam
    config = keras.optimizers.serialize(kp.optimizers.LBFGS(memory_size=3))
    assert kp.optimizers.get(config).memory_size == 3


def test_rejects_unknown_names():
    with pytest.raises(ValueError, match="nonsense"):
        kp.optimizers.get("nonsense")
    with pytest.raises(ValueError, match="SSBroyden"):  # in Keras's words
        kp.optimizers.get(kp.optimizers.SSBroyden)


@pytest.mark.parametrize("kind", [kp.PINNModel, kp.Ensemble])
def test_compile_accepts_names_of_optimizers(kind):
    size = {"size": 2} if kind is kp.Ensemble else {}
    network = kp.networks.MLP(4, 1, dtype="float64")
    model = kind(kp.problems.poisson(), network, seed=0, dtype="float64", **size)
    model.compile("ssbroyden")
    assert isinstance(model.optimizer, kp.optimizers.SSBroyden)
