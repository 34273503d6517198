"""Multi-indices of the derivatives in a truncated Taylor series."""

import itertools
import math
from collections.abc import Iterable
from typing import TypeAlias

MultiIndex: TypeAlias = tuple[int, ...]
Combination: TypeAlias = tuple[tuple[MultiIndex, float], ...]
Key: TypeAlias = MultiIndex | Combination


class IndexSet:
    """Smallest downward-closed set of multi-indices that contains `required`.

    A coefficient of a product or a composition depends only on coefficients of lower
    multi-indices, so arithmetic on truncated Taylor series needs a downward-closed
    set.

    Args:
        required: Iterable of multi-indices, tuples of non-negative integers of one
            length, the number of coordinates.
        combinations: Tuples of pairs `(multi-index, weight)`: linear combinations of
            derivatives that replace these. The highest coefficients occur linearly in
            all rules, so their sum follows the same rules; hence each must be below
            no other in the set.

    Attributes:
        dimension: Number of coordinates.
        order: Largest total order in the set.
        members: Tuple of the multi-indices with separate coefficients, by total
            order, that of the value first.
        combinations: Tuple of the combinations.
        zero: Multi-index of the value itself.
        keys: Tuple of the keys of all coefficients in a series.
        carried: Set of the members, and of the multi-indices in combinations.

    Example:

    >>> IndexSet([(2, 0), (0, 1)]).members
    ((0, 0), (1, 0), (0, 1), (2, 0))
    """

    def __init__(
        self, required: Iterable[MultiIndex], combinations: Iterable[Combination] = ()
    ) -> None:
        required = [tuple(index) for index in required]
        self.dimension = len(required[0])
        closure = with_lower(required)
        self.order = max(map(sum, closure))
        self.combinations = tuple(combinations)
        combined = {index for pairs in self.combinations for index, _ in pairs}
        self.carried = closure | combined
        separate = closure - combined
        self.members = tuple(sorted(separate, key=lambda i: (sum(i), [-n for n in i])))
        self.zero: MultiIndex = self.members[0]
        self.keys: tuple[Key, ...] = (*self.members, *self.combinations)
        self._destinations: dict[MultiIndex, tuple[tuple[Key, float], ...]] = {
            index: ((index, 1.0),) for index in self.members
        }
        for pairs in self.combinations:
            for index, weight in pairs:
                share = weight * factorial(index) / self.scale(pairs)
                self._destinations[index] = (*self.destinations(index), (pairs, share))

    @staticmethod
    def scale(combination: Combination) -> float:
        """Return the factor from a combination's coefficient to its value."""
        index, weight = combination[0]
        return weight * factorial(index)

    def destinations(self, index: MultiIndex) -> tuple[tuple[Key, float], ...]:
        """Return the keys to which the coefficient of a multi-index contributes.

        Returns:
            Tuple of pairs of a key and the factor of the coefficient there.
        """
        return self._destinations.get(index, ())

    def product(self, left: Key, right: Key) -> tuple[tuple[Key, float], ...]:
        """Return the keys to which a product of coefficients contributes, likewise."""
        if left == self.zero:
            return ((right, 1.0),)
        if right == self.zero:
            return ((left, 1.0),)
        if left in self.combinations or right in self.combinations:
            return ()
        return self.destinations(plus(left, right))

    def __len__(self):
        return len(self.keys)

    def __repr__(self):
        return f"IndexSet({list(self.keys)})"


def factorial(index):
    """Return the product of the factorials of a multi-index's entries, a!."""
    return math.prod(map(math.factorial, index))


def with_lower(indices):
    """Return multi-indices and all below them, down to that of the value."""
    ranges = ([range(n + 1) for n in index] for index in indices)
    return {index for orders in ranges for index in itertools.product(*orders)}


def plus(left, right):
    """Return the multi-index of two successive sets of derivatives."""
    return tuple(map(sum, zip(left, right, strict=True)))
