"""Arithmetic on truncated multivariate Taylor series."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Self

from keras import backend, ops

from keraspinn.common.typing import Tensor
from keraspinn.derivatives.taylor.indices import Combination, IndexSet, Key, MultiIndex


class Taylor:
    """Truncated Taylor series of a function at every point of a batch.

    It has coefficients c_a = ∂^a f / a! for the multi-indices a of an `IndexSet`.

    Args:
        indices: The `IndexSet`.
        coefficients: Dict from the set's keys to tensors `(..., N, F)`, at least for
            the value. Missing coefficients vanish, and cost nothing. An axis of
            length 1 stands for equal values along it.

    It supports `+`, `-` and `*` with another series over the same index set, or with
    a constant that broadcasts against `(..., N, F)`.

    Raises:
        ValueError: By `+` and `*`, if a constant has more axes than the series.

    Example:

    >>> points = keras.ops.convert_to_tensor([[2.0], [3.0]])
    >>> x = Taylor.of_points(points, IndexSet([(2,)]))
    >>> keras.ops.convert_to_numpy((x * x * x).derivative((2,))).tolist()  # 6 x
    [[12.0], [18.0]]
    """

    __array_ufunc__ = None  # leaves `array * series` to the series

    def __init__(self, indices: IndexSet, coefficients: Mapping[Key, Tensor]) -> None:
        self.indices = indices
        self.coefficients = coefficients

    @classmethod
    def of_points(cls, points: Tensor, indices: IndexSet) -> Self:
        """Return the series of the coordinates, at `points` `(..., N, d)`.

        Args:
            points: Tensor, one column for each coordinate.
            indices: The `IndexSet`.
        """
        coefficients: dict[Key, Tensor] = {indices.zero: points}
        one_row = (1,) * (len(points.shape) - 1) + (-1,)
        for column in range(indices.dimension):
            unit = tuple(int(k == column) for k in range(indices.dimension))
            row = ops.reshape(ops.convert_to_tensor(unit, points.dtype), one_row)
            for key, share in indices.destinations(unit):
                add_to(coefficients, key, share * row)
        return cls(indices, coefficients)

    def __repr__(self):
        return f"<Taylor: {tuple(self.value.shape)} with {self.indices}>"

    @property
    def value(self) -> Tensor:
        """Value of the function, `(..., N, F)`."""
        return self.coefficients[self.indices.zero]

    @property
    def dtype(self) -> str:
        """Name of the type of the coefficients, such as `"float32"`."""
        return backend.standardize_dtype(self.value.dtype)

    def derivative(self, index: MultiIndex) -> Tensor:
        """Return the derivative ∂^a f with multi-index `index`, `(..., N, F)`.

        Raises:
            ValueError: If the series does not contain it.
        """
        index = tuple(index)
        if index not in self.indices.members:
            raise ValueError(f"The multi-index {index} is not in {self.indices}.")
        return self.scaled(index, self.indices.scale(((index, 1),)))

    def combination(self, combination: Combination) -> Tensor:
        """Return the value of one of the set's combinations, `(..., N, F)`."""
        return self.scaled(combination, self.indices.scale(combination))

    def scaled(self, key: Key, scale: float = 1) -> Tensor:
        """Return a multiple of a coefficient, `(..., N, F)`, zeros if it vanishes."""
        if key not in self.coefficients:
            return ops.zeros_like(self.value)
        coefficient = self.coefficients[key]
        derivative = coefficient if scale == 1 else scale * coefficient
        return ops.broadcast_to(derivative, ops.shape(self.value))

    def map(self, linear: Callable[[Tensor], Tensor]) -> "Taylor":
        """Apply a linear map, without a constant part, to every coefficient."""
        return self._with({i: linear(c) for i, c in self.coefficients.items()})

    def cast(self, dtype: str) -> "Taylor":
        """Convert the series to another floating-point type."""
        if self.dtype == backend.standardize_dtype(dtype):
            return self
        return self.map(lambda coefficient: ops.cast(coefficient, dtype))

    def __add__(self, other):
        if isinstance(other, Taylor):
            return self._with(_sum(self.coefficients, other.coefficients))
        self._check_constant(other)
        return self._with({**self.coefficients, self.indices.zero: self.value + other})

    __radd__ = __add__

    def __neg__(self):
        return self.map(ops.negative)

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if not isinstance(other, Taylor):
            self._check_constant(other)
            return self.map(lambda coefficient: coefficient * other)
        return self._with(_product(self.indices, self.coefficients, other.coefficients))

    __rmul__ = __mul__

    def compose(self, outer: Callable[[Tensor, int], Iterable[Tensor]]) -> "Taylor":
        """Return the series of f(self), from the Taylor coefficients of f.

        With h the series less its value, f(self) = Σ_k f_k h^k. h^k has no coefficient
        of total order below k, so the sum is finite.

        Args:
            outer: Function of `(value, order)` that returns the list of
                f_k = f⁽ᵏ⁾(value) / k! for k = 0 … order, tensors like `value` or
                `None` where f_k vanishes everywhere.

        Raises:
            ValueError: If it returns another number of coefficients.
        """
        order = self.indices.order
        outer_coefficients = list(outer(self.value, order))
        if len(outer_coefficients) != order + 1:
            raise ValueError(
                f"`outer` must return {order + 1} Taylor coefficients, those of orders "
                f"0 to {order}. Received: {len(outer_coefficients)}"
            )
        (constant, *rest), zero = outer_coefficients, self.indices.zero
        result = {zero: ops.zeros_like(self.value) if constant is None else constant}
        power = nilpotent = {i: c for i, c in self.coefficients.items() if i != zero}
        for k, coefficient in enumerate(rest, 1):
            if k > 1:
                power = _product(self.indices, nilpotent, power, is_square=k == 2)
            if coefficient is not None:
                result = _sum(result, {i: coefficient * c for i, c in power.items()})
        return self._with(result)

    def _with(self, coefficients):
        return Taylor(self.indices, coefficients)

    def _check_constant(self, other):
        # A further axis would become an axis of the series.
        if len(getattr(other, "shape", ())) > len(self.value.shape):
            raise ValueError(
                "A constant must not have more axes than its series. Received: shape "
                f"{tuple(other.shape)} and a series of shape {tuple(self.value.shape)}"
            )


def select(condition: Tensor, one: Taylor, other: Taylor) -> Taylor:
    """Return the series that is `one` where a condition holds, else `other`.

    Args:
        condition: Tensor that broadcasts against the value of the series.
        one: Series.
        other: Series over the same index set.
    """
    keys = {**one.coefficients, **other.coefficients}
    chosen = {k: ops.where(condition, one.scaled(k), other.scaled(k)) for k in keys}
    return Taylor(one.indices, chosen)


def _product(indices, left, right, is_square=False):
    """Return the coefficients of the product of two series, or of a square."""
    result, pairs = {}, itertools.product(left.items(), right.items())
    if is_square:  # each pair once
        pairs = itertools.combinations_with_replacement(left.items(), 2)
    for (i, a), (j, b) in pairs:
        for key, share in indices.product(i, j):
            share = 2.0 * share if is_square and i != j else share
            add_to(result, key, a * b if share == 1 else share * a * b)
    return result


def _sum(left, right):
    result = dict(left)
    for key, coefficient in right.items():
        add_to(result, key, coefficient)
    return result


def add_to(coefficients, key, term):
    """Add a term to a coefficient in place, which may not be there yet."""
    previous = coefficients.get(key)
    coefficients[key] = term if previous is None else previous + term
