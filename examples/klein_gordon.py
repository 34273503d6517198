"""Nonlinear Klein–Gordon equation, trained with one of the paper's models.

python examples/klein_gordon.py --model M4
"""

import common

import keraspinn as kp


def main():
    arguments = common.options(__doc__).parse_args()
    problem = kp.problems.klein_gordon()
    print(problem)
    model, history = common.train(problem, arguments)
    common.report(model, history, arguments, "klein_gordon")


if __name__ == "__main__":
    main()
