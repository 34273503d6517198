import numpy as np
import pytest
import tensorflow as tf

from keraspinn import backend
from keraspinn.backend.tensorflow.loop import fused_loop


def drawn(*words):
    return backend.uniform((500, 2), words, "float32")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_same_numbers_eagerly_and_compiled(dtype, jit_compile):
    def draw(iteration):
        return backend.uniform((500, 2), (7, 0, 12345, iteration), dtype)

    iteration = tf.constant(3)
    compiled = tf.function(draw, jit_compile=jit_compile)(iteration)
    np.testing.assert_array_equal(compiled, draw(iteration))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_are_uniform(dtype):
    numbers = backend.uniform((100_000,), (0, 0, 1, 0), dtype).numpy()
    assert numbers.dtype == dtype
    assert 0 <= numbers.min() and numbers.max() < 1
    counts, _ = np.histogram(numbers, bins=20, range=(0, 1))
    assert ((counts - 5000) ** 2 / 5000).sum() < 45  # χ²₁₉ passes this once in 1000


def test_every_word_counts():
    first = drawn(1, 2, 3, 4).numpy()
    np.testing.assert_array_equal(first, drawn(1, 2, 3, 4))
    for words in [
        (2, 2, 3, 4),
        (1, 1, 3, 4),
        (1, 2, 4, 4),
        (1, 2, 3, -1),
        (3, 4, 1, 2),
    ]:
        assert not np.intersect1d(first, drawn(*words)).size > 5


def test_gradient_of_an_unused_variable_is_zero():
    used, unused = tf.constant([2.0]), tf.constant([3.0])
    value, others, gradients = backend.value_and_gradients(
        lambda values, _: (tf.reduce_sum(values[0] ** 2), [values[1][0]]),
        [used, unused],
    )
    assert float(value) == 4.0
    assert [float(other) for other in others] == [3.0]
    assert [float(g[0]) for g in gradients] == [4.0, 0.0]


@pytest.mark.parametrize("jit_compile", [None, False, True])
def test_parts_are_summed_with_their_gradients(jit_compile):
    used, unused = tf.constant([2.0]), tf.constant([3.0])

    def function(values, n):
        n = tf.cast(n, "float32")
        return n * tf.reduce_sum(values[0] ** 2), [n]

    def run():
        return backend.value_and_gradients(function, [used, unused], 4)

    if jit_compile is not None:
        run = tf.function(run, jit_compile=jit_compile)
    value, others, gradients = run()
    assert [float(other) for other in others] == [0 + 1 + 2 + 3]
    assert float(value) == (0 + 1 + 2 + 3) * 4.0
    assert [float(g[0]) for g in gradients] == [6 * 4.0, 0.0]


def test_fused_loop_runs_the_number_of_steps_asked_for():
    import keras

    counter = keras.Variable(0.0)

    def step():
        counter.assign_add(1.0)
        return {"loss": counter.value}

    loop = fused_loop(
        step, lambda means, n: means | {"n": n}, ["loss"], "float32", True
    )
    logs = loop(4)
    assert float(counter.numpy()) == 4 and float(logs["loss"]) == 2.5
    assert float(loop(2)["loss"]) == 5.5 and float(counter.numpy()) == 6
