import matplotlib
import pytest

import keraspinn as kp


@pytest.fixture(autouse=True)
def closed_figures():
    """Draw without a display, and leave no figure open."""
    matplotlib.use("Agg")
    yield
    matplotlib.pyplot.close("all")


@pytest.fixture
def trained():
    """Return a function that trains a tiny model for two epochs of three steps."""

    def train(problem):
        network = kp.networks.MLP(4, 1, outputs=len(problem.fields))
        model = kp.PINNModel(problem, network, seed=0)
        model.compile("adam", jit_compile=False)
        run = {"batch_size": 4, "steps_per_epoch": 3, "epochs": 2, "verbose": 0}
        return model, model.fit(**run)

    return train
