"""A stranger's problem, of public names alone: fit, save, load and resume."""

import keras
import sympy as sp

import keraspinn as kp

RUN = {"steps_per_epoch": 100, "batch_size": 16, "verbose": 0}


def cooling(rate=2.0):
    """A warm body in cold air, u' = −rate · u, u(0) = 1."""
    t = sp.Symbol("t")
    u = sp.Function("u")(t)
    return kp.Problem(
        domain=kp.geometry.Box({t: (0, 1)}),
        equations={"cooling": sp.Eq(u.diff(t), -rate * u)},
        conditions={"start": kp.Condition(sp.Eq(u, 1), on={t: 0})},
        reference={u: sp.exp(-rate * t)},
    )


def test_it_trains_and_goes_on(tmp_path):
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(cooling(), kp.networks.MLP(8, 2), seed=0)
    model.compile(keras.optimizers.Adam(1e-2), jit_compile=False)
    backup = kp.callbacks.BackupAndRestore(tmp_path / "backup", delete_checkpoint=False)
    model.fit(epochs=2, callbacks=[backup], **RUN)
    model.save(tmp_path / "cooling.keras")
    loaded = keras.models.load_model(tmp_path / "cooling.keras")
    model.fit(epochs=4, callbacks=[backup], **RUN)  # goes on after the second
    assert model.steps_taken == 400
    loaded.fit(epochs=2, **RUN)
    points, values = loaded.problem.test_data(20)
    assert (loaded.predict(points) == model.predict(points)).all()
    logs = loaded.evaluate(points, values, return_dict=True, verbose=0)
    assert logs["u_relative_l2"] < 0.02
