"""Where the points of every loss term come from, step after step."""

import hashlib
import zlib

import numpy as np
from keras import ops

from keraspinn import backend
from keraspinn.arguments import check_count, is_stream, real_array
from keraspinn.terms import HeldPoints

BATCH_SIZE = 128
EVALUATION_BATCH_SIZE = 8192


class PointSources:
    """The points of every term: drawn from its part of the domain, or held.

    Args:
        problem: The `Problem`.
        batch_size: Number of points drawn in a step, inside and on each face; or a
            dict from term names to numbers, others keeping the default, 128.
        held: Optional dict from term names to arrays of points `(n, d)` that are
            used instead of drawn ones: all of them in each step, or `batch_size` at
            random if that is given.

    Raises:
        ValueError: If a term is unknown, a number is not a positive integer, or
            points are of the wrong shape, not finite, or not where they should be.
    """

    def __init__(self, problem, batch_size=None, held=None):
        self._counts = _checked_counts(problem.terms, batch_size)
        self._sources = dict(problem.terms)
        self._marks = _distinct_marks(problem.terms)
        held = held or {}
        for name, points in held.items():
            term = known_term(problem, name)
            # A copy: what is compiled must not depend on what the user does next.
            points = checked_points(problem, name, points).copy()
            term.check_on_its_blocks(name, points)
            self._sources[name] = HeldPoints(term, points)
            if batch_size is None or (
                isinstance(batch_size, dict) and name not in batch_size
            ):
                self._counts[name] = len(points)
        # What a compiled program has baked in, to tell whether it still fits.
        digests = {
            name: hashlib.sha256(np.asarray(points, "float64").tobytes()).digest()
            for name, points in held.items()
        }
        self.key = (*self._counts.items(), *digests.items())

    def total(self, name):
        """Number of points of a term in a step."""
        return self._sources[name].count(self._counts[name])

    def draw(self, seed, iteration, dtype, names=None, replica=0):
        """Batches by term name: a pure function of (seed, replica, iteration, term)."""

        def uniform_for(name):
            # Iterations, terms and replicas never share a stream of random numbers.
            stream = ops.cast(iteration, "int64") * 2**32 + self._marks[name]
            own = seed + ops.cast(replica, "int64") * 2**32
            return lambda shape: backend.uniform(shape, own, stream, dtype)

        return {
            name: source.draw(self._counts[name], uniform_for(name))
            for name, source in self._sources.items()
            if names is None or name in names
        }


def given_batches(problem, x, dtype):
    """Batches of what a user's pipeline yields: points, or a dict of them by term.

    Raises:
        ValueError: If something else is yielded.
    """
    if not isinstance(x, dict):
        # A list of integers is the tick of a step that draws all its points.
        tick = getattr(getattr(x, "shape", 0), "rank", 0) == 1 and x.dtype == "int32"
        x = {} if tick else {"residual": x}
    batches = {}
    for name, points in x.items():
        term = known_term(problem, name)
        _check_batch(problem, name, points)
        batches[name] = term.given(ops.cast(points, dtype), backend.replica_mean)
    return batches


def evaluation_batch(problem, x, y, dtype):
    """Points of what a pipeline yields, and its reference values by name, if any.

    Raises:
        TypeError: If the points are no array.
        ValueError: If their shape, or the values' names, are not the problem's.
    """
    _check_batch(problem, "evaluation", x)
    if y is not None:
        problem.check_reference_names(y)
    return ops.cast(x, dtype), y


def _check_batch(problem, name, points):
    if not hasattr(points, "shape"):
        raise TypeError(
            f"A batch of points of '{name}' must be an array (n, d). Received: an "
            f"object of type {type(points).__name__}"
        )
    # Eager steps see NumPy's arrays, whose shapes are tuples.
    known = isinstance(points.shape, tuple) or points.shape.rank is not None
    shape = tuple(points.shape) if known else None
    columns = len(problem.coordinates)
    if shape is None or len(shape) != 2 or shape[1] != columns or shape[0] == 0:
        raise ValueError(
            f"A batch of points of '{name}' must have shape (n, {columns}), a column "
            f"for each of {[symbol.name for symbol in problem.coordinates]}. Received: "
            f"shape {shape}. Of single points make batches with `dataset.batch(n)`."
        )
    if points.dtype.name == "string" or getattr(points.dtype, "kind", "f") in "USO":
        raise ValueError(
            f"A batch of points of '{name}' must hold numbers. Received: texts"
        )


def held_or_streamed(x):
    """`x` of `fit` as a dict of arrays to hold, or `None`, and whether it streams."""
    if x is None or isinstance(x, dict):
        return x, False
    if is_stream("fit", x):
        return None, True
    return {"residual": x}, False


def evaluation_data(problem, x, y, batch_size, dtype, replicas=1):
    """Points, with reference values by name, as a dataset of batches for replicas."""
    data = checked_points(problem, "evaluation", x)
    if len(data) < replicas:
        raise ValueError(
            f"{replicas} devices need at least as many points, to share them. "
            f"Received: {len(data)}"
        )
    if y is not None:
        data = data, problem.checked_reference_values(y, len(data))
    check_count("batch_size", batch_size, None)
    batch_size = batch_size or EVALUATION_BATCH_SIZE
    return backend.array_dataset(data, batch_size, dtype, replicas)


def known_term(problem, name):
    """The problem's term called `name`."""
    if name not in problem.terms:
        raise ValueError(
            f"The problem has no term '{name}'. Its terms are {list(problem.terms)}."
        )
    return problem.terms[name]


def checked_points(problem, name, points):
    """Points as a float64 array `(n, d)`, or a sentence that says what is wrong."""
    points = real_array(f"points of '{name}'", points)
    coordinates = [symbol.name for symbol in problem.coordinates]
    if points.ndim != 2 or points.shape[1] != len(coordinates) or not len(points):
        raise ValueError(
            f"The points of '{name}' must have shape (n, {len(coordinates)}), a column "
            f"for each of {coordinates}. Received: shape {points.shape}"
        )
    if not np.isfinite(points).all():
        row = int(np.argwhere(~np.isfinite(points))[0][0])
        raise ValueError(
            f"The points of '{name}' must be finite. Received: {points[row]} in row "
            f"{row}. Drop the rows that hold NaN or infinity."
        )
    return points


def _distinct_marks(names):
    """A number below 2**32 for each name, the same whatever other names there are.

    Of two names with one checksum the later takes that of itself with a stroke.
    """
    marks = {}
    for name in names:
        marked = name
        while (mark := zlib.crc32(marked.encode())) in marks.values():
            marked += "'"
        marks[name] = mark
    return marks


def _checked_counts(terms, batch_size):
    requested = batch_size if isinstance(batch_size, dict) else {}
    unknown = sorted(set(requested) - set(terms), key=str)
    if unknown:
        raise ValueError(
            f"`batch_size` names {unknown}, which are no terms of the problem. Its "
            f"terms are {list(terms)}."
        )
    default = BATCH_SIZE if batch_size is None or requested else batch_size
    counts = {name: requested.get(name, default) for name in terms}
    for name, count in counts.items():
        whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
        if not whole or count < 1:
            raise ValueError(
                "`batch_size` must be a positive integer, or a dict from term names "
                f"to positive integers. Received: {count!r} for '{name}'"
            )
    return {name: int(count) for name, count in counts.items()}
