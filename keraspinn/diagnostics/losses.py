"""A model's loss terms at collocation points, outside training."""

from keraspinn import backend
from keraspinn.sampling.sources import PointSources, known_term
from keraspinn.training.model import check_one_model

COMPOSITE = "loss"


class Losses:
    """Losses that a model is trained on, at points of your choice.

    Args:
        model: A `PINNModel`, trained or not.
        points: Points to take them at, in the forms of `PINNModel.fit`'s `x`: an
            array for the residual, or a dict from term names. Others are drawn.
        batch_size: Number of points drawn inside and on each face, or a dict.

    Raises:
        TypeError: If `model` is not a `PINNModel`.
        ValueError: If `fit` would reject the points or numbers.
    """

    def __init__(self, model, points=None, batch_size=None):
        check_one_model(model)
        by_term = points is None or isinstance(points, dict)
        held = points if by_term else {"residual": points}
        self._model = model
        problem, dtype = model.problem, model.compute_dtype
        self._sources = PointSources(problem, dtype, batch_size, held)

    def draw(self, iteration, names=None):
        """Draw the batches, by term name, that a training step has at `iteration`."""
        return self._sources.draw(self._model.seed, iteration, names=names)

    def needed(self, name):
        """Return the terms that make up `name`: itself, or all terms for `"loss"`."""
        if name == COMPOSITE and COMPOSITE not in self._model.problem.terms:
            return tuple(self._model.problem.terms)
        known_term(self._model.problem, name)
        return (name,)

    def value(self, name, batches):
        """Return a term's unweighted loss, or for `"loss"` all that `fit` minimises."""
        objective = self._model._objective
        if name in self._model.problem.terms:
            return objective.loss(name, batches[name])
        weights = self._model.loss_weights
        weights = dict(zip(weights, backend.snapshot(weights.values()), strict=True))
        variables = self._model.trainable_variables
        return objective.losses(batches, weights, variables)["loss"]
