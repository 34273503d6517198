import numpy as np
import pytest
import sympy as sp

import keraspinn as kp


def heat():
    """Declare heat conduction in two dimensions of space."""
    x, y, t = sp.symbols("x y t")
    u = sp.Function("u")(x, y, t)
    exact = sp.exp(-t) * (x + y)
    operator = u.diff(t) - u.diff(x, 2) - u.diff(y, 2)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}, time={t: (0, 2)}),
        {"heat": sp.Eq(operator, operator.subs(u, exact).doit())},
        {"boundary": kp.Condition(sp.Eq(u, exact), on=["boundary", "initial"])},
        reference={u: exact},
    )


@pytest.mark.slow
def test_curves_at_several_times(trained):
    model, _ = trained(kp.problems.klein_gordon())
    figure = kp.plot.snapshots(model, times=[0.0, 0.52], n=11)
    assert [part.get_suptitle() for part in figure.subfigs] == ["t = 0", "t = 0.5"]
    first, second = figure.axes
    reference, predicted = first.lines
    np.testing.assert_allclose(reference.get_ydata(), np.linspace(0, 1, 11))  # u = x
    assert predicted.get_linestyle() == "--"
    assert first.get_ylim() == second.get_ylim()
    assert (first.get_xlabel(), first.get_ylabel()) == ("x", "u")
    (part,) = kp.plot.snapshots(model, times=0.52, n=11).subfigs
    assert part.get_suptitle() == "t = 0.5"


@pytest.mark.slow
def test_maps_at_several_times(trained):
    model, _ = trained(heat())
    figure = kp.plot.snapshots(model, times=3, n=5)
    assert [p.get_suptitle() for p in figure.subfigs] == ["t = 0", "t = 1", "t = 2"]
    titles = [axes.get_title() for axes in figure.subfigs[0].axes if axes.get_title()]
    assert titles == ["Reference: u", "Predicted: u", "Absolute error: u"]


@pytest.mark.slow
def test_rejects_invalid_arguments(trained):
    model, _ = trained(kp.problems.helmholtz())
    with pytest.raises(ValueError, match="in time and one or two dimensions"):
        kp.plot.snapshots(model)
    model, _ = trained(kp.problems.klein_gordon())
    with pytest.raises(ValueError, match="`name` names .'v'"):
        kp.plot.snapshots(model, name="v")
    for times in (0, -1, "last"):
        with pytest.raises(ValueError, match="times.* must be a"):
            kp.plot.snapshots(model, times=times)
    with pytest.raises(ValueError, match=r"between 0 and 1, .* Received: \[1.5\]"):
        kp.plot.snapshots(model, times=[0.5, 1.5])
