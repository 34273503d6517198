"""Declarations of other packages' examples, listed in `docs/declared.md`."""

import keras
import numpy as np
import pytest

import keraspinn as kp
from examples.public_examples import (
    DECLARED,
    EXAM,
    TRUE,
    deepxde_evolving,
    missed,
    problem_of,
)
from examples.public_examples.common import REPOSITORY

# Its conductivity jumps, and the published declaration drops the jump.
UNRELIABLE = "Poisson 2d-MS"
pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore:In equation 'poisson'.*jumps at:UserWarning"),
    # The outlets of two flows of PINNacle have a condition on the pressure alone.
    *(
        pytest.mark.filterwarnings(f"ignore:A condition is missing on {at}:UserWarning")
        for at in (r"x = 2 \(at x = 2, y = 0.732", r"x = 4 \(at x = 4, y = 1.4641\)")
    ),
]

ROWS = DECLARED | EXAM
# Some rows share a declaration.
ONCE = {declare: row for row, declare in reversed(ROWS.items())}
SOLVED = [  # with a solution in closed form
    *("Beltrami_flow", "Euler_beam", "Helmholtz_Dirichlet_2d", "Klein_Gordon"),
    *("Helmholtz_Neumann_2d_hole", "Kovasznay_flow", "Laplace_disk"),
    *("Poisson_Dirichlet_1d", "Poisson_Dirichlet_1d_exactBC", "Poisson_Neumann_1d"),
    *("Poisson_PointSetOperator_1d", "Poisson_Robin_1d", "Poisson_multiscale_1d"),
    *("Poisson_periodic_1d", "diffusion_1d", "diffusion_1d_exactBC", "heat"),
    *("diffusion_reaction", "elasticity_plate", "ode_2nd", "ode_system", "wave_1d"),
    *("Navier_Stokes_inverse", "brinkman_forchheimer", "diffusion_1d_inverse"),
    *("elliptic_inverse_field", "Heat 2d-MS", "Wave 1d-C", "Poisson-nd", "Heat-nd"),
    *("Poisson, inverse", "Heat, inverse", "Volterra_IDE", "ide"),
    *("fractional_Poisson_1d", "fractional_diffusion_1d"),
]
NOISY = {"Poisson, inverse": {"measured"}, "Heat, inverse": {"measured"}}


def model_of(row):
    problem, alike = problem_of(ROWS[row]), {}
    for field in problem.fields:
        alike.setdefault(field.args, []).append(field)
    networks = {
        tuple(fields): kp.networks.MLP(3, 1, outputs=len(fields))
        for fields in alike.values()
    }
    return kp.PINNModel(problem, networks, seed=0)


def losses(row, *points, **sizes):
    """Return the losses of one step."""
    model = model_of(row)
    model.compile(keras.optimizers.SGD(0.0), jit_compile=False)
    return model.fit(*points, steps_per_epoch=1, verbose=0, **sizes).history


@pytest.mark.slow
@pytest.mark.parametrize("row", ONCE.values())
def test_example_declares(row):
    problem = problem_of(ROWS[row])
    config = problem.get_config()
    again = kp.Problem.from_config(config)
    assert str(again) == str(problem) and again.get_config() == config
    assert model_of(row).derivative_engine == "taylor"


@pytest.mark.slow
def test_unreliable_example():
    unreliable = [row for row in ONCE.values() if problem_of(ROWS[row]).unreliable]
    assert unreliable == [UNRELIABLE]


@pytest.mark.parametrize("row", SOLVED)
def test_reference_satisfies_equations(row):
    misses = missed(problem_of(ROWS[row]), **TRUE.get(row, {}))
    assert {n for n, miss in misses.items() if miss > 1e-9} == NOISY.get(row, set())


@pytest.mark.slow
@pytest.mark.parametrize("row", ["american_put", "elasticity_plate"])
def test_loss_is_finite(row):
    assert np.isfinite(losses(row, batch_size=4)["loss"][0])


def test_points_where_the_residual_is_large():
    """DeepXDE's Burgers_RAR."""
    points = kp.sampling.ResidualBased(every=1, pool=2)
    assert np.isfinite(losses("Burgers_RAR", points, batch_size=4)["loss"][0])


def test_measurements_in_batches():
    """DeepXDE's elliptic_inverse_field_batch: some of the measurements in each step."""
    model = model_of("elliptic_inverse_field_batch")
    sizes = {"residual": 4, "ends": 1, "measured": 10}
    model.compile(keras.optimizers.SGD(0.0), jit_compile=False)
    step = {"batch_size": sizes, "steps_per_epoch": 1, "verbose": 0}
    seen = {model.fit(**step).history["measured_loss"][0] for _ in range(2)}
    assert len(seen) == 2


def test_rows_of_the_page_match():
    page = (REPOSITORY / "docs" / "declared.md").read_text("utf-8")
    cells = [line[2:].split(" |") for line in page.splitlines() if line[:2] == "| "]
    verdicts = {row: verdict.strip() for row, verdict, *_ in cells}
    verdicts = {row: v for row, v in verdicts.items() if v != "Status"}  # headings
    marked = {
        mark: {row[:-2] for row in verdicts if row[-1] == mark} for mark in ("†", "‡")
    }
    assert marked == {"†": {*ROWS} - {*EXAM}, "‡": {*EXAM}}
    others = {verdict for row, verdict in verdicts.items() if row[-1] not in marked}
    assert "declared" not in others
    counts = list(verdicts.values()).count
    numbers = f"{counts('declared')} of {len(verdicts)} are declared as they stand"
    assert numbers in page.replace("\n", " ")
    assert f"those {len(SOLVED)} that have" in page


def test_two_solitons_on_a_period_miss_the_closed_form_of_the_line_by_a_percent():
    points, wave = deepxde_evolving.two_solitons()
    x, t = points.T
    beat = np.cosh(4 * x) + 4 * np.cosh(2 * x) + 3 * np.cos(4 * t)
    line = np.exp(0.5j * t) * np.cosh(3 * x) + 3 * np.exp(4.5j * t) * np.cosh(x)
    line *= 4 / beat
    for part, miss in (("real", 0.0038), ("imag", 0.0102)):
        exact = getattr(wave, part)
        error = np.linalg.norm(getattr(line, part) - exact) / np.linalg.norm(exact)
        assert error == pytest.approx(miss, rel=0.02)
