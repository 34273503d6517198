import itertools
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from keraspinn.derivatives.taylor import IndexSet
from keraspinn.derivatives.taylor.indices import factorial, plus


@st.composite
def required_indices(draw, max_dimension=3, max_order=4):
    dimension = draw(st.integers(1, max_dimension))
    entries = st.tuples(*[st.integers(0, max_order)] * dimension)
    return draw(
        st.lists(entries.filter(lambda i: sum(i) <= max_order), min_size=1, max_size=4)
    )


def below(lower, upper):
    return all(a <= b for a, b in zip(lower, upper, strict=True))


@settings(max_examples=50, deadline=None)
@given(required_indices())
def test_index_set_is_the_smallest_downward_closed_one(required):
    candidates = itertools.product(range(5), repeat=len(required[0]))
    expected = {i for i in candidates if any(below(i, upper) for upper in required)}
    indices = IndexSet(required)
    assert set(indices.members) == expected
    assert len(indices) == len(indices.members) == len(expected)
    assert indices.order == max(map(sum, required))
    assert indices.dimension == len(required[0])


@settings(max_examples=50, deadline=None)
@given(required_indices())
def test_indices_are_ordered_by_total_order(required):
    indices = IndexSet(required)
    orders = [sum(index) for index in indices.members]
    assert orders == sorted(orders)
    assert indices.zero == (0,) * indices.dimension


def test_axes_come_in_the_order_of_the_coordinates():
    assert IndexSet([(2, 0), (0, 1)]).members == ((0, 0), (1, 0), (0, 1), (2, 0))


def test_repr_shows_the_indices():
    assert repr(IndexSet([(1, 1)])) == "IndexSet([(0, 0), (1, 0), (0, 1), (1, 1)])"


@given(st.lists(st.integers(0, 6), min_size=1, max_size=3))
def test_factorial_of_a_multi_index(index):
    assert factorial(tuple(index)) == math.prod(math.factorial(n) for n in index)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1))
def test_multi_indices_add_entry_by_entry(pairs):
    left, right = zip(*pairs, strict=True)
    assert plus(left, right) == tuple(a + b for a, b in pairs)
    assert plus(left, right) == plus(right, left)


WAVE = (((2, 0), 1.0), ((0, 2), -3.0))


def test_combined_indices_are_carried_together():
    indices = IndexSet([(2, 0), (0, 2)], [WAVE])
    assert indices.members == ((0, 0), (1, 0), (0, 1))
    assert indices.keys == (*indices.members, WAVE)
    assert (len(indices), indices.order) == (4, 2)
    assert indices.product((1, 0), (1, 0)) == ((WAVE, 1.0),)
    assert indices.product((0, 1), (0, 1)) == ((WAVE, -3.0),)
    assert indices.product((1, 0), (0, 1)) == ()
    assert indices.product((0, 0), WAVE) == ((WAVE, 1.0),)
    assert indices.product((1, 0), WAVE) == ()
    assert "-3.0" in repr(indices)
