"""JAX: transformations, jit, and Keras's own datasets."""

import jax
import keras


def value_and_gradient(function, x):
    """Return value and gradient of a scalar function, zero if independent of `x`."""
    return jax.value_and_grad(function)(x)


def value_and_gradients_by_variables(function, variables):
    """Return the value of a function without arguments, and gradients by variables."""

    def of_values(values):
        pairs = list(zip(variables, values, strict=True))
        with keras.StatelessScope(state_mapping=pairs):
            return function()

    return jax.value_and_grad(of_values)([variable.value for variable in variables])


def jacobian(function, x):
    """Return the Jacobian of a function of a tensor."""
    return jax.jacrev(function)(x)


def compiled(function, jit_compile=True, shapes=None, dtype=None):
    """Compile `function` as an XLA program, once for each shape."""
    del jit_compile, shapes, dtype
    return jax.jit(function)


def eagerly():
    """Return a scope in which Python runs loops and branches of `keras.ops`."""
    return jax.disable_jit()


def program_types(function, *arguments):
    """Return the names of the types of all nonempty tensors of a traced function."""
    types = set()

    def visit(jaxpr):
        for equation in jaxpr.eqns:
            for variable in equation.outvars:
                if variable.aval.shape != (0,):
                    types.add(variable.aval.dtype.name)
            for inner in jax.core.jaxprs_in_params(equation.params):
                visit(inner)

    visit(jax.make_jaxpr(function)(*arguments).jaxpr)
    return types


class _Batches(keras.utils.PyDataset):
    def __init__(self, points, batch_size, batches):
        super().__init__()
        self._points, self._size = points, batch_size
        count = -(-len(keras.tree.flatten(points)[0]) // batch_size)
        self._count = count if batches is None else min(batches, count)

    def __len__(self):
        return self._count

    def __getitem__(self, number):
        rows = slice(number * self._size, (number + 1) * self._size)
        return keras.tree.map_structure(lambda array: array[rows], self._points)


def stream(points, batch_size, batches=None):
    """Return a `keras.utils.PyDataset` of batches of an array's rows in order.

    Batches of nested arrays are nested; `batches` limits their number.
    """
    return _Batches(points, batch_size, batches)
