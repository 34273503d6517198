"""Reference solutions that a solver computes on first use."""

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence

import keras
import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from keraspinn.common.cache import cached
from keraspinn.common.checks import point_array
from keraspinn.declaration.conditions import Reference, tabulate
from keraspinn.version import __version__


class ComputedReference(Reference):
    """Reference whose values are computed on first use.

    Declaring, saving and loading a problem compute nothing. `Problem.test_data`
    computes the values once and stores them in the user's cache. Subclass it with
    `compute`, with a `get_config` of all that determines the values, and with
    `from_config` if `__init__` has other arguments.

    Args:
        points: Array `(n, d)`, columns in the order of the domain's `coordinates`.
        expressions: List of the expressions in the fields that are compared.
        names: Optional dict from some of these expressions to names for logs.
        up_to_constant: The expressions that are determined up to a constant only.
        gaps: The expressions whose values are NaN at points where they are unknown.
            Their error leaves these points out.

    Attributes:
        revision: Integer of the class. Increase it when the same configuration gives
            other values than before, or the cached ones are used.

    Raises:
        ValueError: If shapes do not match, or a number is not finite.
        NotImplementedError: By `compute` and `get_config`, if a class lacks them.

    Example:

    >>> x = sp.Symbol("x")
    >>> u = sp.Function("u")(x)
    >>> @keras.saving.register_keras_serializable("my_package")
    ... class Cooling(keraspinn.ComputedReference):
    ...     def __init__(self, rate):
    ...         super().__init__(np.linspace(0, 1, 5)[:, None], [u])
    ...         self.rate = rate
    ...
    ...     def compute(self):
    ...         return {u: np.exp(-self.rate * self.points[:, 0])}
    ...
    ...     def get_config(self):
    ...         return {"rate": self.rate}
    >>> Cooling(rate=2.0).names
    ('u',)
    """

    revision = 1

    def __init__(
        self,
        points: ArrayLike,
        expressions: Sequence[sp.Expr],
        names: Mapping[sp.Expr, str] | None = None,
        up_to_constant: Sequence[sp.Expr] = (),
        gaps: Sequence[sp.Expr] = (),
    ) -> None:
        # Zeros replace the values while the table is checked.
        zeros = np.zeros(len(point_array("points", points)))
        values = dict.fromkeys(expressions, zeros)
        super().__init__(points, values, names, up_to_constant)
        del self.targets
        self.gaps = tuple(gaps)

    def compute(self) -> Mapping[sp.Expr, ArrayLike]:
        """Return a dict from the expressions to values, arrays `(n,)`."""
        raise NotImplementedError

    @functools.cached_property
    def targets(self) -> np.ndarray:
        """Values `(n, k)`, a column for each expression."""
        points = hashlib.sha256(self.points.tobytes()).hexdigest()
        table = points, self.names, [*map(str, self.gaps)]
        identity = [self.revision, __version__, self.get_config(), *table]
        digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()
        name = keras.saving.get_registered_name(type(self)).replace(">", "-")
        return cached(f"{name}-{digest[:32]}", self._compute_table)

    def _compute_table(self):
        values = self.compute()
        values = {expression: values[expression] for expression in self.expressions}
        return tabulate(values, len(self.points), self.gaps)[1]

    def get_config(self):
        """Return all that determines the values, as JSON's types."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config):
        return cls(**config)
