from collections.abc import Sequence
from typing import Any

import sympy as sp

from keraspinn.derivatives.taylor import IndexSet, SeriesLayer, Taylor, concatenated
from keraspinn.derivatives.taylor.algebraic import FUNCTIONS, is_algebraic, series_of
from keraspinn.expressions import from_json, to_json


class Features(SeriesLayer):
    """Known functions of the coordinates as further inputs of a network.

    A smooth network of them is as irregular as they are. Networks of this package
    begin with the functions that the problem's corners, jumps and kinks ask for.

    Args:
        expressions: List of SymPy expressions in the coordinates, or as `to_json`
            converts them: of sums, products, powers, `Piecewise`, `exp`, `log`, `sin`,
            `cos`, `tanh`, `atan` and `erf`.
        coordinates: List of the symbols, or of their names, one for each input.
        **kwargs: `name`, `dtype` of `keras.layers.Layer`.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        The points and the functions, `(..., d + f)`.

    Raises:
        ValueError: If an expression holds another function or symbol.

    Example:

    >>> x = sp.Symbol("x")
    >>> kink = sp.Piecewise((x - 1, x > 1), (0, True))
    >>> layer = keraspinn.layers.Features([kink], [x])
    >>> keras.ops.convert_to_numpy(layer(np.array([[0.5], [3.0]]))).tolist()
    [[0.5, 0.0], [3.0, 2.0]]
    """

    def __init__(
        self, expressions: Sequence[Any], coordinates: Sequence[Any], **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.coordinates = [str(symbol) for symbol in coordinates]
        self.expressions = [
            e if isinstance(e, sp.Basic) else from_json(e) for e in expressions
        ]
        for expression in self.expressions:
            names = {symbol.name for symbol in expression.free_symbols}
            if not (is_algebraic(expression) and names <= {*self.coordinates}):
                known = ", ".join([f.__name__ for f in FUNCTIONS] + self.coordinates)
                raise ValueError(
                    "Features are sums, products, powers and Piecewise of numbers and "
                    f"{known}. Received: {expression}"
                )

    def call(self, x):  # a tensor, or a series
        zero = (0,) * len(self.coordinates)
        series = x if isinstance(x, Taylor) else Taylor(IndexSet([zero]), {zero: x})
        known = series_of(self.expressions, self.coordinates, series)
        joined = concatenated([series, *known])
        return joined if isinstance(x, Taylor) else joined.value

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], input_shape[-1] + len(self.expressions))

    def get_config(self):
        expressions = [to_json(expression) for expression in self.expressions]
        return {**super().get_config(), "expressions": expressions}
