"""Outward normals in conditions, at sampled, held and tabulated points."""

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from keraspinn.sampling.sources import PointSources

X, Y, T = sp.symbols("x y t")
U = sp.Function("u")(X, Y)
BOX = kp.geometry.Box({X: (0, 1), Y: (10, 14)})
N = BOX.normal
FLUX = kp.normal_derivative(U, BOX)
OUTWARD = {"x0": (-1, 0), "x1": (1, 0), "y0": (0, -1), "y1": (0, 1)}


def problem(on, equation=FLUX, **arguments):
    wall = kp.Condition(equation, on=on)
    equations = {"e": U.diff(X) + U.diff(Y)}
    return kp.Problem(BOX, equations, {"wall": wall}, **arguments)


def expected(coordinates):
    x, y = coordinates.T
    rows = {"x0": x == 0, "x1": x == 1, "y0": y == 10, "y1": y == 14}
    return sum(np.outer(rows[side], OUTWARD[side]) for side in rows)


@pytest.mark.parametrize(
    "sampler", [None, kp.sampling.Renewed(5), kp.sampling.ResidualBased(5)]
)
@pytest.mark.parametrize("scales", [None, "auto"])
def test_sampled_and_held_points_have_normals(sampler, scales):
    for on in ("boundary", [{X: 0}, {Y: 14}], {Y: 10}):
        sources = PointSources(
            problem(on, scales=scales), "float32", 50, default=sampler
        )

        def error(name, batch):
            return batch.points[:, 0] ** 2

        batch = sources.step(sources.init(0), 0, 0, error)[0]["wall"]
        np.testing.assert_allclose(batch.normals, expected(np.array(batch.coordinates)))
        count, part = batch.parts(30)
        first = part(0)
        assert count > 1 and first.normals.shape == first.points.shape


def test_tabulated_points_have_the_normal_of_their_face():
    points = np.array([[0, 11.0], [1, 12], [0.3, 10], [0.7, 14]])
    sources = PointSources(problem("boundary"), "float32", given={"wall": points})
    batch = sources.draw(0, 0)["wall"]
    np.testing.assert_allclose(batch.normals, [[-1, 0], [1, 0], [0, -1], [0, 1]])


def test_terms_without_the_normal_compute_none():
    batch = PointSources(problem("boundary", U), "float32").draw(0, 0)["wall"]
    assert batch.normals is None


def test_rejects_points_without_a_normal():
    with pytest.raises(ValueError, match="condition 'wall'.*no normal on the interior"):
        problem("interior")
    with pytest.raises(ValueError, match="no normal on x = 0, y = 10"):
        problem({X: 0, Y: 10})
    with pytest.raises(ValueError, match="condition 'seen'.*outward normal"):
        data = kp.Data([[0.5, 11.0]], {U + N[0] * U: [1.0]})
        kp.Problem(BOX, {"laplace": U.diff(X, 2)}, {"seen": data})
    with pytest.raises(TypeError, match="SymPy expression"):
        kp.normal_derivative(3, BOX)


def test_sign_and_scale_of_the_normal():
    """Compute ∂u/∂n of u = 3 x − y/2 with a linear network."""
    for scales in (None, "auto", {U: 5.0}):
        network = keras.Sequential([keras.layers.Dense(1)])
        model = kp.PINNModel(problem("boundary", scales=scales), network)
        network.set_weights([np.array([[3.0], [-0.5]]), np.zeros(1)])
        batch = model._evaluation.sources.draw(0, 0)["wall"]
        (residuals,) = model._objective.residuals("wall", batch)
        size = model.problem.scales.sizes(model.problem.terms["wall"])[0]
        slopes = expected(np.array(batch.coordinates)) @ [3, -0.5]
        np.testing.assert_allclose(ops.convert_to_numpy(residuals) * size, slopes, 1e-4)


@pytest.mark.slow
def test_neumann_and_robin_ends_are_fitted():
    """Solve u'' = 0, ∂u/∂n = 1 left, ∂u/∂n + u = 0 right: u = 2 − x on [0, 1]."""
    u = sp.Function("u")(X)
    rod = kp.geometry.Box({X: (0, 1)})
    slope = kp.normal_derivative(u, rod)
    declared = kp.Problem(
        rod,
        {"laplace": u.diff(X, 2)},
        {
            "left": kp.Condition(slope - 1, on={X: 0}),
            "right": kp.Condition(slope + u, on={X: 1}),
        },
        reference={u: 2 - X},
    )
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(declared, kp.networks.MLP(8, 1), seed=0)
    model.compile(kp.optimizers.SSBroyden())
    model.fit(batch_size=50, steps_per_epoch=60, verbose=0)
    logs = model.evaluate(*declared.test_data(), return_dict=True, verbose=0)
    assert logs["u_relative_l2"] < 1e-3


def test_parts_of_a_curved_boundary_have_their_normals():
    hole = kp.geometry.Disk((5, 10), 1.0)
    ring = kp.geometry.Disk((5, 10), 2.0, coordinates=(X, Y)) - hole
    wall = kp.Condition(kp.normal_derivative(U, ring), on="boundary")
    declared = kp.Problem(ring, {"e": U.diff(X) + U.diff(Y)}, {"wall": wall})
    batch = PointSources(declared, "float32", 40).draw(0, 0)["wall"]
    arrow = np.array(batch.coordinates) - [5, 10]
    radius = np.linalg.norm(arrow, axis=1, keepdims=True)
    outward = np.where(radius > 1.5, arrow, -arrow) / radius
    np.testing.assert_allclose(batch.normals, outward, atol=1e-4)
    assert 0 < (radius > 1.5).sum() < len(radius)
