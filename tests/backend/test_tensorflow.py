import numpy as np
import pytest
import tensorflow as tf

from keraspinn import backend


def drawn(seed, stream, dtype="float32"):
    return backend.uniform((500, 2), seed, tf.constant(stream, tf.int64), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_same_numbers_eagerly_and_compiled(dtype, jit_compile):
    def draw(stream):
        return backend.uniform((500, 2), 7, stream, dtype)

    stream = tf.constant(3 * 2**32 + 12345, tf.int64)
    compiled = tf.function(draw, jit_compile=jit_compile)(stream)
    np.testing.assert_array_equal(compiled, draw(stream))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_are_uniform(dtype):
    numbers = backend.uniform((100_000,), 0, 1, dtype).numpy()
    assert numbers.dtype == dtype
    assert 0 <= numbers.min() and numbers.max() < 1
    counts, _ = np.histogram(numbers, bins=20, range=(0, 1))
    assert ((counts - 5000) ** 2 / 5000).sum() < 45  # χ²₁₉ passes this once in 1000


def test_seeds_and_streams_are_independent():
    first = drawn(1, 2).numpy()
    np.testing.assert_array_equal(first, drawn(1, 2))
    for seed, stream in [(2, 2), (1, 3), (2, 1), (1, 2 + 2**32), (1, -2)]:
        assert not np.intersect1d(first, drawn(seed, stream)).size > 5


def test_gradient_of_an_unused_variable_is_zero():
    import keras

    used, unused = keras.Variable([2.0]), keras.Variable([3.0])
    value, gradients = backend.value_and_gradients(
        lambda _: tf.reduce_sum(used.value**2), [used, unused]
    )
    assert float(value) == 4.0
    assert [float(g[0]) for g in gradients] == [4.0, 0.0]


@pytest.mark.parametrize("jit_compile", [None, False, True])
def test_parts_are_summed_with_their_gradients(jit_compile):
    import keras

    used, unused = keras.Variable([2.0]), keras.Variable([3.0])

    def run():
        return backend.value_and_gradients(
            lambda n: tf.cast(n, "float32") * tf.reduce_sum(used.value**2),
            [used, unused],
            4,
        )

    if jit_compile is not None:
        run = tf.function(run, jit_compile=jit_compile)
    value, gradients = run()
    assert float(value) == (0 + 1 + 2 + 3) * 4.0
    assert [float(g[0]) for g in gradients] == [6 * 4.0, 0.0]


def test_fused_loop_runs_the_number_of_steps_asked_for():
    import keras

    counter = keras.Variable(0.0)

    def step():
        counter.assign_add(1.0)
        return {"loss": counter.value}

    loop = backend.fused_loop(
        step, lambda means, n: means | {"n": n}, ["loss"], "float32", True
    )
    logs = loop(4)
    assert float(counter.numpy()) == 4 and float(logs["loss"]) == 2.5
    assert float(loop(2)["loss"]) == 5.5 and float(counter.numpy()) == 6
