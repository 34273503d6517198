"""Multi-indices of the derivatives a truncated Taylor series carries."""

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
        members: Tuple of its multi-indices, by total order, that of the value first.

    Example:

    >>> IndexSet([(2, 0), (0, 1)]).members
    ((0, 0), (1, 0), (0, 1), (2, 0))
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
        self.members = tuple(
            sorted(closure, key=lambda index: (sum(index), [-n for n in index]))
        )
        self.order = sum(self.members[-1])
        self._closure = frozenset(closure)

    @property
    def zero(self):
        """The multi-index of the value itself."""
        return self.members[0]

    def __contains__(self, index):
        return index in self._closure

    def __len__(self):
        return len(self.members)

    def __eq__(self, other):
        return isinstance(other, IndexSet) and self.members == other.members

    def __hash__(self):
        return hash(self.members)

    def __repr__(self):
        return f"IndexSet({list(self.members)})"


def factorial(index):
    """The product of the factorials of a multi-index's entries, a!."""
    return math.prod(map(math.factorial, index))


def plus(left, right):
    """The multi-index of two sets of derivatives taken one after the other."""
    return tuple(map(sum, zip(left, right, strict=True)))
