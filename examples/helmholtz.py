"""Helmholtz equation Δu + k²u = q, trained with one of the paper's models.

python examples/helmholtz.py --model M4 --units 50 --depth 5

By default Adam's learning rate decays on a cosine from 3e-3, and the annealing has
α = 0.1. The error is a fifth of that with the settings of the paper, `--paper`.
"""

import common

import keraspinn as kp


def with_one_mean(problem):
    """Return the problem with one mean of residuals over the whole boundary."""
    (boundary,) = problem.conditions["boundary"].expressions
    return kp.Problem(
        problem.domain,
        problem.equations,
        {"boundary": kp.Condition(boundary, on="boundary")},
        problem.reference,
        scales=problem.scales,
    )


def main():
    parser = common.options(__doc__)
    parser.add_argument("--a1", type=int, default=1, help="half-waves along x")
    parser.add_argument("--a2", type=int, default=4, help="half-waves along y")
    parser.add_argument(
        "--one-mean",
        action="store_true",
        help="take one mean over the boundary, not the sum of the sides' means",
    )
    arguments = parser.parse_args()
    problem = kp.problems.helmholtz(arguments.a1, arguments.a2)
    if arguments.one_mean:
        problem = with_one_mean(problem)
    print(problem)
    model, history = common.train(problem, arguments)
    common.report(model, history, arguments, "helmholtz")


if __name__ == "__main__":
    main()
