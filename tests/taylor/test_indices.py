import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keraspinn.taylor import IndexSet
from keraspinn.taylor.indices import factorial


@st.composite
def required_indices(draw, max_dimension=3, max_order=4):
    dimension = draw(st.integers(1, max_dimension))
    entries = st.tuples(*[st.integers(0, max_order)] * dimension)
    return draw(
        st.lists(entries.filter(lambda i: sum(i) <= max_order), min_size=1, max_size=4)
    )


def members(indices):
    return {index for order in indices.by_order for index in order}


def below(lower, upper):
    return all(a <= b for a, b in zip(lower, upper, strict=True))


def add(a, b):
    return tuple(map(sum, zip(a, b, strict=True)))


@settings(max_examples=50, deadline=None)
@given(required_indices())
def test_the_set_is_the_smallest_downward_closed_one(required):
    every = itertools.product(range(5), repeat=len(required[0]))
    expected = {i for i in every if any(below(i, upper) for upper in required)}
    indices = IndexSet(required)
    assert members(indices) == expected
    assert sum(map(len, indices.by_order)) == len(expected)
    assert indices.order == max(map(sum, required))
    assert indices.dimension == len(required[0])


@settings(max_examples=50, deadline=None)
@given(required_indices())
def test_indices_are_ordered_by_total_order(required):
    indices = IndexSet(required)
    for order, own in enumerate(indices.by_order):
        assert all(sum(index) == order for index in own)
        for place, index in enumerate(own):
            assert indices.position(index) == (order, place)
            assert indices.position(list(index)) == (order, place)


@settings(max_examples=50, deadline=None)
@given(required_indices())
def test_pairs_are_all_the_ways_to_split_an_index(required):
    indices = IndexSet(required)
    for left in range(indices.order + 1):
        for right in range(indices.order + 1 - left):
            pairs = indices.pairs(left, right)
            assert len(pairs) == len(indices.by_order[left + right])
            for index, own in zip(indices.by_order[left + right], pairs, strict=True):
                split = {
                    (indices.by_order[left][i], indices.by_order[right][j])
                    for i, j in own
                }
                assert len(split) == len(own) > 0
                assert all(add(a, b) == index for a, b in split)
                # One split for each index of order `left` below this one.
                assert {a for a, _ in split} == {
                    a for a in indices.by_order[left] if below(a, index)
                }


def test_axes_come_in_the_order_of_the_coordinates():
    assert IndexSet([(2, 0), (0, 1)]).by_order == (
        ((0, 0),),
        ((1, 0), (0, 1)),
        ((2, 0),),
    )


def test_equal_sets_are_equal():
    assert IndexSet([(2, 0), (1, 0)]) == IndexSet([(2, 0)])
    assert hash(IndexSet([(2, 0), (1, 0)])) == hash(IndexSet([(2, 0)]))
    assert IndexSet([(2, 0)]) != IndexSet([(0, 2)])
    assert IndexSet([(2,)]) != ((0,), (1,), (2,))


def test_numpy_integers_and_iterators_will_do():
    assert IndexSet(iter([np.array([2, 0])])) == IndexSet([(2, 0)])


def test_repr_shows_the_indices():
    assert repr(IndexSet([(1, 1)])) == "IndexSet([(0, 0), (1, 0), (0, 1), (1, 1)])"


@pytest.mark.parametrize("required", [[], [(1, 0), (1,)], [(-1, 2)], [(0.5, 1)]])
def test_what_is_no_multi_index_is_refused(required):
    with pytest.raises(ValueError, match="multi-index"):
        IndexSet(required)


@pytest.mark.parametrize("index", [(0, 2), (5, 0), (1, 1)])
def test_an_index_that_is_not_in_the_set_is_named(index):
    with pytest.raises(ValueError, match=r"\(\d, \d\) is not in IndexSet"):
        IndexSet([(2, 0), (0, 1)]).position(index)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=3))
def test_factorial_of_a_multi_index(index):
    assert factorial(tuple(index)) == math.prod(math.factorial(n) for n in index)
