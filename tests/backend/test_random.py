import numpy as np
import pytest
from keras import ops

from keraspinn import backend
from tensors import compiled


def drawn(*words):
    return ops.convert_to_numpy(backend.uniform((500, 2), words, "float32"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_same_numbers_eagerly_and_compiled(dtype, jit_compile):
    def draw(iteration):
        return backend.uniform((500, 2), (7, 0, 12345, iteration), dtype)

    iteration = ops.convert_to_tensor(3)
    program = compiled(draw, jit_compile)
    np.testing.assert_array_equal(program(iteration), draw(iteration))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_are_uniform(dtype):
    numbers = ops.convert_to_numpy(backend.uniform((100_000,), (0, 0, 1, 0), dtype))
    assert numbers.dtype == dtype
    assert 0 <= numbers.min() and numbers.max() < 1
    counts, _ = np.histogram(numbers, bins=20, range=(0, 1))
    assert ((counts - 5000) ** 2 / 5000).sum() < 45  # χ²₁₉ passes this once in 1000


def test_each_word_of_a_seed_changes_the_numbers():
    first = drawn(1, 2, 3, 4)
    np.testing.assert_array_equal(first, drawn(1, 2, 3, 4))
    for words in [
        (2, 2, 3, 4),
        (1, 1, 3, 4),
        (1, 2, 4, 4),
        (1, 2, 3, -1),
        (3, 4, 1, 2),
    ]:
        assert not np.intersect1d(first, drawn(*words)).size > 5


def test_other_seeds_do_not_recompile(caplog):
    import jax

    drawn(1, 2, 3, 4)
    with jax.log_compiles():
        drawn(1, 2, 3, 5)
    assert "Compiling" not in caplog.text
