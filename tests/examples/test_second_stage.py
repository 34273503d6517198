"""Study of second stages: its problems, points and table."""

import functools
import json

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from examples.second_stage import cavity, cavity_flow, problems, table
from examples.second_stage.__main__ import SECOND_ORDER, stages
from examples.second_stage.peers.recording import Recorder
from examples.second_stage.peers.statements import STATEMENTS
from examples.second_stage.ratio_rule import RatioRule


@pytest.mark.parametrize(
    "name", ["helmholtz_hard", "poisson-4", "wave", "cavity_split", "cavity_velocity"]
)
def test_batches_are_of_the_problem_s_terms(name, monkeypatch):
    # A flow of few polynomials, whose numbers are not compared.
    coarse = functools.partial(cavity_flow.solve, n=8)
    monkeypatch.setattr(cavity, "solve", coarse)
    case = problems.CASES[name]
    problem = case.problem()
    for optimizer in (*SECOND_ORDER, "SOAP"):
        *_, (_, _, sizes, steps, _) = stages(optimizer, case, problem)
        assert steps > 0
        assert sizes == 300 or set(sizes) == set(problem.terms)


def test_one_series_solves_both_allen_cahn_equations_alike():
    """Compare the middle, which does not depend on the ends of x for wide fronts."""
    points = np.stack([np.linspace(-0.3, 0.3, 7), np.full(7, 0.1)], axis=-1)
    points = np.concatenate([points, points * [1, 0]])
    series = problems.fourier_allen_cahn(points, 1e-3, modes=512)
    polynomial = problems.chebyshev_allen_cahn(points, 1e-3, degree=150)
    np.testing.assert_allclose(series, polynomial, atol=1e-4)


TRACE = [
    {"cpu_seconds": 9.0, "u_relative_l2": 0.3, "v_relative_l2": 0.4},
    {"cpu_seconds": 30.0, "u_relative_l2": 1e-5, "v_relative_l2": 5e-4},
    {"cpu_seconds": 50.0, "u_relative_l2": 9e-5, "v_relative_l2": 2e-5},
]


def record(**changes):
    made = {"problem": "flow", "size": "9x2", "seed": 0, "trace": TRACE}
    return {**made, **table.USUAL, **changes}


def test_row_has_times_to_marks_and_the_worst_field():
    cells = table.row([record(network="gated")]).strip("| ").split(" | ")
    assert cells[:4] == ["flow", "gated 9x2", "SSBroyden", "1"]
    assert cells[4:] == ["30", "30", "50", "", "", "50", "**9.0e-05**"]


def test_row_of_several_seeds_counts_successes():
    cells = table.row([record(), record(seed=1, trace=TRACE[:2])]).split(" | ")
    assert cells[4:7] == ["30", "30", "50 (1 of 2)"]
    assert cells[9:] == ["30 to 50", "**9.0e-05 to 5.0e-04** |"]


def test_other_optimizers_are_compared_with_the_recipe(tmp_path):
    records = [record(), record(optimizer="LBFGS"), record(problem="heat")]
    records += [record(network="gated", seed=1)]
    several = table.compared(table.of_optimizers(records))
    assert several == records[:2]
    assert len(table.printed(records).splitlines()) == 6
    assert table.by_kind(records) == ""
    table.plot(several, tmp_path / "times.png")
    assert (tmp_path / "times.png").stat().st_size > 5_000


def test_networks_and_weights_are_compared_at_equal_steps():
    long = [line | {"steps": 250 * k} for k, line in enumerate(TRACE, start=1)]
    records = [
        record(trace=long[:2]),
        record(trace=long, weights="one"),
        record(trace=long, network="gated"),
        record(trace=long, network="gated", seed=1),
        record(trace=long, size="8x2"),
        record(trace=long, size="8x2", network="gated"),
        record(trace=long, problem="heat"),
    ]
    _, _, *rows = table.by_kind(records).splitlines()
    assert rows == [
        "| flow | 9x2 | 500 | 5.0e-04 | 5.0e-04 | 5.0e-04 |",
        "| flow | 8x2 | 750 |  | 9.0e-05 | 9.0e-05 |",
    ]


def test_cavity_reference_converges_to_published_extrema():
    line = np.linspace(0, 1, 501)
    middle = np.stack([np.full_like(line, 0.5), line], axis=-1)
    regularised = cavity_flow.regularised_lid()
    coarse, fine = (
        np.stack(cavity_flow.solve(regularised, n).velocity(middle)) for n in (12, 20)
    )
    assert 0 < np.abs(coarse - fine).max() < 1e-4
    flow = cavity_flow.solve(sp.Integer(1), 20)
    assert flow.velocity(middle)[0].min() == pytest.approx(-0.214042, rel=1e-3)
    assert flow.velocity(middle[:, ::-1])[1].max() == pytest.approx(0.179573, rel=1e-3)
    corners = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.5]])
    np.testing.assert_allclose(flow.velocity(corners)[0], [1, 1, 0], atol=1e-6)


def test_cavity_has_no_net_flow_through_sections(monkeypatch):
    """Compare with the reference flow at as many points as the condition has."""
    flow = cavity_flow.solve(sp.Integer(1), n=24)
    monkeypatch.setattr(cavity, "solve", lambda lid: flow)
    condition = cavity.cavity("velocity-pressure").conditions["through"]
    (through,) = condition.expressions
    nodes, weights = np.polynomial.legendre.leggauss(20)
    for x in (0.3, 0.5, 0.7):
        flux = size = 0
        for part in through.args:
            below, above = (float(end) for end in part.args[2:])
            y = below + (above - below) * (nodes + 1) / 2
            u, _ = flow.velocity(np.stack([np.full_like(y, x), y], axis=-1))
            flux += (above - below) / 2 * weights @ u
            size += (above - below) / 2 * weights @ abs(u)
        assert abs(flux) < 1e-4 * size


@pytest.mark.parametrize("side", [0, 1])
def test_cavity_corners_are_creeping_flow(side):
    psi, p = cavity_flow.corner_parts(1)
    x, y = cavity_flow.X, cavity_flow.Y
    u, v = psi.diff(y), -psi.diff(x)
    near = {x: abs(side - 6e-4), y: 1 - 8e-4}
    for velocity, coordinate in ((u, x), (v, y)):
        viscous = velocity.diff(x, 2) + velocity.diff(y, 2)
        viscous_force, pressure_gradient = (
            float(e.subs(near)) for e in (viscous, p.diff(coordinate))
        )
        assert pressure_gradient == pytest.approx(viscous_force, rel=1e-4)


@pytest.mark.parametrize("name", STATEMENTS)
def test_other_packages_get_the_problem_of_the_study(name):
    problem, statement = problems.CASES[name].problem(), STATEMENTS[name]()
    (u,), (x, y) = problem.fields, problem.domain.coordinates
    field = sp.sin(x + 2 * y) / 2 + x * y**2
    columns = list(
        np.random.default_rng(0).uniform(statement.low, statement.high, (5, 2)).T
    )

    def values(expression):
        return sp.lambdify((x, y), expression.subs(u, field).doit())(*columns)

    derivatives = {
        index: values(u.diff(x, index[0], y, index[1]))
        for index in statement.derivatives
    }
    (equation,) = problem.equations.values()
    residual = statement.equation(np, columns, derivatives)
    np.testing.assert_allclose(residual, values(equation), rtol=1e-10)
    np.testing.assert_array_equal(statement.low, problem.domain.lower)
    np.testing.assert_array_equal(statement.high, problem.domain.upper)


@pytest.mark.parametrize("name", ["klein_gordon", "burgers"])
def test_other_packages_get_the_conditions_of_the_study(name):
    problem, statement = problems.CASES[name].problem(), STATEMENTS[name]()
    (u,), (x, y) = problem.fields, problem.domain.coordinates
    declared = [e for c in problem.conditions.values() for e in c.expressions]
    assert len(declared) == len(statement.conditions)
    for expression, condition in zip(declared, statement.conditions, strict=True):
        for axis, coordinate in condition.sides:
            point = np.array([0.3, 0.7])
            point[axis] = coordinate
            value = condition.value(np, list(point))
            misfit = (
                expression.subs(u.diff(y), 0)
                .subs(u, 0)
                .subs({x: point[0], y: point[1]})
            )
            assert value == pytest.approx(-float(misfit), abs=1e-12)
            assert expression.has(u.diff(y)) == (condition.derivative == (0, 1))


def test_recorder_keeps_weights_until_the_time_is_over(capsys):
    recorder = Recorder(seconds=0.0)
    recorder.keep("Adam", 7, lambda: 0.5)
    assert recorder.over
    recorder.tell(error=lambda weights: 2 * weights, packages=["numpy"])
    versions, line = capsys.readouterr().out.splitlines()
    assert "numpy" in versions
    assert table.error(json.loads(line)) == 1.0


@pytest.mark.slow
def test_the_ratio_rule_lowers_the_loss():
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"poisson": u.diff(x, 2) + 1},
        {"ends": kp.Condition(u, on="boundary")},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(5, 1), seed=0).astype("float64")
    model.compile(RatioRule())
    logs = model.fit(steps_per_epoch=1, epochs=15, batch_size=32, verbose=0).history
    assert logs["loss"][-1] < 1e-3 * logs["loss"][0]
    ratios = np.divide(logs["damping"][1:], logs["damping"][:-1])
    assert (abs(np.log(ratios)) < 3.1 * np.log(3)).all() and (ratios != 1).any()
