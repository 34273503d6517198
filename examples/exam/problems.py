"""Problems of the exam, which other modules declare; the cheapest come first."""

import dataclasses
from collections.abc import Callable

import keraspinn as kp
from examples.exam import trials
from examples.exam.steps import STEPS, UNSEEN
from examples.public_examples import DECLARED, EXAM, TRUE
from examples.public_examples.common import declared_by
from examples.second_stage.problems import CASES as SECOND_STAGE
from examples.verdicts.problems import CASES as VERDICTS

# Period of the problems held back, among those that `solve` can solve.
HELD_BACK_EVERY = 5

# Largest number of problems held back.
MOST_HELD_BACK = 12


@dataclasses.dataclass(frozen=True)
class Question:
    """Problem with a known solution.

    Attributes:
        name: Name in the records.
        problem: Function without arguments that returns the `Problem`.
        parameters: True values of unknown parameters.
        solvable: Whether its declaration and data determine the solution to 1e-3.
        held_back: Whether nothing is tuned on it.
    """

    name: str
    problem: Callable[[], kp.Problem]
    parameters: dict[str, float] = dataclasses.field(default_factory=dict)
    solvable: bool = True
    held_back: bool = False


# Names of problems that can be solved; `%` stands for a blank.
ORDINARY = """
Volterra_IDE ode_system ode_2nd ide logistic oscillator pendulum
Poisson_Dirichlet_1d Poisson_Neumann_1d Poisson_Robin_1d Poisson_periodic_1d
Poisson_PointSetOperator_1d Poisson_Dirichlet_1d_exactBC bratu boundary_layer
Euler_beam beam_si flow_rate elliptic_inverse_field brinkman_forchheimer eigenvalue
steady_shock two_layers poisson fractional_Poisson_1d Poisson_multiscale_1d
diffusion_1d diffusion_1d_exactBC heat heat_rod cooling_rod diffusion_1d_inverse
poisson_square Laplace_disk own_network screened_disk plate_with_hole
Helmholtz_Dirichlet_2d helmholtz Helmholtz_Neumann_2d_hole diffusion_reaction
periodic_advection fast_advection Klein_Gordon klein_gordon wave wave_1d
Wave%1d-C parametric_layer fin_celsius fin_kelvin sphere_multiplied plate
Schrodinger schroedinger kovasznay Poisson%2d-C Poisson%2d-CG l_shape burgers
allen_cahn allen_cahn_sharp fractional_diffusion_1d two_materials cantilever kirsch
steel_cantilever elasticity_plate thin_plate Heat%2d-MS Heat%2d-CG Heat-nd Poisson-nd
parametric_reynolds NS%2d-C cavity Navier_Stokes_inverse Beltrami_flow
"""

# Names of problems with noise, contradictions, poles or sources that points miss. None
# may be reported as solved with an error above the tolerance.
UNSOLVABLE = """
ensemble_band noisy_sensors high_sensors contradiction bolus sphere standing_mode
diffusivity unknown_diffusivity unknown_field Poisson,%inverse Heat,%inverse
"""

# True values of unknown parameters, by names of problems.
PARAMETERS = {"unknown_diffusivity": {"kappa": 0.3}, "l_shape": {"b": 5e-3}}
PARAMETERS |= {name: dict(values) for name, values in (TRUE | trials.TRUE).items()}
PARAMETERS |= {name: case.parameters for name, case in VERDICTS.items()}


def _declaration(name):
    """Return the function that declares a problem."""
    for declarations in (DECLARED, EXAM, STEPS, trials.TRIALS):
        if name in declarations:
            return declarations[name]
    for cases in (VERDICTS, SECOND_STAGE):
        if name in cases:
            return cases[name].problem
    return declared_by(f"examples/gallery/{name}.py")


def _questions():
    names = [name.replace("%", " ") for name in ORDINARY.split()]
    held_back = names[HELD_BACK_EVERY - 1 :: HELD_BACK_EVERY][:MOST_HELD_BACK]
    names = [*names, *STEPS, *trials.TRIALS]
    held_back = [*held_back, *UNSEEN, *trials.UNTUNED]
    traps = [name.replace("%", " ") for name in UNSOLVABLE.split()]
    return {
        name: Question(
            name,
            _declaration(name),
            PARAMETERS.get(name, {}),
            name not in traps,
            name in held_back,
        )
        for name in [*names, *traps]
    }


QUESTIONS = _questions()
