"""The points of every loss term, step after step."""

import functools
import hashlib
import zlib

from keras import ops

from keraspinn import backend
from keraspinn.common.checks import check_count, check_known, point_array
from keraspinn.declaration.validation.dtype_range import LARGEST_OFFSET
from keraspinn.sampling.base import Sampler
from keraspinn.sampling.held import Held
from keraspinn.sampling.place import Place
from keraspinn.sampling.uniform import Uniform
from keraspinn.weighting.base import TrainingSetup

BATCH_SIZE = 128  # points of a step, inside and on each face
INTEGRAL_SIZE = 512  # points of an integral in a step
ENERGY_SIZE = 4096  # points inside of an energy in a step
WEIGHTING = " weighting"  # no term's name: the weighting rule's random numbers


class PointSources:
    """The points of every term, by a sampler for each.

    Args:
        problem: The `Problem`.
        dtype: Floating-point type of the points.
        batch_size: Number of points of a step, inside and on each face; or a dict
            from term names to numbers, others keeping the default, 128, of integrals
            512.
        given: Optional dict from term names to samplers, or to arrays of points
            `(n, d)` that are held: all of them in each step, or `batch_size` at random
            if that is given.
        default: The sampler of terms that are not given.
        shared: Whether replicas share a batch.

    Attributes:
        samplers: Dict from term names to samplers.
        places: Dict from term names to `Place`s.
        digests: Dict from names of terms to digests of points that are given.
        drawn: Names of the terms whose points are drawn.
        key: Hashable: a compiled program serves until this changes.

    Raises:
        ValueError: If a term is unknown, a number is not a positive integer, or
            points are of the wrong shape, not finite, or not on the term's part.
    """

    def __init__(
        self, problem, dtype, batch_size=None, given=None, default=None, shared=True
    ):
        counts = _checked_counts(problem.terms, batch_size)
        self._dtype = dtype
        across_replicas = backend.replica_mean if shared else lambda count: count
        by_term = batch_size if isinstance(batch_size, dict) else {}
        self.samplers, self.places, self.digests = {}, {}, {}
        given = given or {}
        for name in given:
            known_term(problem, name)
        for name, term in problem.terms.items():
            sampler = given.get(name, default or Uniform())
            if term.table is not None:
                if name in given:
                    term.check_points(problem.domain, None)
                sampler = Held(*term.table, count=by_term.get(name))
            elif not isinstance(sampler, Sampler):
                points = checked_points(problem, name, sampler)
                term.check_points(problem.domain, points)
                count = by_term.get(name) if by_term else batch_size
                sampler = Held(points, count=count)
                self.digests[name] = hashlib.sha256(points.tobytes()).hexdigest()
            elif isinstance(sampler, Held):
                points = checked_points(problem, name, sampler.points)
                term.check_points(problem.domain, points)
            self.samplers[name] = sampler
            settings = counts[name], dtype, across_replicas
            self.places[name] = Place(term, problem.domain, problem.scales, *settings)
        self.drawn = [n for n, s in self.samplers.items() if not isinstance(s, Held)]
        self.key = tuple((n, s.key(), counts[n]) for n, s in self.samplers.items())

    @property
    def settings(self):
        """Settings of all points, a dict of JSON's types."""
        return {
            "batch_size": {n: place.requested for n, place in self.places.items()},
            "points": dict(self.digests),
            "samplers": {
                name: f"{type(sampler).__name__} {sampler.get_config()}"
                for name, sampler in self.samplers.items()
                if name not in self.digests and self.places[name].term.table is None
            },
        }

    def total(self, name):
        """Return the number of points of a term in a step."""
        return self.samplers[name].count(self.places[name])

    def init(self, seed):
        """Return the samplers' first states, by term."""
        return {
            name: sampler.init(self.places[name], self._uniform(name, seed, -1, 0))
            for name, sampler in self.samplers.items()
        }

    def step(self, states, seed, iteration, error, names=None, replica=0):
        """Return the batches of one step, and the samplers' states after it.

        Points are a pure function of (seed, replica, iteration, term) and the state.

        Args:
            states: Dict from term names to the samplers' states.
            seed: Integer.
            iteration: Number of steps taken before, an integer scalar.
            error: Function of a term's name and a batch that returns the squared
                residual at each point.
            names: The terms wanted; all if not given.
            replica: Index of the replica that draws.

        Returns:
            Dict of batches by term name, and of states.
        """
        batches, after = {}, dict(states)
        for name, sampler in self.samplers.items():
            if names is None or name in names:
                uniform = self._uniform(name, seed, iteration, replica)
                there = self.places[name], states[name], iteration, uniform
                of_term = error and functools.partial(error, name)
                batches[name], after[name] = sampler.step(*there, of_term)
        return batches, after

    def fresh(self, states, seed, iteration, error):
        """Return batches of points that no step uses, if there are others."""
        batches = {}
        for name, sampler in self.samplers.items():
            uniform = self._uniform(name, seed, iteration, 0, offset=8)
            there = self.places[name], states[name], uniform
            batches[name] = sampler.fresh(*there, functools.partial(error, name))
        return batches

    def draw(self, seed, iteration, names=None):
        """Return batches by term name, from the samplers' first states."""
        return self.step(self.init(seed), seed, iteration, None, names)[0]

    def renewed(self, iteration):
        """Return whether a step's points differ from those before, a boolean."""
        answers = [sampler.renewed(iteration) for sampler in self.samplers.values()]
        return ops.any(ops.stack([False, *answers]))

    def weighting_uniform(self, seed, iteration):
        """Return the random numbers of a weighting rule; the same on all replicas."""
        return self._uniform(WEIGHTING, seed, iteration, 0)

    def weighting_setup(self, weights, seed):
        """Return the `TrainingSetup` of a weighting rule.

        Args:
            weights: Dict from condition names to the initial weights.
            seed: Integer, that of the training.
        """
        uniform = self.weighting_uniform(seed, -1)
        return TrainingSetup(tuple(self.places), weights, self._dtype, uniform)

    def _uniform(self, name, seed, iteration, replica, offset=0):
        # Iterations, terms and replicas never share a stream of random numbers.
        def uniform(shape, number=0):
            stream = replica + (number + offset) * 2**16
            words = seed, stream, zlib.crc32(name.encode()), iteration
            return backend.uniform(shape, words, self._dtype)

        return uniform


def known_term(problem, name):
    """Return the problem's term called `name`, or raise `ValueError`."""
    if name not in problem.terms:
        raise ValueError(
            f"The problem has no term '{name}'. Its terms are {list(problem.terms)}."
        )
    return problem.terms[name]


def checked_points(problem, name, points):
    """Return points as a float64 array `(n, d)`, or raise `ValueError`."""
    check_apart(problem, name, points)
    return point_array(f"points of '{name}'", points, problem.coordinates)


def check_apart(problem, name, points):
    """Raise `ValueError` for points in a type that cannot resolve the domain.

    Args:
        problem: The `Problem`.
        name: The points' name in errors.
        points: Array or tensor; other objects are taken to be in float64.
    """
    dtype = getattr(getattr(points, "dtype", None), "name", None)
    if dtype != "float32":
        return
    for symbol, (start, end) in problem.domain.intervals.items():
        if max(abs(start), abs(end)) > LARGEST_OFFSET[dtype] * (end - start):
            raise ValueError(
                f"The points of '{name}' are in {dtype}, which does not resolve "
                f"{symbol} ∈ [{start:.16g}, {end:.16g}]. Give them in float64,"
                " as they are computed (JAX rounds those of a generator unless "
                f"`jax_enable_x64` is on), or measure {symbol} from {start:.10g}."
            )


def _checked_counts(terms, batch_size):
    if not isinstance(batch_size, dict):
        count = check_count("batch_size", batch_size, None)
        batch_size = {} if count is None else dict.fromkeys(terms, count)
    check_known("batch_size", batch_size, terms, "terms of the problem")
    counts = {}
    for name, term in terms.items():
        usual = INTEGRAL_SIZE if term.regions else BATCH_SIZE
        usual = ENERGY_SIZE if term.is_energy else usual
        counts[name] = check_count(f"batch_size['{name}']", batch_size.get(name, usual))
    return counts
