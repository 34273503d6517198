"""Arithmetic on truncated multivariate Taylor series."""

import keras
from keras import ops

from keraspinn.taylor.indices import factorial


class Taylor:
    """A function's truncated Taylor series at every point of a batch.

    Carries the coefficients c_a = ∂^a f / a! for the multi-indices a of an
    `IndexSet`. Coefficients of one total order are stacked in one tensor, so that a
    layer touches few large tensors instead of many small ones.

    Args:
        indices: The `IndexSet`.
        orders: Sequence over total orders 0, 1, … of tensors of shape
            `(K, ..., N, F)`, K being the number of multi-indices of that order, or
            `None` where every coefficient of the order is known to vanish. An axis
            of length 1 stands for values equal along it.

    Supports `+`, `-` and `*` with another series over the same index set, or with
    anything that broadcasts against `(..., N, F)`, which is taken as constant.

    Example:

    >>> points = keras.ops.convert_to_tensor([[2.0], [3.0]])
    >>> x = Taylor.of_points(points, IndexSet([(2,)]))
    >>> (x * x * x).derivative((2,))  # 6 x
    <tf.Tensor: shape=(2, 1), dtype=float32, numpy=
    array([[12.],
           [18.]], dtype=float32)>
    """

    __array_ufunc__ = None  # so that `array * series` is left to the series

    def __init__(self, indices, orders):
        self.indices = indices
        self.orders = tuple(orders)

    @classmethod
    def of_points(cls, points, indices):
        """The series of the coordinates themselves, at `points` `(..., N, d)`.

        Args:
            points: Tensor, one column for each coordinate.
            indices: The `IndexSet`.
        """
        orders = [points[None]] + [None] * indices.order
        if indices.order > 0:
            one_hot = [
                [float(entry) for entry in index] for index in indices.by_order[1]
            ]
            shape = (len(one_hot),) + (1,) * (len(points.shape) - 1) + (-1,)
            orders[1] = ops.reshape(ops.convert_to_tensor(one_hot, points.dtype), shape)
        return cls(indices, orders)

    @property
    def value(self):
        """The function's value, `(..., N, F)`."""
        return self.orders[0][0]

    @property
    def dtype(self):
        """Name of the type of the coefficients, such as `"float32"`."""
        return keras.backend.standardize_dtype(self.value.dtype)

    def derivative(self, index):
        """The derivative ∂^a f with multi-index `index`, `(..., N, F)`.

        Raises:
            ValueError: If the series does not carry it.
        """
        order, place = self.indices.position(index)
        coefficients = self.orders[order]
        if coefficients is None:
            return ops.zeros_like(self.value)
        scale = factorial(index)
        coefficient = coefficients[place]
        derivative = coefficient if scale == 1 else scale * coefficient
        return ops.broadcast_to(derivative, ops.shape(self.value))

    def map(self, linear):
        """Apply a linear map, one without a constant part, to every coefficient."""
        return Taylor(
            self.indices, [None if c is None else linear(c) for c in self.orders]
        )

    def cast(self, dtype):
        """The same series in another floating-point type."""
        if self.dtype == keras.backend.standardize_dtype(dtype):
            return self
        return self.map(lambda coefficients: ops.cast(coefficients, dtype))

    def __add__(self, other):
        if isinstance(other, Taylor):
            pairs = zip(self.orders, other.orders, strict=True)
            return Taylor(self.indices, [_sum(a, b) for a, b in pairs])
        self._check_constant(other)
        return Taylor(self.indices, (self.orders[0] + other, *self.orders[1:]))

    __radd__ = __add__

    def __neg__(self):
        return self.map(ops.negative)

    def __sub__(self, other):
        if not isinstance(other, Taylor):
            return self + (-other)
        pairs = zip(self.orders, other.orders, strict=True)
        return Taylor(self.indices, [_difference(a, b) for a, b in pairs])

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if not isinstance(other, Taylor):
            self._check_constant(other)
            return self.map(lambda coefficients: coefficients * other)
        return Taylor(
            self.indices,
            [product(self, other, order) for order in range(self.indices.order + 1)],
        )

    __rmul__ = __mul__

    def _check_constant(self, other):
        # A further axis would meet the one that counts multi-indices.
        if len(getattr(other, "shape", ())) > len(self.value.shape):
            raise ValueError(
                "A constant must not have more axes than the series it meets. "
                f"Received: shape {tuple(other.shape)} and a series of shape "
                f"{tuple(self.value.shape)}"
            )

    def compose(self, outer):
        """The series of f(self), from f's own Taylor coefficients.

        With h the series less its value, f(self) = Σ_k f_k h^k, and h^k has no
        coefficient of total order below k, so the sum ends.

        Args:
            outer: Function of `(value, order)` that returns the list of
                f_k = f⁽ᵏ⁾(value) / k! for k = 0 … order, tensors like `value` or
                `None` where f_k vanishes everywhere.
        """
        order = self.indices.order
        outer_coefficients = list(outer(self.orders[0], order))
        if len(outer_coefficients) != order + 1:
            raise ValueError(
                f"`outer` must return {order + 1} Taylor coefficients, those of orders "
                f"0 to {order}. Received: {len(outer_coefficients)}"
            )
        if outer_coefficients[0] is None:
            outer_coefficients[0] = ops.zeros_like(self.orders[0])
        nilpotent = Taylor(self.indices, (None, *self.orders[1:]))
        orders = [outer_coefficients[0]] + [None] * order
        power = nilpotent
        for k in range(1, order + 1):
            if k > 1:
                power = Taylor(
                    self.indices,
                    [
                        product(nilpotent, power, n) if n >= k else None
                        for n in range(order + 1)
                    ],
                )
            if outer_coefficients[k] is not None:
                for n in range(k, order + 1):
                    if power.orders[n] is not None:
                        term = outer_coefficients[k] * power.orders[n]
                        orders[n] = _sum(orders[n], term)
        return Taylor(self.indices, orders)


def product(left, right, order):
    """Coefficients of total order `order` of the product of two series."""
    total = None
    for p in range(order + 1):
        a, b = left.orders[p], right.orders[order - p]
        if a is None or b is None:
            continue
        if p == 0 or p == order:
            total = _sum(total, a * b)
        else:
            total = _sum(total, _convolve(a, b, left.indices.pairs(p, order - p)))
    return total


def _convolve(left, right, pairs):
    """Σ left[i] · right[j] over each output's pairs, stacked."""
    straight = all(
        len(own) == 1 and own[0] == (place, place) for place, own in enumerate(pairs)
    )
    if straight and len(pairs) == left.shape[0] == right.shape[0]:
        return left * right  # pure derivatives only: nothing to rearrange
    outputs = []
    for own in pairs:
        total = None
        for i, j in own:
            total = _sum(total, left[i] * right[j])
        outputs.append(total)
    return ops.stack(outputs)


def _sum(left, right):
    if left is None or right is None:
        return right if left is None else left
    return left + right


def _difference(left, right):
    if left is None or right is None:
        return left if right is None else -right
    return left - right
