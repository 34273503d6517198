"""Find the Reynolds number of a lid-driven cavity from noisy velocity samples.

    python examples/inverse_cavity.py --samples 200 --noise 0.01

The samples are a classical solution's at Re = 100, taken away from the walls, where
nothing else is known: no boundary values, no pressure. The unknown is the viscosity
ν = 1/Re, 0.01; training starts from 0.05.
"""

import common
import numpy as np

import keraspinn as kp
from keraspinn.solvers import lid_driven_cavity

TRUE_REYNOLDS = 100


def problem_with_samples(samples, noise, seed):
    """The inner part of the cavity, its 1/Re unknown, with samples of the velocity."""
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


def main():
    parser = common.options(__doc__)
    parser.add_argument("--samples", type=int, default=200, help="measured points")
    parser.add_argument("--noise", type=float, default=0.01, help="its deviation")
    arguments = parser.parse_args()
    problem = problem_with_samples(arguments.samples, arguments.noise, arguments.seed)
    print(problem)
    model, history = common.train(problem, arguments)
    trace = [1 / viscosity for viscosity in history.history["viscosity"]]
    shown = trace[:: max(1, len(trace) // 8)]
    print("Reynolds number:", ", ".join(f"{value:.1f}" for value in shown))
    error = abs(trace[-1] / TRUE_REYNOLDS - 1)
    print(f"Reynolds number at the end: {trace[-1]:.1f}, relative error {error:.1e}")
    common.report(model, history, arguments, "inverse_cavity")


if __name__ == "__main__":
    main()
