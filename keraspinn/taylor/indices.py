"""Multi-indices of the derivatives a truncated Taylor series carries."""

import functools
import itertools
import math
import numbers


class IndexSet:
    """The smallest downward-closed set of multi-indices that holds `required`.

    A coefficient of a product or a composition depends on coefficients of lower
    multi-indices only, so a downward-closed set is what arithmetic on truncated
    Taylor series needs, and the smallest one is the least it can be done with.

    Args:
        required: Iterable of multi-indices, tuples of non-negative integers of one
            length, the number of coordinates.

    Raises:
        ValueError: If `required` is empty or holds anything else.

    Attributes:
        dimension: Number of coordinates.
        order: Largest total order in the set.
        by_order: Tuple over total orders 0, 1, … of tuples of multi-indices.

    Example:

    >>> IndexSet([(2, 0), (0, 1)]).by_order
    (((0, 0),), ((1, 0), (0, 1)), ((2, 0),))
    """

    def __init__(self, required):
        required = [tuple(index) for index in required]
        if not required or len({len(index) for index in required}) != 1:
            raise ValueError(
                "`required` must hold at least one multi-index, all of one length. "
                f"Received: {required}"
            )
        if any(
            not isinstance(count, numbers.Integral) or count < 0
            for index in required
            for count in index
        ):
            raise ValueError(
                "A multi-index counts derivatives by each coordinate with "
                f"non-negative integers, as (2, 0). Received: {required}"
            )
        self.dimension = len(required[0])
        closure = {
            lower
            for index in required
            for lower in itertools.product(*(range(count + 1) for count in index))
        }
        self.order = max(map(sum, closure))
        self.by_order = tuple(
            tuple(sorted((i for i in closure if sum(i) == order), reverse=True))
            for order in range(self.order + 1)
        )

    def position(self, index):
        """Total order of `index` and its place among the indices of that order.

        Raises:
            ValueError: If the set does not hold `index`.
        """
        index = tuple(index)
        order = sum(index)
        if order > self.order or index not in self.by_order[order]:
            raise ValueError(f"The multi-index {index} is not in {self}.")
        return order, self.by_order[order].index(index)

    @functools.cache  # noqa: B019 - index sets are few and live as long as a model
    def pairs(self, left, right):
        """How coefficients of two orders combine into those of their sum.

        Args:
            left: Total order of the first factor.
            right: Total order of the second factor.

        Returns:
            For every multi-index of order `left + right`, the tuple of pairs
            `(i, j)` of places whose multi-indices add up to it.
        """
        combined = {index: [] for index in self.by_order[left + right]}
        for (i, a), (j, b) in itertools.product(
            enumerate(self.by_order[left]), enumerate(self.by_order[right])
        ):
            total = tuple(map(sum, zip(a, b, strict=True)))
            if total in combined:
                combined[total].append((i, j))
        return tuple(map(tuple, combined.values()))

    def __eq__(self, other):
        return isinstance(other, IndexSet) and self.by_order == other.by_order

    def __hash__(self):
        return hash(self.by_order)

    def __repr__(self):
        return f"IndexSet({[index for order in self.by_order for index in order]})"


def factorial(index):
    """The product of the factorials of a multi-index's entries, a!."""
    return math.prod(map(math.factorial, index))
