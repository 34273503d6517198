"""References: Poisson 3d-CG against closed forms, Poisson 2d-MS read differently."""

import numpy as np
import pytest

from examples.pinnacle.common import table
from examples.pinnacle.references import balls

blocks = pytest.importorskip("examples.pinnacle.references.blocks")

POINTS = np.random.default_rng(0).uniform(size=(200, 3))


def decay(z):
    return np.where(z < 0.5, 64, 100)


def test_cube_without_balls(monkeypatch):
    def exact(x, y, z):
        return np.cos(np.pi * x) * np.cos(2 * np.pi * y) * np.cos(np.pi * z)

    def source(x, y, z):
        return (6 * np.pi**2 + decay(z)) * exact(x, y, z)

    monkeypatch.setattr(balls, "BALLS", [(5, 5, 5, 0.1)])
    monkeypatch.setattr(balls, "source", source)
    (values,) = balls.poisson_3d_cg(1 / 4, POINTS)
    assert values == pytest.approx(exact(*POINTS.T), abs=1e-2)


def test_balls_insulate(monkeypatch):
    """A constant satisfies the equation and the Neumann condition on every ball."""
    monkeypatch.setattr(balls, "source", lambda x, y, z: decay(z))
    (values,) = balls.poisson_3d_cg(1 / 4, POINTS[~balls.inside(POINTS)])
    assert values == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("other", "difference"), [({"scaled": False}, 0.32), ({"jumps": False}, 1.47)]
)
def test_other_readings_of_the_blocks_differ(other, difference):
    points, values = table("poisson_2d_ms")
    (changed,) = blocks.poisson_2d_ms(1 / 2, points, **other)
    relative = np.linalg.norm(changed - values) / np.linalg.norm(values)
    assert relative == pytest.approx(difference, abs=0.01)
