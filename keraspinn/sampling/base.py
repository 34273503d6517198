"""Samplers, which choose the points of a term in every step.

`Uniform` draws fresh points in every step and has no state. `Held` keeps a user's
points. `Renewed` draws points and keeps them for a number of steps, as an optimizer
needs that compares successive gradients. `ResidualBased` puts more points where the
residual is large. The points that a sampler keeps are its *state*, a dict of tensors
that each step receives and returns. It is part of the training's state, saved and
resumed with it. New points need no new program.

A sampler receives a `Place`, the part of the domain that a term belongs to, which draws
points and counts them. To add one, copy `renewed.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from keraspinn.common import Configured, Random, State, Tensor
from keraspinn.sampling.batch import Batch
from keraspinn.sampling.place import Place


class Sampler(Configured):
    """A source of the points of a term; the contract of every sampler.

    Subclasses are immutable, and configured by their constructor's arguments, which
    `get_config` returns.

    Args:
        **arguments: As documented for the subclass.

    Raises:
        NotImplementedError: By `step`, if a class lacks it.

    Example:

    >>> class Fixed(keraspinn.sampling.Sampler):
    ...     "Keeps the points of the first step."
    ...     def init(self, place, uniform):
    ...         points, coordinates, *_ = place.draw(uniform)
    ...         return {"points": points, "coordinates": coordinates}
    ...     def step(self, place, state, iteration, uniform, error):
    ...         return place.drawn(**state), state
    """

    def count(self, place: Place) -> int:
        """Return the number of points of a step.

        Args:
            place: The `Place` of the term.
        """
        return place.count()

    def init(self, place: Place, uniform: Random) -> State:
        """Return the first state, a dict from names to tensors.

        Args:
            place: The `Place` of the term.
            uniform: Function from a shape to a tensor of it, uniform in [0, 1).
        """
        return {}

    def step(
        self,
        place: Place,
        state: State,
        iteration: Tensor,
        uniform: Random,
        error: Error,
    ) -> tuple[Batch, State]:
        """Return the points of one step, and the state after it.

        Args:
            place: The `Place` of the term.
            state: The state that `init` or the step before returned.
            iteration: Number of steps taken before, an integer scalar.
            uniform: Function of a shape, and perhaps of a number that tells one call
                from another, that returns a tensor uniform in [0, 1). Its numbers
                differ from step to step.
            error: Function of a `Batch` that returns the squared residual at each of
                its points, `(N,)`.

        Returns:
            A `Batch`, and the new state.
        """
        raise NotImplementedError

    def fresh(self, place: Place, state: State, uniform: Random, error: Error) -> Batch:
        """Return a `Batch` of other points than a step's, to validate the step.

        Args:
            place: The `Place` of the term.
            state: The sampler's state.
            uniform: As for `step`, with other numbers.
            error: As for `step`.
        """
        return place.draw(uniform)

    def renewed(self, iteration: Tensor) -> Tensor:
        """Return whether the points of a step differ from those of the step before.

        Args:
            iteration: Number of steps taken before, an integer scalar.

        Returns:
            `True`, `False`, or a boolean scalar.
        """
        return True

    def key(self) -> tuple[Any, ...]:
        """Return a hashable key that compiled programs depend on."""
        return type(self), repr(sorted(self.get_config().items()))


# Squared residual at each of a batch's points, `(N,)`.
Error: TypeAlias = Callable[[Batch], Tensor]

# Number of points inside and on each face, or a dict from term names to numbers.
BatchSize: TypeAlias = int | Mapping[str, int] | None

# Input of predictions: points `(n, d)`, or a stream of batches.
Input: TypeAlias = ArrayLike | Iterable[Any]

# Points of the residual, or of several terms by name.
Given: TypeAlias = ArrayLike | Sampler | Mapping[str, ArrayLike | Sampler]
