import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, Z, T = sp.symbols("x y z t")
U = sp.Function("u")(X, Y)
HOLE = kp.geometry.Disk((0.5, 0.5), 0.25)
PLATE = kp.geometry.Box({X: (0, 2), Y: (0, 1)}) - HOLE
POINTS = np.array([[1.5, 0.5]])
PROBLEM = kp.Problem(
    PLATE,
    {"heat": U.diff(X, 2) + U.diff(Y, 2)},
    {
        "cold": kp.Condition(U, on=[{X: 0}, {X: 2}, {Y: 0}, {Y: 1}]),
        "hole": kp.Condition(sp.Eq(U, 1), on=HOLE),
        "sensor": kp.Data(POINTS, {U: [0.5]}),
    },
)


def test_conditions_of_a_domain_are_drawn_with_normals():
    panel = kp.plot.domain(PROBLEM, n=20).axes[0]
    _, labels = panel.get_legend_handles_labels()
    assert labels == ["cold", "hole", "sensor"]
    _, _, hole, sensor = (c.get_offsets() for c in panel.collections)
    np.testing.assert_allclose(np.linalg.norm(hole - 0.5, axis=1), 0.25, rtol=1e-5)
    np.testing.assert_array_equal(sensor, POINTS)
    inward = [a for a in panel.texts if np.hypot(*(np.array(a.xyann) - 0.5)) < 0.26]
    assert inward
    for arrow in inward:  # out of the plate is into its hole
        assert np.hypot(*(np.array(arrow.xy) - 0.5)) < 0.25


def test_loads_of_an_energy_are_drawn():
    stored = kp.integral(U.diff(X) ** 2 / 2 + U.diff(Y) ** 2 / 2)
    work, held = kp.integral(3 * U, over={X: 2}), kp.Condition(U, on={X: 0}, hard=True)
    problem = kp.Problem(PLATE, energy=stored - work, conditions={"held": held})
    panel = kp.plot.domain(problem, n=20).axes[0]
    assert panel.get_legend_handles_labels()[1] == ["held", "energy, over={x: 2.0}"]
    assert (panel.collections[2].get_offsets()[:, 0] == 2).all()


@pytest.mark.parametrize(
    "domain",
    [
        kp.geometry.Box({X: (0, 1)}),
        kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}),
        kp.geometry.Box({X: (0, 1), Y: (0, 1), Z: (0, 1)}),
    ],
)
def test_boundary_of_a_domain_is_drawn(domain):
    panel = kp.plot.domain(domain, n=5).axes[0]
    _, labels = panel.get_legend_handles_labels()
    assert labels[0] == "boundary"
    assert bool(len(panel.get_yticks())) is (domain.dimension > 1)  # a line has none


def test_plots_of_invalid_domains_are_refused():
    with pytest.raises(TypeError, match="a Problem or a geometry"):
        kp.plot.domain("plate")
    box = kp.geometry.Box({X: (0, 1), Y: (0, 1), Z: (0, 1)}, time={T: (0, 1)})
    with pytest.raises(ValueError, match="three coordinates"):
        kp.plot.domain(box)
