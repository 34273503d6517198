"""Reynolds number of a lid-driven cavity, identified from noisy velocity samples.

    python examples/inverse_cavity.py --samples 200 --noise 0.01
    python examples/inverse_cavity.py --model M1 --units 30 --depth 3 --second-stage 6

The samples are values of a finite-difference solution at Re = 100, away from the walls.
Neither boundary values nor pressures are known. The unknown is the viscosity ν = 1/Re,
whose true value is 0.01; its initial value is 0.05.

In a second stage the loss weight λ of the samples is `SECOND_WEIGHT`, so small that
noise does not distort the flow. The estimate then has a standard deviation.
"""

import common
import numpy as np
from cavity_solver import lid_driven_cavity

import keraspinn as kp

TRUE_REYNOLDS = 100

# Loss weight λ of the samples in the second stage, so small that noise does not distort
# the flow.
SECOND_WEIGHT = 0.01


def problem_with_samples(samples, noise, seed):
    """Return the problem of the inner cavity with velocity samples and unknown ν."""
    viscosity = kp.Parameter("viscosity", initial=0.05)
    cavity = kp.problems.lid_driven_cavity(
        1 / viscosity,
        "velocity-pressure",
        corner_width=0,
        reference_reynolds=TRUE_REYNOLDS,
    )
    x, y = cavity.coordinates
    inside = kp.geometry.Box({x: (0.1, 0.9), y: (0.1, 0.9)})
    flow = lid_driven_cavity(TRUE_REYNOLDS, 256)
    _, u, v = cavity.fields
    generator = np.random.default_rng(seed)
    points = generator.uniform(0.1, 0.9, size=(samples, 2))
    exact = flow.at(points)
    values = {
        field: exact[name] + noise * generator.standard_normal(samples)
        for field, name in ((u, "u"), (v, "v"))
    }
    grid = inside.grid(100)
    exact = flow.at(grid)
    return kp.Problem(
        domain=inside,
        equations=cavity.equations,
        conditions={"samples": kp.Data(points, values)},
        reference=kp.Reference(grid, {u: exact["u"], v: exact["v"]}),
        scales=None,
    )


def least_deviation(points, noise):
    """Return the standard deviation of Re if the flow depends on Re alone."""
    less, more = (
        lid_driven_cavity(TRUE_REYNOLDS * ratio, 128).at(points)
        for ratio in (0.98, 1.02)
    )
    change = [(more[name] - less[name]) / (0.04 * TRUE_REYNOLDS) for name in "uv"]
    return noise / np.linalg.norm(change)


def main():
    parser = common.options(__doc__)
    parser.add_argument("--samples", type=int, default=200, help="measured points")
    parser.add_argument("--noise", type=float, default=0.01, help="its deviation")
    arguments = parser.parse_args()
    problem = problem_with_samples(arguments.samples, arguments.noise, arguments.seed)
    print(problem)
    model, history = common.train(
        problem, arguments, second_weights={"samples": SECOND_WEIGHT}
    )
    trace = [1 / value for value in history.history["viscosity"]]
    shown = trace[:: max(1, len(trace) // 8)]
    print("Reynolds number:", ", ".join(f"{value:.1f}" for value in shown))
    error = abs(trace[-1] / TRUE_REYNOLDS - 1)
    print(f"Reynolds number at the end: {trace[-1]:.1f}, relative error {error:.1e}")
    if arguments.second_stage:
        nu = float(model.coefficients["viscosity"])
        deviation = model.parameter_deviation()["viscosity"]
        error = abs(nu * TRUE_REYNOLDS - 1)
        print(
            f"after the second stage: {1 / nu:.2f} ± {deviation / nu**2:.2f}, "
            f"relative error {error:.1e}, deviation {deviation / nu:.1e}"
        )
        least = least_deviation(problem.conditions["samples"].points, arguments.noise)
        print(f"were the walls known and ν alone unknown, the least: ± {least:.2f}")
    common.report(model, history, arguments, "inverse_cavity")


if __name__ == "__main__":
    main()
