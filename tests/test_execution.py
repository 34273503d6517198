import pytest

import keraspinn as kp
from keraspinn.execution import Progress, steps_per_execution_for
from keraspinn.points import PointSources


@pytest.mark.parametrize(
    ("batch_size", "steps_per_epoch", "expected"),
    [(128, 1000, 250), (128, 30, 30), (128, 97, 97), (100_000, 1000, 1)],
)
def test_execution_takes_a_fraction_of_a_second(batch_size, steps_per_epoch, expected):
    problem = kp.problems.helmholtz()
    sources = PointSources(problem, batch_size)
    assert expected == steps_per_execution_for(
        sources, problem, 10_000, steps_per_epoch
    )


def test_prefers_a_divisor_of_the_epoch():
    problem = kp.problems.helmholtz()
    sources = PointSources(problem, 128)
    assert steps_per_execution_for(sources, problem, 10_000, 330) == 165
    assert steps_per_execution_for(sources, problem, 10_000, 2 * 257) == 250


def test_the_last_execution_of_an_epoch_is_shorter():
    progress = Progress(steps_per_epoch=10, steps_per_execution=4)
    assert [progress.advance() for _ in range(6)] == [4, 4, 2, 4, 4, 2]
