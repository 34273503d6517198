import numpy as np
import pytest
import sympy as sp

import keraspinn as kp


@pytest.mark.slow
def test_solution_in_two_dimensions(trained):
    model, _ = trained(kp.problems.helmholtz())
    figure = kp.plot.solution(model, n=12)
    panels = [axes for axes in figure.axes if axes.get_title()]
    assert [axes.get_title() for axes in panels] == [
        "Reference: u",
        "Predicted: u",
        "Absolute error: u",
    ]
    assert {axes.get_xlabel() for axes in panels} == {"x"}
    values = model.problem.test_data(12)[1]["u"]
    largest = abs(values).max()
    for panel in panels[:2]:  # one scale, the reference's, zero in the middle
        image = panel.collections[0]
        assert image.get_clim() == (-largest, largest)
        assert image.get_cmap().name == "RdBu_r"
    assert {panel.get_aspect() for panel in panels} == {1.0}
    with pytest.raises(ValueError, match="`name` names .'v'"):
        kp.plot.solution(model, name="v")


def test_points_outside_the_domain_are_left_white():
    x, y = sp.symbols("x y")
    u = sp.Function("u")(x, y)
    square = kp.geometry.Box({x: (-1, 1), y: (-1, 1)})
    bent = square - kp.geometry.Box({x: (0, 1), y: (0, 1)})
    problem = kp.Problem(
        bent,
        {"laplace": u.diff(x, 2) + u.diff(y, 2)},
        {"all": kp.Condition(u - x * y, on="boundary")},
        {u: x * y},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(3, 1), seed=0)
    figure = kp.plot.solution(model, n=12)
    _, cover = figure.axes[0].collections
    (path,) = cover.get_paths()
    assert path.contains_points([[0.5, 0.5], [0.1, 0.1], [0.1, 0.9]]).all()
    shown = [[-0.5, -0.5], [-0.1, 0.9], [0.9, -0.1], [-0.1, -0.1]]
    assert not path.contains_points(shown).any()


@pytest.mark.slow
def test_solution_on_a_line(trained):
    model, _ = trained(kp.problems.poisson())
    left, right = kp.plot.solution(model, n=20).axes
    assert len(left.lines) == 2 and len(left.lines[0].get_xdata()) == 20
    assert right.get_ylabel() == "Absolute error"


@pytest.mark.slow
def test_time_axis_is_not_scaled_as_length(trained):
    model, _ = trained(kp.problems.klein_gordon())
    assert {axes.get_aspect() for axes in kp.plot.solution(model, n=9).axes[:3]} == {
        "auto"
    }


def shifted(model):
    """Return a reference that differs from the prediction by a constant."""
    problem = model.problem
    points = problem.domain.grid(6)
    (u,) = problem.fields
    values = model.predict_expression(u, points) + 7.0
    return kp.Reference(points, {u: values}, up_to_constant=[u])


def test_undetermined_constant_is_no_error(trained):
    x, y = sp.symbols("x y")
    u = sp.Function("u")(x, y)
    domain = kp.geometry.Box({x: (0, 1), y: (0, 1)})
    model, _ = trained(kp.Problem(domain, {"e": u.diff(x) - y}, reference={u: x}))
    reference = shifted(model)
    problem = kp.Problem(domain, {"e": u.diff(x) - y}, reference=reference)
    same = kp.PINNModel(problem, model.network, seed=0)
    figure = kp.plot.solution(same)
    assert float(figure.get_suptitle().split()[-1]) < 1e-4
    error = figure.axes[2].collections[0].get_array()
    assert np.max(error) < 1e-4
    shown = [axes.collections[0].get_array() for axes in figure.axes[:2]]
    np.testing.assert_allclose(*shown, atol=1e-4)


@pytest.mark.slow
def test_gaps_are_left_out(trained, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    model, _ = trained(kp.problems.lid_driven_cavity())
    figure = kp.plot.solution(model, "p")
    assert np.isfinite(float(figure.get_suptitle().split()[-1]))
    figure.savefig(tmp_path / "p.png")
    low, high = figure.axes[0].collections[0].get_clim()
    assert np.isfinite([low, high]).all() and high < 2  # 7 at the corner
