"""Eigenvalues of the losses' Hessians: the stiffness of the gradient flow."""

from collections.abc import Sequence

import numpy as np
from keras import ops, utils
from numpy.typing import ArrayLike

from keraspinn import backend
from keraspinn.backend.scopes import substituted
from keraspinn.common.checks import check_choice, check_count, nonnegative
from keraspinn.diagnostics import losses
from keraspinn.sampling import BatchSize, Given, known_term
from keraspinn.training.flat import joined
from keraspinn.training.model import PINNModel, check_one_model

_ENDS = {"largest": "LA", "smallest": "SA", "both": "BE"}
_POINTS_A_BLOCK = 2048  # vectors at once, times points: about 100 MB at 50 units


class LossHessian:
    """Hessian ∇²L of one loss term by all trainable variables, as an operator.

    Products with vectors are compiled once and follow the model as it trains; the
    points stay the same. Computed in the model's precision: float32 products carry
    an error of about 1e-7 times the largest eigenvalue.

    Args:
        model: A `PINNModel`.
        term: Name of a loss term, unweighted; or `"loss"` for L_r + Σ λ_i L_i with
            the present weights, and the network's regularizers.
        points: Points to take the loss at, as `fit` takes them. Drawn once if not
            given, and the same for every model of one `seed`.
        batch_size: Number of points drawn inside and on each face, 128 if not given.

    Attributes:
        size: Number P of trainable parameters.

    Raises:
        TypeError: If `model` is not a `PINNModel`.
        ValueError: If the term is unknown, or `fit` would reject the points or
            numbers.

    Example:

    ```python
    hessian = keraspinn.diagnostics.LossHessian(model, "residual")
    hessian.products(np.ones((1, hessian.size)))
    ```
    """

    def __init__(
        self,
        model: PINNModel,
        term: str = losses.COMPOSITE,
        points: Given | None = None,
        batch_size: BatchSize = None,
    ) -> None:
        sources = losses.point_sources(model, points, batch_size)
        variables = model.trainable_variables
        self.term = term
        self.size = sum(int(np.prod(variable.shape)) for variable in variables)
        objective, terms = model._objective, model.problem.terms
        is_composite = term == losses.COMPOSITE and term not in terms
        if not is_composite:
            known_term(model.problem, term)
        self._batches = sources.draw(model.seed, -1, None if is_composite else [term])

        def loss(batches):
            if not is_composite:
                return objective.loss(term, batches[term])
            return objective.losses(batches, model.loss_weights, variables)["loss"]

        products = hessian_products(loss, variables)
        self._products = backend.compiled(products, model.variables)

    def __repr__(self):
        return f"<LossHessian of {self.term!r} by {self.size} parameters>"

    def products(self, vectors: ArrayLike) -> np.ndarray:
        """Return ∇²L times each of the vectors `(K, P)`: an array `(K, P)`."""
        products = self._products(self._batches, ops.convert_to_tensor(vectors))
        return ops.convert_to_numpy(products).astype("float64")

    def eigenvalues(
        self, k: int = 1, which: str = "largest", tolerance: float = 1e-4
    ) -> np.ndarray:
        """Compute extreme eigenvalues by Lanczos; see `hessian_eigenvalues`.

        Raises:
            ValueError: If an argument is out of range, or the Hessian is not finite.
        """
        nonnegative("tolerance", tolerance)
        check_choice("which", which, list(_ENDS))
        count = check_count("k", k) * (2 if which == "both" else 1)
        from scipy.sparse.linalg import LinearOperator, eigsh

        def product(vector):
            return self._checked(vector.reshape(1, -1))[0]

        operator = LinearOperator((self.size, self.size), product, dtype="float64")
        start = np.random.default_rng(0).normal(size=self.size)
        options = {"which": _ENDS[which], "v0": start, "tol": tolerance}
        return np.sort(eigsh(operator, count, return_eigenvectors=False, **options))

    def matrix(self, verbose: int = 0) -> np.ndarray:
        """Return the Hessian, `(P, P)` in float64, exactly symmetric.

        Args:
            verbose: 1 for a progress bar, 0 for none.

        Raises:
            ValueError: If the Hessian is not finite.
        """
        matrix = np.empty((self.size, self.size))
        points = sum(len(batch.points) for batch in self._batches.values())
        block = min(64, max(2, _POINTS_A_BLOCK // points), self.size)
        bar = utils.Progbar(self.size, verbose=verbose, unit_name=self.term)
        for start in range(0, self.size, block):
            # One shape for all blocks: the last begins earlier instead of being short.
            first = min(start, self.size - block)
            vectors = np.eye(block, self.size, first, dtype="float32")
            matrix[first : first + block] = self._checked(vectors)
            bar.update(first + block)
        for row in range(1, self.size):  # in place: there is one matrix alone
            mean = (matrix[row, :row] + matrix[:row, row]) / 2
            matrix[row, :row] = matrix[:row, row] = mean
        return matrix

    def _checked(self, vectors):
        products = self.products(vectors)
        if not np.isfinite(products).all():
            raise ValueError(
                f"The Hessian of '{self.term}' is not finite: the weights or the loss "
                "hold NaN or infinity. Take an earlier state of the model."
            )
        return products


def hessian_products(function, variables):
    """Return a function of `(inputs, vectors)`: products `(K, P)` with a Hessian.

    Args:
        function: Function of tensors in any structure that returns a scalar.
        variables: Keras variables to differentiate by; vectors `(K, P)` hold their
            entries one after another.
    """

    def products(inputs, vectors):
        values = backend.snapshot(variables)

        def loss(values, _):
            with substituted(variables, values):
                return function(inputs), []

        def product(vector):
            def slope(values, _):
                gradient = joined(backend.value_and_gradients(loss, values)[2])
                return ops.sum(gradient * vector), []

            return joined(backend.value_and_gradients(slope, values)[2])

        return backend.map_members(product, (ops.cast(vectors, values[0].dtype),))

    return products


def hessian_eigenvalues(
    model: PINNModel,
    terms: str | Sequence[str] = losses.COMPOSITE,
    k: int = 1,
    which: str = "largest",
    points: Given | None = None,
    batch_size: BatchSize = None,
    tolerance: float = 1e-4,
) -> dict[str, np.ndarray]:
    """Compute extreme eigenvalues of the losses' Hessians, by Lanczos.

    The largest, λ_max, is the stiffness of gradient descent: steps of a learning rate
    above 2/λ_max are unstable.

    Args:
        model: A `PINNModel`, trained or not.
        terms: Name of a loss term, or a list of names: unweighted terms of the
            problem, or `"loss"` for L_r + Σ λ_i L_i with the present weights.
        k: Number of eigenvalues at an end.
        which: `"largest"`, `"smallest"` (the most negative) or `"both"` ends.
        points: Points to take the losses at, in the forms of `PINNModel.fit`'s `x`.
            Drawn once if not given.
        batch_size: Number of points drawn inside and on each face, 128 if not given.
        tolerance: Relative accuracy of the eigenvalues; float32 models do not
            support much below 1e-6.

    Returns:
        Dict from names to arrays of `k` eigenvalues, `2 k` for both ends, in
        ascending order.

    Raises:
        TypeError: If `model` is not a `PINNModel`.
        ValueError: If a term is unknown, an argument is out of range, or the Hessian
            is not finite.

    Example:

    ```python
    eigenvalues = keraspinn.diagnostics.hessian_eigenvalues(model, ["residual"], k=3)
    stiffness = eigenvalues["residual"][-1]
    ```

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 2.4.
    """
    hessians = (LossHessian(model, n, points, batch_size) for n in term_names(terms))
    return {h.term: h.eigenvalues(k, which, tolerance) for h in hessians}


def hessian_spectrum(
    model: PINNModel,
    terms: str | Sequence[str] | None = None,
    points: Given | None = None,
    batch_size: BatchSize = None,
    max_gigabytes: float = 2.0,
    verbose: int = 1,
) -> dict[str, np.ndarray]:
    """Compute every eigenvalue of the losses' Hessians, for small networks.

    It takes P products with the Hessian of P parameters, 8 P² bytes of memory for one
    term at a time, and a time that grows with P³ to find the eigenvalues. Those below
    1e-7 times the largest are lost in the rounding of a float32 model.

    Args:
        model: A `PINNModel`, trained or not.
        terms: Name of a loss term, or a list of names: unweighted terms of the
            problem, or `"loss"` for L_r + Σ λ_i L_i with the present weights. Every
            term of the problem if not given.
        points: Points to take the losses at, in the forms of `PINNModel.fit`'s `x`.
            Drawn once if not given.
        batch_size: Number of points drawn inside and on each face, 128 if not given.
        max_gigabytes: Refuse matrices that take more memory.
        verbose: 1 for a progress bar, 0 for none.

    Returns:
        Dict from names to arrays `(P,)` in ascending order.

    Raises:
        TypeError: If `model` is not a `PINNModel`.
        ValueError: If a term is unknown, the matrix would be too large, or is not
            finite.

    Example:

    ```python
    spectra = keraspinn.diagnostics.hessian_spectrum(model)
    keraspinn.plot.spectrum(spectra).savefig("spectra.png")
    ```

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 2.4, figure 4(a).
    """
    if terms is None:
        check_one_model(model)
        terms = list(model.problem.terms)
    spectra = {}
    from scipy.linalg import eigvalsh

    for name in term_names(terms):
        hessian = LossHessian(model, name, points, batch_size)
        if (gigabytes := 8e-9 * hessian.size**2) > max_gigabytes:
            raise ValueError(
                f"The Hessian of {hessian.size} parameters would take {gigabytes:.1f} "
                f"GB of memory. Received: max_gigabytes={max_gigabytes}. Raise it, or "
                "take the extreme eigenvalues with hessian_eigenvalues."
            )
        # Seen as its transpose the matrix lies as LAPACK wants it, and is not copied.
        spectra[name] = eigvalsh(
            hessian.matrix(verbose).T, overwrite_a=True, check_finite=False
        )
    return spectra


def term_names(terms):
    """Return the names of one or several terms as a list."""
    return [terms] if isinstance(terms, str) else list(terms)
