"""TensorFlow: tapes, functions and tf.data."""

import contextlib

import keras
import tensorflow as tf


def value_and_gradient(function, x):
    """Return value and gradient of a scalar function, zero if independent of `x`."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = function(x)
    return value, tape.gradient(value, x, unconnected_gradients="zero")


def value_and_gradients_by_variables(function, variables):
    """Return the value of a function without arguments, and gradients by variables."""
    tensors = [variable.value for variable in variables]
    with tf.GradientTape() as tape:
        value = function()
    return value, tape.gradient(value, tensors, unconnected_gradients="zero")


def jacobian(function, x):
    """Return the Jacobian of a function of a tensor."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        value = function(x)
    return tape.jacobian(value, x, unconnected_gradients="zero")


def compiled(function, jit_compile=True, shapes=None, dtype=None):
    """Compile `function` as a graph or XLA program, optionally for fixed `shapes`."""
    signature = shapes and [tf.TensorSpec(shape, dtype) for shape in shapes]
    return tf.function(
        function, jit_compile=jit_compile, autograph=False, input_signature=signature
    )


def eagerly():
    """Return a scope in which Python runs loops and branches of `keras.ops`."""
    return contextlib.nullcontext()


def program_types(function, *arguments):
    """Return the names of the types of all nonempty tensors of a traced function."""
    traced = tf.function(function, autograph=False).get_concrete_function(*arguments)
    graphs = [traced.graph, *(f.graph for f in traced.graph._functions.values())]
    return {
        tensor.dtype.base_dtype.name
        for graph in graphs
        for operation in graph.get_operations()
        for tensor in operation.outputs
        if tensor.shape != (0,)
    }


def stream(points, batch_size, batches=None):
    """Return a `tf.data.Dataset` of batches of an array's rows in order.

    Batches of nested arrays are nested; `batches` limits their number.
    """
    points = keras.tree.map_structure(tf.convert_to_tensor, points)
    dataset = tf.data.Dataset.from_tensor_slices(points).batch(batch_size)
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.take(-1 if batches is None else batches).with_options(options)
