import pytest

import keraspinn as kp


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
    for panel in panels[:2]:  # one scale, the reference's
        assert panel.collections[0].get_clim() == (values.min(), values.max())
    with pytest.raises(ValueError, match="name='v'"):
        kp.plot.solution(model, name="v")


def test_solution_on_a_line(trained):
    model, _ = trained(kp.problems.poisson())
    left, right = kp.plot.solution(model, n=20).axes
    assert len(left.lines) == 2 and len(left.lines[0].get_xdata()) == 20
    assert right.get_ylabel() == "Absolute error"
