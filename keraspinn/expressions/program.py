"""Evaluation of expressions on tensors."""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import sympy as sp
from keras import backend, config, ops

from keraspinn.expressions.combinations import combined_derivatives
from keraspinn.expressions.derivatives import field_and_index, required_derivatives
from keraspinn.expressions.image import At
from keraspinn.expressions.lowering import Lowering
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.expressions.tape import Tape


class Program:
    """Expressions compiled to a flat list of `keras.ops` calls.

    Common subexpressions, in one expression or in several, are evaluated once. Numbers
    are folded to one float64 each at compilation. No code is generated, and no text is
    evaluated.

    All arithmetic is real, in the floating-point type of the coordinates, to which the
    other inputs are cast. The result is NaN where SymPy's is complex, and where no
    condition of a `sympy.Piecewise` holds. Branches of a `Piecewise` that are not
    chosen at a point pass no gradient there, even if they are singular.

    Args:
        expressions: Sequence of normalized SymPy expressions.
        coordinates: Tuple of the domain's SymPy symbols, in the domain's order.

    Attributes:
        derivatives: The result of `required_derivatives`.
        combinations: The result of `combined_derivatives`. Derivatives with equal
            combinations may replace them.
        images: Dict from images of the points, tuples of pairs of a coordinate and its
            replacement, to the `required_derivatives` there.

    Call arguments:
        coordinates: Dict from coordinate names to tensors of shape `(..., N)`.
        derivatives: Dict from `(field name, multi-index)` to tensors of shape
            `(..., N)`, and from pairs of an image and such a pair.
        parameters: Dict from parameter names to scalar tensors or variables.

    Returns:
        A list with one tensor of shape `(..., N)` for each expression.

    Raises:
        ValueError: If an expression contains a node that cannot be evaluated, or a
            constant that is not a real float64.
        KeyError: When called, if an input is missing.

    Example:

    >>> x = sp.Symbol("x")
    >>> u = sp.Function("u")(x)
    >>> program = Program([u.diff(x) - 2 * x], (x,))
    >>> points = ops.convert_to_tensor([0.0, 1.0])
    >>> [residual] = program({"x": points}, {("u", (1,)): 3 * points})
    >>> ops.convert_to_numpy(residual).tolist()
    [0.0, 1.0]
    """

    def __init__(
        self, expressions: Iterable[sp.Expr], coordinates: Iterable[sp.Symbol]
    ) -> None:
        expressions = tuple(expressions)
        coordinates = tuple(coordinates)
        self.derivatives = required_derivatives(expressions, coordinates)
        self.combinations = combined_derivatives(expressions, coordinates)
        self.images: dict[Any, dict[str, frozenset]] = {}
        for node in distinct_nodes(expressions, At):
            name, index = field_and_index(node.node, coordinates)
            needed = self.images.setdefault(node.images, {})
            needed[name] = needed.get(name, frozenset()) | {index}
        self._tape = Tape()
        lowering = Lowering(self._tape, coordinates)
        self._outputs = [lowering.lower(expression) for expression in expressions]

    def __repr__(self):
        return f"<Program: {len(self._outputs)} expressions, {len(self)} operations>"

    def __len__(self):
        """Return the number of distinct operations, inputs and constants."""
        return len(self._tape)

    def __call__(
        self,
        coordinates: Mapping[str, Any],
        derivatives: Mapping[Any, Any],
        parameters: Mapping[str, Any] | None = None,
    ) -> list[Any]:
        tensors, shaped = _inputs(coordinates, derivatives, parameters)
        tensors = {key: ops.convert_to_tensor(t) for key, t in tensors.items()}
        dtype = backend.standardize_dtype(tensors[shaped[0]].dtype)
        dtype = dtype if "float" in dtype else config.floatx()
        tensors = {key: ops.cast(t, dtype) for key, t in tensors.items()}
        results = self._tape.run(tensors, self._outputs, dtype)
        shape = ops.shape(sum(ops.zeros_like(tensors[key]) for key in shaped))
        return [ops.broadcast_to(result, shape) for result in results]

    def on_host(self, *inputs: Mapping[Any, Any]) -> list[np.ndarray]:
        """Evaluate with NumPy in float64, without compiling.

        A backend may compile each operation for each new shape. The backend evaluates
        functions that NumPy lacks, in float64 if it has it.

        Args:
            *inputs: Coordinates, derivatives and parameters as in a call, with arrays
                and numbers for tensors.
        """
        arrays, shaped = _inputs(*inputs)
        arrays = {key: np.asarray(a, "float64") for key, a in arrays.items()}
        results = self._tape.run(arrays, self._outputs)
        shape = np.broadcast_shapes(*(arrays[key].shape for key in shaped))
        return [np.broadcast_to(result, shape) for result in results]


@functools.lru_cache(maxsize=64)
def moved(images, coordinates):
    """Return a function from the columns of points to those of their images.

    Args:
        images: Tuple of pairs of a coordinate and its replacement.
        coordinates: Tuple of the domain's SymPy symbols.
    """
    program = Program([dict(images).get(s, s) for s in coordinates], coordinates)
    return lambda columns: program(columns, {})


def columns(coordinates, points):
    """Return a dict from names of coordinates to arrays, as a `Program` takes it.

    Args:
        coordinates: Symbols.
        points: Array or tensor `(..., d)`.
    """
    return {symbol.name: points[..., k] for k, symbol in enumerate(coordinates)}


def _inputs(coordinates, derivatives, parameters=None):
    """Return all inputs in one dict, and the keys with the points' shape."""
    inputs = {("coordinate", name): t for name, t in coordinates.items()}
    inputs |= derivatives
    shaped = list(inputs)
    inputs |= {("parameter", name): t for name, t in (parameters or {}).items()}
    return inputs, shaped
