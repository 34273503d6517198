"""Tests of the cavity's solver against its equations and published results."""

import functools
import importlib
import time
from pathlib import Path

import numpy as np
import pytest

from examples import cavity_solver as solvers
from examples.cavity_solver import published
from examples.cavity_solver.scheme import CavityScheme
from examples.cavity_solver.store import stored
from keraspinn.problems.cavity_reference import stored_flows

ROOT = Path(__file__).parents[2]
SIZES = (32, 64, 128, 256)
LIDS = ("zero", "half-cell")


@functools.cache
def solve(reynolds, n, **options):
    return solvers.lid_driven_cavity(reynolds, n, **options)


def extremum(n, name):
    return solve(100, n).centreline_extrema()[name]


# The discrete equations, implemented again node by node.


def x_derivative(field, h):
    return (field[2:, 1:-1] - field[:-2, 1:-1]) / (2 * h)


def y_derivative(field, h):
    return (field[1:-1, 2:] - field[1:-1, :-2]) / (2 * h)


def laplacian(field, h):
    neighbours = field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
    return (neighbours - 4 * field[1:-1, 1:-1]) / h**2


def discrete_errors(flow):
    """Return the error of a flow in each of the appendix's equations."""
    h, psi, omega = 1 / flow.n, flow.psi, flow.vorticity
    advection = y_derivative(psi, h) * x_derivative(omega, h)
    advection -= x_derivative(psi, h) * y_derivative(omega, h)
    transport = advection - laplacian(omega, h) / flow.reynolds
    errors = {
        "poisson": laplacian(psi, h) + omega[1:-1, 1:-1],
        "transport": transport,
        "u": flow.u[1:-1, 1:-1] - y_derivative(psi, h),
        "v": flow.v[1:-1, 1:-1] + x_derivative(psi, h),
    }
    walls = {"left": 1, "right": 1, "floor": 2, "lid": 2}
    for wall, axis in walls.items():
        psi_w = psi if axis == 1 else psi.T
        omega_w = omega if axis == 1 else omega.T
        if wall in ("right", "lid"):
            psi_w, omega_w = psi_w[::-1], omega_w[::-1]
        speed = 1.0 if wall == "lid" else 0.0
        woods = -omega_w[1] / 2 - 3 / h**2 * (psi_w[1] - psi_w[0]) - 3 / h * speed
        errors[wall] = (omega_w[0] - woods)[1:-1]
    return {name: np.abs(error).max() for name, error in errors.items()}


@pytest.mark.parametrize("lid", LIDS)
@pytest.mark.parametrize("reynolds, n", [(1, 9), (100, 16), (1000, 32), (2000, 64)])
def test_newton_solves_the_discrete_equations(reynolds, n, lid):
    flow = solve(reynolds, n, lid_streamfunction=lid)
    for name, error in discrete_errors(flow).items():
        assert error < 1e-8, name


@pytest.mark.parametrize("lid", LIDS)
def test_jacobian_is_the_derivative_of_the_residual(lid):
    n, nu, step = 9, 0.02, 1e-6
    scheme = CavityScheme(n, 0.0 if lid == "zero" else 0.5 / n)
    rng = np.random.default_rng(0)
    psi, direction = 0.1 * rng.normal(size=(2, (n - 1) ** 2))
    exact = scheme.steady_jacobian(psi, nu) @ direction
    ahead = scheme.steady_residual(psi + step * direction, nu)
    behind = scheme.steady_residual(psi - step * direction, nu)
    numeric = (ahead - behind) / (2 * step)
    np.testing.assert_allclose(numeric, exact, atol=1e-6 * np.abs(exact).max())


def test_poisson_solver_inverts_the_laplacian():
    n = 12
    scheme = CavityScheme(n, lid_value=0.3)
    omega = np.random.default_rng(0).normal(size=(n - 1, n - 1))
    psi = scheme.streamfunction(scheme.solve_poisson(omega.ravel()))
    psi = psi.reshape(scheme.shape)
    assert np.all(psi[:, -1] == 0.3)
    np.testing.assert_allclose(-laplacian(psi, 1 / n), omega, atol=1e-11)


@pytest.mark.parametrize("lid", LIDS)
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6])
def test_pseudo_time_agrees_with_newton_to_its_tolerance(lid, tolerance):
    newton = solve(100, 16, lid_streamfunction=lid)
    stepped = solvers.lid_driven_cavity(
        100, 16, lid_streamfunction=lid, method="pseudo-time", tolerance=tolerance
    )
    # A change per unit of time is an error in units of the slowest decay, about 2.
    for field in ("u", "v", "psi", "pressure"):
        away = np.abs(getattr(stepped, field) - getattr(newton, field)).max()
        assert away < 3 * tolerance, field


@pytest.mark.parametrize("name", ["u_min", "v_max", "v_min"])
def test_second_order_convergence_of_the_extrema(name):
    values = np.array([extremum(n, name)[0] for n in SIZES])
    difference = np.diff(values)
    order = np.log2(difference[:-1] / difference[1:])
    assert np.all(np.abs(order - 2) < 0.1), order


@pytest.mark.parametrize("name", ["u_min", "v_max", "v_min"])
def test_extrema_match_spectral_results(name):
    value, where = published.EXTREMA_RE100[name]
    extreme, at = extremum(256, name)
    assert extreme == pytest.approx(value, rel=1e-3)  # required: 0.5 %
    assert at == pytest.approx(where, abs=2e-4)


@pytest.mark.parametrize("n", [128, 256])
def test_profiles_match_ghia(n):
    y, u = published.GHIA_U_RE100
    x, v = published.GHIA_V_RE100
    found_u = solve(100, n).at(np.column_stack([np.full_like(y, 0.5), y]))["u"]
    found_v = solve(100, n).at(np.column_stack([x, np.full_like(x, 0.5)]))["v"]
    assert np.abs(found_u - u).max() < published.GHIA_ACCURACY["u"]
    assert np.abs(found_v - v).max() < published.GHIA_ACCURACY["v"]


def test_pressure_converges_to_botella_and_peyret():
    errors = []
    for n in (64, 128, 256):
        flow, half = solve(1000, n), n // 2
        for profile, pressure in (
            (published.PRESSURE_ON_X_HALF_RE1000, flow.pressure[half]),
            (published.PRESSURE_ON_Y_HALF_RE1000, flow.pressure[:, half]),
        ):
            node, value = profile
            errors.append(np.abs(np.interp(node, flow.x, pressure) - value).max())
    errors = np.reshape(errors, (3, 2))
    assert np.all(errors[-1] < 1.5e-3)  # the pressure spans 0.11 there
    assert np.all(np.log2(errors[:-1] / errors[1:]) > 1.8)


def momentum_error(n):
    """Return the largest residual of the momentum equations, from u, v and p alone.

    Points are a quarter of the side from the lid corners and one node off the walls,
    where a second difference would mix the exact wall velocity with central
    differences.
    """
    flow, h = solve(100, n), 1 / n
    u, v = flow.u[1:-1, 1:-1], flow.v[1:-1, 1:-1]
    x, y = np.meshgrid(flow.x[1:-1], flow.y[1:-1], indexing="ij")
    far = np.hypot(np.minimum(x, 1 - x), 1 - y) > 0.25
    far[[0, -1]] = far[:, [0, -1]] = False
    errors = []
    for velocity, slope in ((flow.u, x_derivative), (flow.v, y_derivative)):
        advection = u * x_derivative(velocity, h) + v * y_derivative(velocity, h)
        viscosity = laplacian(velocity, h) / flow.reynolds
        residual = slope(flow.pressure, h) + advection - viscosity
        errors.append(np.abs(residual[far]).max())
    return max(errors)


def test_pressure_satisfies_the_momentum_equations_to_second_order():
    errors = np.array([momentum_error(n) for n in (64, 128, 256)])
    assert errors[-1] < 5e-3
    assert np.all(np.log2(errors[:-1] / errors[1:]) > 1.8)


@pytest.mark.parametrize("n", [16, 17])
def test_pressure_is_zero_at_the_centre(n):
    centre = solvers.lid_driven_cavity(100, n).at([[0.5, 0.5]])["pressure"]
    # On an odd grid the centre is the mean of four nodes, and a spline is not.
    assert abs(centre[0]) < (1e-15 if n % 2 == 0 else 1e-3)


def test_creeping_flow_is_symmetric():
    flow = solve(1e-6, 32)
    np.testing.assert_allclose(flow.u, flow.u[::-1], atol=1e-6)
    np.testing.assert_allclose(flow.v, -flow.v[::-1], atol=1e-6)
    scale = np.abs(flow.pressure).max()
    np.testing.assert_allclose(
        flow.pressure / scale, -flow.pressure[::-1] / scale, atol=1e-6
    )


@pytest.mark.parametrize("lid", LIDS)
def test_boundary_values_are_exact(lid):
    flow = solve(100, 16, lid_streamfunction=lid)
    assert np.all(flow.u[:, -1] == 1)  # both corners belong to the lid
    assert not flow.u[[0, -1], :-1].any() and not flow.u[:, 0].any()
    for wall in (flow.v[0], flow.v[-1], flow.v[:, 0], flow.v[:, -1]):
        assert not wall.any()
    assert np.all(flow.psi[:, -1] == (0 if lid == "zero" else 0.5 / 16))
    assert not flow.psi[[0, -1], :-1].any() and not flow.psi[:, 0].any()
    np.testing.assert_array_equal(flow.speed, np.hypot(flow.u, flow.v))


def test_half_cell_lid_leaks_half_a_cell():
    n = 64
    sealed = solve(100, n)
    leaking = solve(100, n, lid_streamfunction="half-cell")
    assert abs(sealed.flux) < 5e-4
    assert leaking.flux == pytest.approx(0.5 / n, abs=5e-4)
    truth = published.EXTREMA_RE100["u_min"][0]
    assert abs(leaking.centreline_extrema()["u_min"][0] / truth - 1) > 0.05
    assert abs(sealed.centreline_extrema()["u_min"][0] / truth - 1) < 0.015


def test_at_returns_the_nodes_values():
    flow = solve(100, 32)
    x, y = np.meshgrid(flow.x, flow.y, indexing="ij")
    values = flow.at(np.column_stack([x.ravel(), y.ravel()]))
    assert set(values) == {"psi", "vorticity", "u", "v", "pressure", "speed"}
    for name, value in values.items():
        field = getattr(flow, name)
        np.testing.assert_allclose(
            value.reshape(field.shape), field, atol=1e-12 * np.abs(field).max()
        )


def test_at_interpolates_between_the_nodes():
    coarse, fine = solve(100, 128), solve(100, 256)
    middles = np.column_stack([fine.x[1:80:2], fine.y[41:120:2]])
    for name in ("u", "v", "psi"):
        expected = getattr(fine, name)[np.arange(1, 80, 2), np.arange(41, 120, 2)]
        away = np.abs(coarse.at(middles)[name] - expected).max()
        at_nodes = np.abs(getattr(coarse, name) - getattr(fine, name)[::2, ::2])
        assert away < 1.5 * at_nodes[2:40, 20:60].max(), name


@pytest.mark.parametrize("wall", [0.0, 1.0])
def test_at_does_not_overshoot_the_jump_at_the_lid_corners(wall):
    y = np.linspace(0, 1, 1001)
    u = solve(100, 64).at(np.column_stack([np.full_like(y, wall), y]))["u"]
    assert u.min() > -1e-4 and u.max() <= 1  # a spline would reach -0.1 here
    assert np.all(np.abs(u[y < 1 - 1 / 64]) < 1e-4)


@pytest.mark.parametrize(
    "points, message",
    [
        ([0.5, 0.5], "shape"),
        ([[0.5, 0.5, 0.5]], "shape"),
        ([[0.5, 0.5], [1.2, 0.5]], r"\(1.2, 0.5\)"),
        ([[np.nan, 0.5]], "unit square"),
    ],
)
def test_at_rejects_invalid_points(points, message):
    with pytest.raises(ValueError, match=message):
        solve(100, 16).at(points)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"reynolds": 0}, "`reynolds`.*positive.*Received: 0"),
        ({"reynolds": -100.0}, "Received: -100.0"),
        ({"reynolds": float("nan")}, "Received: nan"),
        ({"reynolds": float("inf")}, "Received: inf"),
        ({"reynolds": "100"}, "Received: '100'"),
        ({"reynolds": True}, "Received: True"),
        ({"n": 7}, "`n`.*at least 8.*Received: 7"),
        ({"n": -16}, "Received: -16"),
        ({"n": 16.0}, "Received: 16.0"),
        ({"n": True}, "Received: True"),
        ({"n": np.True_}, "`n`"),
        ({"method": "Newton"}, "'newton', 'pseudo-time'.*method='Newton'"),
        ({"lid_streamfunction": 0}, "'zero', 'half-cell'.*lid_streamfunction=0"),
        ({"tolerance": 0}, "`tolerance`.*positive"),
        ({"tolerance": 1}, "`tolerance`.*at most 0.01.*Received: 1; write"),
        ({"method": ["newton"]}, "'newton', 'pseudo-time'"),
        ({"max_steps": 0}, "`max_steps`.*positive.*0"),
        ({"max_steps": True}, "Received: True"),
        ({"time_step": 1e-3}, "method='pseudo-time'.*time_step=0.001"),
        ({"time_step": -1, "method": "pseudo-time"}, "`time_step`.*positive.*-1"),
    ],
)
def test_rejects_arguments_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        solvers.lid_driven_cavity(**{"reynolds": 100, "n": 16} | arguments)


def test_accepts_numpy_integers():
    assert solvers.lid_driven_cavity(np.int64(100), np.int64(8)).u.shape == (9, 9)


@pytest.mark.parametrize(
    "arguments, advice",
    [
        ({"tolerance": 1e-18}, "larger tolerance"),
        ({"max_steps": 2}, "max_steps"),
        ({"reynolds": 1e6}, "larger n"),
        ({"method": "pseudo-time", "time_step": 0.1}, "time_step=0.016 or less"),
        ({"method": "pseudo-time", "max_steps": 50}, "max_steps"),
        ({"method": "pseudo-time", "tolerance": 1e-18, "max_steps": 2000}, "tolerance"),
        (  # still at rest, where the driving force acts slowly
            {"method": "pseudo-time", "reynolds": 1e6, "n": 8, "max_steps": 2000},
            "max_steps",
        ),
    ],
)
def test_no_field_without_a_steady_state(arguments, advice):
    with pytest.raises(solvers.SteadyStateNotFound, match=advice) as caught:
        solvers.lid_driven_cavity(**{"reynolds": 100, "n": 16} | arguments)
    assert isinstance(caught.value, RuntimeError)


def test_newton_takes_seconds():
    start = time.perf_counter()
    solvers.lid_driven_cavity(100, 128)
    assert time.perf_counter() - start < 15  # half a second on an idle machine


@pytest.mark.parametrize("method", ["newton", "pseudo-time"])
def test_progress_bar_shows_the_change(method, capsys):
    solvers.lid_driven_cavity(100, 8, method=method, verbose=1)
    assert "change" in capsys.readouterr().out


def test_prints_nothing_by_default(capsys):
    solvers.lid_driven_cavity(100, 8)
    assert capsys.readouterr().out == ""


def test_documented_numbers_agree_with_the_example(capsys, monkeypatch):
    program = importlib.import_module("examples.cavity_solver.__main__")
    monkeypatch.setattr(program, "lid_driven_cavity", solve)
    program.main(SIZES)
    document = (ROOT / "docs" / "cavity_reference.md").read_text(encoding="utf-8")
    for line in filter(None, capsys.readouterr().out.splitlines()):
        assert line in document


def test_stored_flows_agree_with_the_solver():
    fields, units = stored(solve(100, 128))
    u, v, pressure = fields.reshape(3, -1) * units[:, None]
    for field, reference in zip((u, v, pressure), stored_flows()[100], strict=True):
        error = np.linalg.norm(field - reference) / np.linalg.norm(reference)
        assert error < (4e-2 if field is pressure else 1.5e-2)  # 256 cells against 128
