import itertools
import math

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keraspinn.derivatives.taylor import IndexSet, Taylor

RTOL = 1e-12


def index_sets(max_dimension=3, max_order=4):
    def of_dimension(dimension):
        entries = st.tuples(*[st.integers(0, max_order)] * dimension)
        entries = entries.filter(lambda index: sum(index) <= max_order)
        return st.lists(entries, min_size=1, max_size=3).map(IndexSet)

    return st.integers(1, max_dimension).flatmap(of_dimension)


def random_series(indices, rng, shape=(2, 3)):
    """Draw coefficients of all valid shapes: dense, equal along an axis, missing."""
    coefficients = {indices.zero: rng.normal(size=shape)}
    for index in indices.members[1:]:
        kind = rng.integers(4)
        if kind < 3:
            axes = [shape, (1, shape[-1]), (shape[0], 1)][kind]
            coefficients[index] = rng.normal(size=axes)
    return Taylor(
        indices, {i: ops.convert_to_tensor(c) for i, c in coefficients.items()}
    )


def derivatives(series):
    return {
        index: np.array(series.derivative(index)) for index in series.indices.members
    }


def assert_equal(left, right):
    left, right = derivatives(left), derivatives(right)
    for index, value in left.items():
        scale = np.abs(value).max() + 1.0
        np.testing.assert_allclose(
            value, right[index], rtol=RTOL, atol=RTOL * scale, err_msg=str(index)
        )


CASES = given(index_sets(), st.integers(0, 2**32 - 1))
EXAMPLES = settings(max_examples=25, deadline=None)


def draw(indices, seed, count):
    rng = np.random.default_rng(seed)
    return [random_series(indices, rng) for _ in range(count)]


@EXAMPLES
@CASES
def test_ring_laws(indices, seed):
    f, g, h = draw(indices, seed, 3)
    assert_equal(f + g, g + f)
    assert_equal(f * g, g * f)
    assert_equal((f + g) + h, f + (g + h))
    assert_equal((f * g) * h, f * (g * h))
    assert_equal(f * (g + h), f * g + f * h)
    assert_equal(f - g, f + (-g))
    assert_equal(f - f, 0.0 * f)
    assert_equal(f * 1.0, f)
    assert_equal(f + 0.0, f)


@EXAMPLES
@CASES
def test_products_obey_leibniz(indices, seed):
    f, g = draw(indices, seed, 2)
    df, dg = derivatives(f), derivatives(g)
    for index, value in derivatives(f * g).items():
        expected = sum(
            math.prod(map(math.comb, index, lower))
            * df[lower]
            * dg[tuple(n - k for n, k in zip(index, lower, strict=True))]
            for lower in itertools.product(*(range(n + 1) for n in index))
        )
        np.testing.assert_allclose(value, expected, rtol=RTOL, atol=1e-10)


@EXAMPLES
@CASES
def test_constants_are_series_without_derivatives(indices, seed):
    (f,) = draw(indices, seed, 1)
    number, row = 1.7, np.array([0.3, -2.0, 5.0])
    for constant in (number, row, ops.convert_to_tensor(row), np.float64(number)):
        full = ops.convert_to_tensor(np.broadcast_to(np.array(constant), (2, 3)))
        series = Taylor(indices, {indices.zero: full})
        assert_equal(f + constant, f + series)
        assert_equal(constant + f, f + series)
        assert_equal(f - constant, f - series)
        assert_equal(constant - f, series - f)
        assert_equal(f * constant, f * series)
        assert_equal(constant * f, f * series)


@EXAMPLES
@CASES
def test_composition_with_a_polynomial_is_exact(indices, seed):
    (f,) = draw(indices, seed, 1)
    polynomial = np.polynomial.Polynomial([0.4, -1.0, 0.5, 2.0])

    def outer(x, order):
        coefficients = []
        for k in range(order + 1):
            terms = polynomial.deriv(k).coef / math.factorial(k) if k < 4 else None
            coefficients.append(
                None if k > 3 else sum(c * x**n for n, c in enumerate(terms))
            )
        return coefficients

    assert_equal(f.compose(outer), ((2.0 * f + 0.5) * f - 1.0) * f + 0.4)


def exponential(x, order):
    return [ops.exp(x) / math.factorial(k) for k in range(order + 1)]


@EXAMPLES
@CASES
def test_composition_turns_sums_into_products(indices, seed):
    f, g = (0.5 * series for series in draw(indices, seed, 2))
    assert_equal(
        (f + g).compose(exponential), f.compose(exponential) * g.compose(exponential)
    )


@EXAMPLES
@given(index_sets(), st.integers(0, 2**32 - 1), st.sampled_from([(), (2,), (2, 3)]))
def test_polynomials_of_the_coordinates(indices, seed, leading):
    """Compare derivatives of x^p y^q …, built by arithmetic, with the exact ones."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-2.0, 2.0, (*leading, 4, indices.dimension))
    powers = rng.integers(0, 4, indices.dimension)
    x = Taylor.of_points(ops.convert_to_tensor(points), indices)
    result = x * 0.0 + 1.0
    for column, power in enumerate(powers):
        pick = np.zeros((indices.dimension, 1))
        pick[column] = 1.0
        coordinate = x.map(lambda c, pick=pick: ops.matmul(c, pick))
        for _ in range(power):
            result = result * coordinate
    for index in indices.members:
        expected = np.ones(points.shape[:-1])
        for column, (power, n) in enumerate(zip(powers, index, strict=True)):
            factor = math.perm(power, n)
            expected *= factor * points[..., column] ** max(power - n, 0)
        derivative = np.array(result.derivative(index))
        assert derivative.shape == points.shape
        np.testing.assert_allclose(
            derivative, np.broadcast_to(expected[..., None], points.shape), atol=1e-11
        )


def highest(indices):
    return [
        index
        for index in indices.members
        if sum(index)
        and sum(
            all(a <= b for a, b in zip(index, i, strict=True)) for i in indices.members
        )
        == 1
    ]


@EXAMPLES
@CASES
def test_combined_coefficients_are_the_combinations_of_coefficients(indices, seed):
    """Compare a polynomial with and without combinations of highest derivatives."""
    rng = np.random.default_rng(seed)
    tops = highest(indices)
    combinations = [
        tuple((index, float(weight)) for index, weight in zip(tops, row, strict=True))
        for row in rng.normal(size=(2, len(tops)))
        if tops
    ]
    combined = IndexSet(indices.members, combinations)
    points = ops.convert_to_tensor(rng.uniform(-1.0, 1.0, (3, indices.dimension)))
    kernel = rng.normal(size=(indices.dimension, 4))

    def polynomial(indices):
        x = Taylor.of_points(points, indices).map(lambda c: ops.matmul(c, kernel))
        y = x * x * 0.5 - x
        return (y * x).compose(exponential) * y

    single, together = polynomial(indices), polynomial(combined)
    for index in combined.members:
        np.testing.assert_allclose(
            together.derivative(index), single.derivative(index), rtol=1e-10
        )
    for combination in combinations:
        expected = sum(
            weight * np.array(single.derivative(index)) for index, weight in combination
        )
        np.testing.assert_allclose(
            together.combination(combination), expected, rtol=1e-9, atol=1e-9
        )


def test_the_series_of_points_broadcasts():
    x = Taylor.of_points(ops.ones((5, 1000, 3)), IndexSet([(2, 0, 0), (0, 0, 1)]))
    assert {index: tuple(c.shape) for index, c in x.coefficients.items()} == {
        (0, 0, 0): (5, 1000, 3),
        (1, 0, 0): (1, 1, 3),
        (0, 0, 1): (1, 1, 3),
    }
    np.testing.assert_array_equal(x.derivative((0, 0, 1))[0, 0], [0.0, 0.0, 1.0])
    assert x.derivative((2, 0, 0)).shape == (5, 1000, 3)


def test_series_of_order_zero():
    x = Taylor.of_points(ops.ones((4, 2)), IndexSet([(0, 0)]))
    assert list((x * x + x).coefficients) == [(0, 0)]
    np.testing.assert_array_equal((x * x + x).value, np.full((4, 2), 2.0))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dtypes_of_series_are_kept(dtype):
    x = Taylor.of_points(ops.ones((2, 2), dtype), IndexSet([(2, 1)]))
    y = (2.0 * x * x - x * np.array([1.0, 3.0], dtype) + 0.1) * (1 - x)
    assert y.dtype == dtype
    for index in y.indices.members:
        assert keras.backend.standardize_dtype(y.derivative(index).dtype) == dtype
    other = "float64" if dtype == "float32" else "float32"
    assert y.cast(other).dtype == other
    assert y.cast(dtype) is y


def test_rejects_too_few_outer_coefficients():
    x = Taylor.of_points(ops.ones((4, 1)), IndexSet([(3,)]))
    with pytest.raises(ValueError, match="must return 4 Taylor coefficients"):
        x.compose(lambda value, order: [value])


def test_an_outer_function_may_vanish():
    x = Taylor.of_points(ops.ones((4, 1)), IndexSet([(2,)]))
    zero = x.compose(lambda value, order: [None] * (order + 1))
    assert not np.any(zero.value)
    assert not np.any(zero.derivative((2,)))


def test_rejects_derivatives_outside_the_index_set():
    x = Taylor.of_points(ops.ones((4, 2)), IndexSet([(2, 0)]))
    with pytest.raises(ValueError, match=r"\(0, 1\) is not in IndexSet"):
        x.derivative((0, 1))


def test_rejects_a_constant_with_more_axes():
    x = Taylor.of_points(ops.ones((4, 2)), IndexSet([(1, 0)]))
    for operation in (x.__add__, x.__radd__, x.__sub__, x.__rsub__, x.__mul__):
        with pytest.raises(ValueError, match=r"\(3, 1, 2\).*shape \(4, 2\)"):
            operation(np.ones((3, 1, 2)))
