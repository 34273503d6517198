"""Distribution and balance of the loss terms' gradients."""

import dataclasses
import itertools

import keras
import numpy as np
from numpy.typing import ArrayLike

from keraspinn import backend
from keraspinn.diagnostics import losses
from keraspinn.sampling.base import BatchSize, Given
from keraspinn.training.model import PINNModel

LEVELS = np.linspace(0.0, 1.0, 101)
_CENTRAL = (0.05, 0.95)


@dataclasses.dataclass(frozen=True)
class GradientStatistics:
    """Back-propagated gradient of every loss term at one moment of training.

    Distributions are kept as 101 equidistant quantiles for each term and layer,
    least and largest value included: a few kilobytes, at any scale.

    Args:
        iteration: Number of training steps taken before.
        weights: Dict from term names to loss weights λ, 1 for the residual.
        sizes: Dict from layer names to the number of entries of its kernel.
        quantiles: Dict from term names to dicts from layer names to the quantiles
            `(101,)` of the unweighted gradient ∂L_i/∂θ by the layer's kernel.
        norms: Dict from term names to ‖∇L_i‖₂, unweighted, over all parameters of
            the network.
        largest: The same of max|∇L_i|.
        means: The same of mean|∇L_i|.
        cosines: Dict from pairs of term names to the cosine between their gradients.

    Example:

    ```python
    statistics = keraspinn.diagnostics.gradient_statistics(model)
    statistics.numbers()["boundary_gradient_norm_ratio"]
    ```

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", figures 2, 3 and 7.
    """

    iteration: int
    weights: dict[str, float]
    sizes: dict[str, int]
    quantiles: dict[str, dict[str, np.ndarray]]
    norms: dict[str, float]
    largest: dict[str, float]
    means: dict[str, float]
    cosines: dict[tuple[str, str], float]

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the loss terms, `"residual"` first."""
        return tuple(self.quantiles)

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the layers, from the inputs to the output."""
        return tuple(self.sizes)

    def distribution(self, term: str, layer: str, weighted: bool = True) -> np.ndarray:
        """Return quantiles `(101,)` of ∂L_i/∂θ, or λ_i ∂L_i/∂θ, by a layer's kernel."""
        quantiles = self.quantiles[term][layer]
        return np.sort(self.weights[term] * quantiles) if weighted else quantiles

    def counts(
        self, term: str, layer: str, edges: ArrayLike, weighted: bool = True
    ) -> np.ndarray:
        """Return the number of entries in bins, `(K,)` for `(K + 1,)` edges.

        Numbers are interpolated between the quantiles, so not whole.
        """
        quantiles = self.distribution(term, layer, weighted)
        below = np.interp(np.asarray(edges), quantiles, LEVELS, left=0.0, right=1.0)
        return np.diff(below) * self.sizes[layer]

    def spread_ratios(self, term: str, weighted: bool = True) -> dict[str, float]:
        """Compare the spread of a term's gradient with the residual's, by layer.

        The ratio is that of the widths of the central 90 % of entries. Far below 1, the
        term has almost no influence on training.

        Args:
            term: Name of a condition.
            weighted: Whether to count the term's weight λ.

        Returns:
            Dict from layer names to ratios.
        """
        return {
            layer: _spread(self.distribution(term, layer, weighted))
            / _spread(self.distribution("residual", layer, weighted))
            for layer in self.layers
        }

    def numbers(self) -> dict[str, float]:
        """Return the balance of the terms, by names as in `History`.

        For every term, unweighted, `<term>_gradient_norm`, `_max` and `_mean`; for
        every condition the residual's over the weighted condition's,
        `<term>_gradient_norm_ratio`, `_max_ratio` and `_mean_ratio`, and
        `_imbalance`, max|∇L_r| / mean|λ ∇L_i|, which annealing steers by; for every
        pair, `<term>_<term>_gradient_cosine`.
        """
        numbers = {}
        kinds = {"norm": self.norms, "max": self.largest, "mean": self.means}
        for term in self.terms:
            for kind, values in kinds.items():
                numbers[f"{term}_gradient_{kind}"] = values[term]
        for term in self.terms[1:]:
            weight = abs(self.weights[term])
            for kind, values in kinds.items():
                ratio = _ratio(values["residual"], weight * values[term])
                numbers[f"{term}_gradient_{kind}_ratio"] = ratio
            imbalance = _ratio(self.largest["residual"], weight * self.means[term])
            numbers[f"{term}_gradient_imbalance"] = imbalance
        for (one, other), cosine in self.cosines.items():
            numbers[f"{one}_{other}_gradient_cosine"] = cosine
        return numbers


class GradientProbe:
    """Measurement of a model's `GradientStatistics`, compiled once.

    Args:
        model: A `PINNModel`.
        points: Points to take the gradients at, as `fit` takes them; those of the
            next training step, for the same `batch_size`, if not given.
        batch_size: Number of points drawn inside and on each face, 128 if not given.

    Call arguments:
        iteration: Number of training steps taken before.

    Raises:
        TypeError: If `model` is not a `PINNModel`.
        ValueError: If `fit` would reject the points or numbers.

    Example:

    ```python
    probe = keraspinn.diagnostics.GradientProbe(model)
    probe(iteration=0).norms["residual"]
    ```
    """

    def __init__(
        self,
        model: PINNModel,
        points: Given | None = None,
        batch_size: BatchSize = None,
    ) -> None:
        sources = losses.point_sources(model, points, batch_size)
        variables = model.network.trainable_variables
        self._kernels = kernel_names(variables)
        self._model = model

        def gradients(number):
            batches = sources.draw(model.seed, number)
            return model._objective.gradients(batches, variables)[1]

        self._gradients = backend.compiled(gradients, read=model.variables)

    def __repr__(self):
        return f"<GradientProbe of {len(self._kernels)} kernels>"

    def __call__(self, iteration: int) -> GradientStatistics:
        gradients = self._gradients(keras.ops.convert_to_tensor(iteration, "int32"))
        gradients = keras.tree.map_structure(keras.ops.convert_to_numpy, gradients)
        kernels, terms = self._kernels.items(), self._model.problem.terms
        weights = {n: float(w) for n, w in self._model.loss_weights.items()}
        flat = {t: np.concatenate(gradients[t], None, dtype="float64") for t in terms}
        norms = {term: _inner(g, g) ** 0.5 for term, g in flat.items()}
        return GradientStatistics(
            iteration=int(iteration),
            weights={"residual": 1.0} | weights,
            sizes={name: gradients["residual"][p].size for name, p in kernels},
            quantiles={
                t: {name: np.quantile(gradients[t][p], LEVELS) for name, p in kernels}
                for t in terms
            },
            norms=norms,
            largest={term: float(np.abs(g).max()) for term, g in flat.items()},
            means={term: float(np.abs(g).mean()) for term, g in flat.items()},
            cosines={
                (a, b): _ratio(_inner(flat[a], flat[b]), norms[a] * norms[b])
                for a, b in itertools.combinations(terms, 2)
            },
        )


def gradient_statistics(
    model: PINNModel, points: Given | None = None, batch_size: BatchSize = None
) -> GradientStatistics:
    """Measure the distribution and balance of the loss terms' gradients.

    Args:
        model: A `PINNModel`, trained or not.
        points: Points to take the gradients at, in the forms of `PINNModel.fit`'s
            `x`. Those of the next training step, for the same `batch_size`, if not
            given.
        batch_size: Number of points drawn inside and on each face, 128 if not given.

    Returns:
        `GradientStatistics`, of unweighted gradients and the weights λ.

    Raises:
        TypeError: If `model` is not a `PINNModel`.
        ValueError: If `fit` would reject the points or numbers.

    Example:

    ```python
    statistics = keraspinn.diagnostics.gradient_statistics(model)
    keraspinn.plot.gradient_histograms(statistics).savefig("gradients.png")
    ```

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 2.2.
    """
    probe = GradientProbe(model, points, batch_size)
    return probe(model.steps_taken if model.compiled else 0)


def kernel_names(variables):
    """Return a dict from layer names to the positions of their kernels.

    Kernels have at least two axes, biases one. A layer's name is the kernel's path
    without the beginning that is common to all of them.
    """
    positions = [n for n, v in enumerate(variables) if len(v.shape) > 1]
    paths = [variables[n].path.split("/") for n in positions]
    levels = zip(*(path[:-2] for path in paths), strict=False)
    common = len(list(itertools.takewhile(lambda names: len({*names}) == 1, levels)))
    names = {}
    for position, path in zip(positions, paths, strict=True):
        name = "/".join(path[common:]).removesuffix("/kernel")
        while name in names:  # two layers of one name
            name += "'"
        names[name] = position
    return names


def _inner(a, b):
    # Not `a @ b`: waking BLAS's threads takes longer than all the rest.
    return float((a * b).sum())


def _spread(quantiles):
    return np.ptp(np.interp(_CENTRAL, LEVELS, quantiles))


def _ratio(numerator, denominator):
    return numerator / denominator if denominator else float("nan")
