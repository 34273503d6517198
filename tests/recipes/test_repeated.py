"""Time windows of equal length share one program, which does not change results."""

import dataclasses

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.windows import differ_in_time_only, restricted

x, t = sp.symbols("x t")


def forced():
    """Return a problem whose equation contains the time: u = sin t + 1."""
    u = sp.Function("u")(t)
    return kp.Problem(
        kp.geometry.Box(time={t: (0, 3)}),
        {"forced": sp.Eq(u.diff(t), sp.cos(t) + sp.sin(t) + 1 - u)},
        {"initial": kp.Condition(sp.Eq(u, 1), on="initial")},
    )


def recipe(made, *callbacks):
    """Return a short recipe that lists the optimizers it makes."""
    result = kp.recipes.OneStage(steps=20, points=64)

    def optimizer():
        made.append(kp.optimizers.GaussNewton())
        return made[-1]

    result.stages = [
        dataclasses.replace(
            stage, optimizer=optimizer, callbacks=lambda model: [*callbacks]
        )
        for stage in result.stages
    ]
    return result


def march(*callbacks, made=None, **settings):
    keras.utils.set_random_seed(0)
    return kp.march(
        forced(),
        kp.networks.MLP(8, 1),
        windows=3,
        recipe=recipe([] if made is None else made, *callbacks),
        verbose=0,
        **settings,
    )


@pytest.fixture(scope="module")
def marched():
    made = []
    return march(made=made), made


@pytest.mark.slow
def test_third_time_window_reuses_the_program_of_the_second(marched):
    model, made = marched
    assert [bool(optimizer.built) for optimizer in made] == [True, False, True]
    times = np.linspace(0, 3, 31)[:, None]
    values = model.predict(times, verbose=0)
    np.testing.assert_allclose(values, np.sin(times) + 1, atol=1e-4)


@pytest.mark.slow
def test_time_window_with_a_new_program_trains_as_one_that_reuses_it(marched, tmp_path):
    class Kill(keras.callbacks.Callback):
        begun = 0

        def on_train_begin(self, logs=None):
            type(self).begun += 1
            if type(self).begun == 3:
                raise KeyboardInterrupt

    path = tmp_path / "march.keras"
    with pytest.raises(KeyboardInterrupt):
        march(Kill(), path=path)
    resumed = march(path=path)
    pairs = zip(resumed.get_weights(), marched[0].get_weights(), strict=True)
    for one, other in pairs:
        np.testing.assert_array_equal(one, other)


def heat(**conditions):
    u = sp.Function("u")(x, t)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}, time={t: (0, 4)}),
        {"heat": u.diff(t) - u.diff(x, 2)},
        {
            "initial": kp.Condition(sp.Eq(u, sp.sin(sp.pi * x)), on="initial"),
            "right": kp.Condition(u, on={x: 1}),
            **(conditions or {"left": kp.Condition(u, on={x: 0})}),
        },
    )


def test_equal_time_windows_differ_in_time_only():
    problem = heat()
    windows = [restricted(problem, *edges) for edges in ((1, 2), (3, 4), (2, 4))]
    assert differ_in_time_only(windows[0], windows[1])
    assert not differ_in_time_only(windows[0], windows[2])


def test_condition_in_some_time_windows_needs_another_program():
    u = sp.Function("u")(x, t)
    left = kp.Condition(u, on={x: 0}, where=t < 2.5)
    problem = heat(left=left)
    one, other = restricted(problem, 1, 2), restricted(problem, 2, 3)
    assert not differ_in_time_only(one, other)


def test_data_need_another_program():
    u = sp.Function("u")(x, t)
    left = kp.Condition(u, on={x: 0})
    data = kp.Data([[0.5, 1.5], [0.5, 2.5]], {u: [0.1, 0.05]})
    problem = heat(left=left, data=data)
    one, other = restricted(problem, 1, 2), restricted(problem, 2, 3)
    assert not differ_in_time_only(one, other)
