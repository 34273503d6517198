import pytest
from keras import ops

from keraspinn import backend
from tensors import compiled


def test_gradient_of_an_unused_variable_is_zero():
    used, unused = ops.convert_to_tensor([2.0]), ops.convert_to_tensor([3.0])
    value, others, gradients = backend.value_and_gradients(
        lambda values, _: (ops.sum(values[0] ** 2), [values[1][0]]),
        [used, unused],
    )
    assert float(value) == 4.0
    assert [float(other) for other in others] == [3.0]
    assert [float(g[0]) for g in gradients] == [4.0, 0.0]


@pytest.mark.parametrize("jit_compile", [None, False, True])
def test_parts_are_summed_with_their_gradients(jit_compile):
    used, unused = ops.convert_to_tensor([2.0]), ops.convert_to_tensor([3.0])

    def function(values, n):
        n = ops.cast(n, "float32")
        return n * ops.sum(values[0] ** 2), [n]

    def run():
        return backend.value_and_gradients(function, [used, unused], 4)

    if jit_compile is not None:
        run = compiled(run, jit_compile)
    value, others, gradients = run()
    assert [float(other) for other in others] == [0 + 1 + 2 + 3]
    assert float(value) == (0 + 1 + 2 + 3) * 4.0
    assert [float(g[0]) for g in gradients] == [6 * 4.0, 0.0]
