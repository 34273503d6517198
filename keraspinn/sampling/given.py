"""Points of the user: arrays, dicts of them, and batches of pipelines."""

from keras import ops

from keraspinn import backend
from keraspinn.common.arguments import is_stream
from keraspinn.common.checks import check_count
from keraspinn.sampling.base import Sampler
from keraspinn.sampling.sources import check_apart, checked_points, known_term

EVALUATION_BATCH_SIZE = 8192


def given_batches(sources, problem, x):
    """Return batches from a pipeline's points, or from a dict of them by term.

    Args:
        sources: The `PointSources` of the training.
        problem: The `Problem`.
        x: Tensor `(n, d)`, or a dict of them.

    Raises:
        ValueError: If the pipeline yields other data.
    """
    if len(getattr(x, "shape", ())) == 1 and x.dtype == "int32":
        return {}  # a batch of `tick_dataset`: the step draws all its points
    if not isinstance(x, dict):
        x = {"residual": x}
    batches = {}
    for name, points in x.items():
        term = known_term(problem, name)
        if term.table is not None or term.regions:
            problem.terms[name].check_points(problem.domain, None)
        check_batch(problem, name, points)
        batches[name] = sources.places[name].given(points)
    return batches


def check_batch(problem, name, points):
    """Raise unless a pipeline's batch is an array of points `(n, d)`.

    Raises:
        ValueError: If it is no array of this shape, or is in float32 if that does
            not resolve the domain's points.
    """
    shape = tuple(getattr(points, "shape", ()))
    columns = len(problem.coordinates)
    if len(shape) != 2 or shape[1] != columns or shape[0] == 0:
        raise ValueError(
            f"A batch of points of '{name}' must have shape (n, {columns}), a column "
            f"for each of {[symbol.name for symbol in problem.coordinates]}. Received: "
            f"a {type(points).__name__} of shape {shape}. Make batches of single "
            "points with `dataset.batch(n)`."
        )
    # In the backend's type, which on JAX may be a smaller one.
    check_apart(problem, name, ops.convert_to_tensor(points[:1]))


def held_or_streamed(x):
    """Return `x` by term, the sampler of other terms, and whether `x` streams."""
    if x is None or isinstance(x, dict):
        return x, None, False
    if isinstance(x, Sampler):
        return None, x, False
    return (None, None, True) if is_stream(x) else ({"residual": x}, None, False)


def evaluation_data(problem, x, y, batch_size, replicas=1, label="evaluation"):
    """Return points, with reference values by name, as a dataset of batches."""
    points = checked_points(problem, label, x)
    data = points
    if y is not None:
        data = points, problem.checked_reference_values(y, len(points))
    check_count("batch_size", batch_size, None)
    return backend.array_dataset(data, batch_size or EVALUATION_BATCH_SIZE, replicas)
