"""Poisson equation u″ = −C² sin(Cx), trained with one of the paper's models.

python examples/poisson.py --model M1 --c 4
"""

import common

import keraspinn as kp


def main():
    parser = common.options(__doc__)
    parser.add_argument("--c", type=int, default=4, help="the solution is sin(Cx)")
    arguments = parser.parse_args()
    problem = kp.problems.poisson(arguments.c)
    print(problem)
    model, history = common.train(problem, arguments)
    common.report(model, history, arguments, f"poisson_{arguments.c}")


if __name__ == "__main__":
    main()
