"""Samplers: where a term's points come from, step after step.

A sampler decides which points a term is evaluated at. `Uniform` draws fresh ones in
every step and remembers nothing; `Held` keeps a user's; `Renewed` draws points and
keeps them for a while, which an optimizer that compares one step's gradient with the
next's needs; `ResidualBased` puts more of them where the residual is large, and has to
remember which they are. What a sampler remembers is its *state*, a dict of tensors that
goes in and comes out of every step: it is part of the training's state, saved and
resumed with it, and points that change neither build a program anew nor leave it.

To add one, copy `renewed.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from keraspinn.common.configs import described
from keraspinn.common.typing import State, Tensor
from keraspinn.sampling.batch import Batch
from keraspinn.sampling.place import Place


class Sampler:
    """Where the points of a term come from; the contract of every sampler.

    Subclasses are immutable, and configured by their constructor's arguments, which
    `get_config` returns.

    Args:
        **arguments: As the subclass says.

    Raises:
        NotImplementedError: By `step`, if a class lacks it.

    Example:

    >>> class Fixed(keraspinn.sampling.Sampler):
    ...     "The points of the first step for ever."
    ...     def init(self, place, uniform):
    ...         points, coordinates, *_ = place.draw(uniform)
    ...         return {"points": points, "coordinates": coordinates}
    ...     def step(self, place, state, iteration, uniform, error):
    ...         return place.drawn(**state), state
    """

    def count(self, place: Place) -> int:
        """Number of points of a step.

        Args:
            place: The `Place` of the term.
        """
        return place.count()

    def init(self, place: Place, uniform: Callable[..., Tensor]) -> State:
        """The state that training starts with, a dict from names to tensors.

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
        uniform: Callable[..., Tensor],
        error: Callable[[Batch], Tensor],
    ) -> tuple[Batch, State]:
        """The points of one step, and the state after it.

        Args:
            place: The `Place` of the term.
            state: What `init` or the step before returned.
            iteration: Number of steps taken before, an integer scalar.
            uniform: Function of a shape, and perhaps of a number that tells one call
                from another, that returns a tensor uniform in [0, 1) of this step's
                own.
            error: Function of a `Batch` that returns the squared residual at each of
                its points, `(N,)`.

        Returns:
            A `Batch`, and the new state.
        """
        raise NotImplementedError

    def fresh(
        self,
        place: Place,
        state: State,
        uniform: Callable[..., Tensor],
        error: Callable[[Batch], Tensor],
    ) -> Batch:
        """A `Batch` of points other than a step's, to judge the step on.

        Args:
            place: The `Place` of the term.
            state: The sampler's state.
            uniform: As for `step`, other numbers than the step's.
            error: As for `step`.
        """
        return place.draw(uniform)

    def renewed(self, iteration: Tensor) -> Tensor:
        """Whether a step's points are not those of the step before.

        Args:
            iteration: Number of steps taken before, an integer scalar.

        Returns:
            `True`, `False`, or a boolean scalar.
        """
        return True

    def get_config(self):
        """The constructor's arguments."""
        return {}

    @classmethod
    def from_config(cls, config):
        """A sampler from what `get_config` returned."""
        return cls(**config)

    def key(self) -> tuple[Any, ...]:
        """Hashable: what a program that is compiled for this sampler depends on."""
        return type(self), repr(sorted(self.get_config().items()))

    def __eq__(self, other):
        return type(self) is type(other) and self.get_config() == other.get_config()

    def __hash__(self):
        return hash(self.key())

    def __repr__(self):
        return described(self)


Given: TypeAlias = ArrayLike | Sampler | Mapping[str, ArrayLike | Sampler]
"""Points of the residual, or of several terms by name."""
