"""Solve the Helmholtz equation Δu + k²u = q with one of the paper's models.

python examples/helmholtz.py --model M4 --units 50 --depth 5
"""

import common

import keraspinn as kp


def main():
    parser = common.options(__doc__)
    parser.add_argument("--a1", type=int, default=1, help="half-waves along x")
    parser.add_argument("--a2", type=int, default=4, help="half-waves along y")
    arguments = parser.parse_args()
    problem = kp.problems.helmholtz(arguments.a1, arguments.a2)
    print(problem)
    model, history = common.train(problem, arguments)
    common.report(model, history, arguments, "helmholtz")


if __name__ == "__main__":
    main()
