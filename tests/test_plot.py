import matplotlib
import pytest
import sympy as sp

import keraspinn as kp

matplotlib.use("Agg")


def trained(problem):
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
    model.compile("adam", jit_compile=False)
    run = {"batch_size": 4, "steps_per_epoch": 3, "epochs": 2, "verbose": 0}
    return model, model.fit(**run)


def one_dimensional():
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}), {"e": u.diff(x) - u}, reference={u: sp.exp(x)}
    )


def test_solution_in_two_dimensions():
    model, _ = trained(kp.problems.helmholtz())
    figure = kp.plot.solution(model, n=12)
    panels = [axes for axes in figure.axes if axes.get_title()]
    assert [axes.get_title() for axes in panels] == [
        "Reference: u",
        "Predicted: u",
        "Absolute error: u",
    ]
    assert {axes.get_xlabel() for axes in panels} == {"x"}
    assert panels[0].collections[0].get_clim() == panels[1].collections[0].get_clim()
    with pytest.raises(ValueError, match="name='v'"):
        kp.plot.solution(model, name="v")


def test_solution_on_a_line():
    model, _ = trained(one_dimensional())
    left, right = kp.plot.solution(model, n=20).axes
    assert len(left.lines) == 2 and len(left.lines[0].get_xdata()) == 20
    assert right.get_ylabel() == "Absolute error"


def test_history():
    _, history = trained(kp.problems.helmholtz())
    losses, weights = kp.plot.history(history).axes
    assert list(losses.lines[0].get_xdata()) == [3, 6]
    assert [line.get_label() for line in losses.lines] == [
        "boundary_loss",
        "residual_loss",
    ]
    assert losses.lines[0].get_linestyle() != losses.lines[1].get_linestyle()
    assert weights.get_xlabel() == "Training step"
    _, history = trained(one_dimensional())
    assert len(kp.plot.history(history).axes) == 1
