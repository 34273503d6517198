import keras
import numpy as np
import pytest

import keraspinn as kp
from keraspinn.diagnostics import hessian_eigenvalues

RUN = {"batch_size": 8, "steps_per_epoch": 10, "epochs": 4, "verbose": 0}


def compiled():
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(6, 1), seed=0)
    model.compile(keras.optimizers.Adam(1e-2), jit_compile=False)
    return model


@pytest.mark.slow
def test_traces_the_largest_eigenvalue():
    model = compiled()
    stiffness = kp.callbacks.HessianEigenvalue(
        every=20, terms=["loss", "residual"], batch_size=8, tolerance=1e-6
    )
    history = model.fit(**RUN, callbacks=[stiffness]).history
    assert stiffness.steps == [20, 40]
    expected = hessian_eigenvalues(
        model, ["loss", "residual"], batch_size=8, tolerance=1e-6
    )
    for name, trace in stiffness.eigenvalues.items():
        assert trace[0] != trace[1] == pytest.approx(expected[name][-1], rel=1e-5)
        assert history[f"{name}_hessian_eigenvalue"] == trace
        bounds = history[f"{name}_learning_rate_bound"]
        np.testing.assert_allclose(bounds, 2 / np.array(trace))


@pytest.mark.slow
def test_training_is_not_disturbed(tmp_path):
    plain, watched = compiled(), compiled()
    plain.fit(**RUN)
    stiffness = kp.callbacks.HessianEigenvalue(every=40, batch_size=8)
    watched.fit(**RUN, callbacks=[stiffness])
    for expected, actual in zip(plain.variables, watched.variables, strict=True):
        np.testing.assert_array_equal(expected.numpy(), actual.numpy())


@pytest.mark.slow
def test_stability_bound_of_gradient_descent():
    """Train on a quadratic: below 2/λ_max the loss falls, above it diverges."""
    points = np.linspace(-1, 1, 20)[:, None]
    x = kp.problems.poisson().coordinates[0]
    u = kp.problems.poisson().fields[0]
    problem = kp.Problem(
        kp.geometry.Box({x: (-1, 1)}),
        {"slope": u.diff(x)},
        {"sensors": kp.Data(points, {u: points[:, 0]})},
    )

    def trained(rate):
        network = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones")])
        model = kp.PINNModel(problem, network, seed=0)
        model.compile(keras.optimizers.SGD(rate), jit_compile=False)
        stiffness = kp.callbacks.HessianEigenvalue(every=50, points=points)
        run = {"steps_per_epoch": 50, "epochs": 2, "verbose": 0}
        return model.fit(points, **run, callbacks=[stiffness]).history

    bound = trained(1e-3)["loss_learning_rate_bound"][0]
    for rate, grows in [(0.97 * bound, False), (1.03 * bound, True)]:
        losses = trained(rate)["loss"]
        assert (losses[1] > losses[0]) == grows


def test_rejects_invalid_arguments():
    with pytest.raises(ValueError, match="every.*-1"):
        kp.callbacks.HessianEigenvalue(every=-1)
    stiffness = kp.callbacks.HessianEigenvalue(terms=["top"])
    with pytest.raises(ValueError, match="no term 'top'"):
        compiled().fit(**RUN, callbacks=[stiffness])
