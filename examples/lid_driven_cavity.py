"""Flow in a lid-driven cavity, trained with one of the paper's models.

python examples/lid_driven_cavity.py --model M4 --formulation streamfunction-pressure
"""

import common

import keraspinn as kp
from keraspinn.problems.lid_driven_cavity import FORMULATIONS


def main():
    parser = common.options(__doc__)
    parser.add_argument("--reynolds", type=float, default=100, help="Reynolds number")
    parser.add_argument("--formulation", choices=FORMULATIONS, default=FORMULATIONS[0])
    parser.add_argument(
        "--corner-width",
        type=float,
        help="over which the equations fade in around the lid's corners",
    )
    parser.add_argument(
        "--boundary-weight", type=float, default=1.0, help="λ to start with"
    )
    arguments = parser.parse_args()
    problem = kp.problems.lid_driven_cavity(
        arguments.reynolds,
        arguments.formulation,
        arguments.corner_width,
        arguments.boundary_weight,
    )
    print(problem)
    model, history = common.train(problem, arguments)
    common.report(model, history, arguments, f"cavity_{arguments.formulation}")


if __name__ == "__main__":
    main()
