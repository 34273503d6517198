import pytest

import keraspinn as kp
from keraspinn.residuals.loss_terms import LossTerm
from keraspinn.sampling.sources import PointSources
from keraspinn.training.execution import executions, steps_per_execution_for


def steps_for(batch_size, steps_per_epoch, optimizer=None, parameters=10_000):
    problem = kp.problems.helmholtz()
    sources = PointSources(problem, "float64", batch_size)
    terms = {name: LossTerm(term, problem) for name, term in problem.terms.items()}
    return steps_per_execution_for(
        sources, terms, parameters, steps_per_epoch, optimizer
    )


@pytest.mark.parametrize(
    ("batch_size", "steps_per_epoch", "expected"),
    [(128, 1000, 250), (128, 30, 30), (128, 97, 97), (100_000, 1000, 1)],
)
def test_automatic_execution_takes_a_fraction_of_a_second(
    batch_size, steps_per_epoch, expected
):
    assert steps_for(batch_size, steps_per_epoch) == expected


def test_steps_per_execution_divides_the_epoch():
    assert steps_for(128, 330) == 165
    assert steps_for(128, 2 * 257) == 250


def test_second_order_optimizers_execute_fewer_steps():
    broyden, gauss = kp.optimizers.SSBroyden(), kp.optimizers.GaussNewton()
    assert steps_for(128, 1000, kp.optimizers.LBFGS()) == 50
    assert steps_for(128, 1000, broyden) == 1  # H has 10⁸ entries
    assert steps_for(128, 1000, broyden, parameters=2000) == 10
    assert steps_for(128, 1000, gauss, parameters=2000) == 5
    free = kp.optimizers.GaussNewton(form="free")
    assert steps_for(128, 1000, free, parameters=2000) == 5


def test_last_execution_of_an_epoch_is_shorter():
    progress = executions(steps_per_epoch=10, steps_per_execution=4)
    assert [next(progress) for _ in range(6)] == [4, 4, 2, 4, 4, 2]
    assert next(executions(3, 5)) == 3
