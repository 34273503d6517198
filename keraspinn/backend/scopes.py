"""Keras variables as arguments of pure functions, and lists of tensors."""

import contextlib
import contextvars

from keras import StatelessScope, ops, tree

_around = contextvars.ContextVar("around", default=((), None))


@contextlib.contextmanager
def setting(read, write, value):
    """Open a scope in which a setting has another value.

    Args:
        read: Function that returns the present value.
        write: Function that sets a value.
        value: The value in the scope.
    """
    kept = read()
    write(value)
    try:
        yield
    finally:
        write(kept)


@contextlib.contextmanager
def substituted(variables, values):
    """Open a scope in which variables have other values, and are not written to.

    Inside another such scope the outer values still hold, unlike with nested
    `keras.StatelessScope`s, of which only the innermost counts.

    Args:
        variables: Keras variables.
        values: A tensor for each.

    Returns:
        The `keras.StatelessScope`.
    """
    before, outer = _around.get()
    pairs = {id(v): (v, outer.get_current_value(v)) for v in before}
    pairs |= {id(v): (v, value) for v, value in zip(variables, values, strict=True)}
    with StatelessScope(list(pairs.values())) as scope:
        around = [v for v, _ in pairs.values()], scope
        with setting(_around.get, _around.set, around):
            yield scope


def stateless(function, variables):
    """Make a pure function of variables' values from one that reads and writes them.

    Args:
        function: Any function.
        variables: All Keras variables that it reads or writes.

    Returns:
        Function of the variables' values, a list, and `function`'s arguments, that
        returns the result of `function` and the values after it.
    """

    def pure(values, *arguments):
        with substituted(variables, values) as scope:
            return function(*arguments), [scope.get_current_value(v) for v in variables]

    return pure


def assign(variables, values):
    """Assign a value to each of several Keras variables."""
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


def select(condition, new, old):
    """Return one of two structures of tensors: `new` where a condition is true.

    Args:
        condition: Boolean scalar, or tensor `(size,)` for the members along the first
            axis of every other tensor.
        new: Structure of tensors.
        old: The same; tensors that are in both are returned as they are.
    """
    shape = tuple(condition.shape)

    def one(a, b):
        axes = (1,) * (len(a.shape) - len(shape))
        return b if a is b else ops.where(ops.reshape(condition, shape + axes), a, b)

    return tree.map_structure(one, new, old)


def all_finite(tensors):
    """Return whether every entry of a list of floating-point tensors is finite."""
    # A sum of magnitudes is NaN or infinite if one of them is, and a gradient whose
    # 1-norm overflows is of no use either.
    return ops.isfinite(sum(ops.sum(ops.abs(tensor)) for tensor in tensors))


def joined(tensors):
    """Return the entries of tensors one after another, `(n,)`."""
    return ops.concatenate([ops.reshape(tensor, (-1,)) for tensor in tensors])


def distinct(variables):
    """Return the variables without repetition, in order."""
    return list({id(variable): variable for variable in variables}.values())
