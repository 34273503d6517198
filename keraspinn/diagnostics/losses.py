"""A model's loss terms at collocation points, outside training."""

from keraspinn.sampling.sources import PointSources
from keraspinn.training.model import check_one_model

COMPOSITE = "loss"


def point_sources(model, points=None, batch_size=None):
    """Return the `PointSources` of losses at points of your choice.

    Args:
        model: A `PINNModel`, trained or not.
        points: Points to take them at, in the forms of `PINNModel.fit`'s `x`: an
            array for the residual, or a dict from term names. Others are drawn.
        batch_size: Number of points drawn inside and on each face, or a dict.

    Raises:
        TypeError: If `model` is not a `PINNModel`.
        ValueError: If `fit` would reject the points or numbers.
    """
    check_one_model(model)
    by_term = points is None or isinstance(points, dict)
    held = points if by_term else {"residual": points}
    return PointSources(model.problem, model.compute_dtype, batch_size, held)
