"""How much fields may change while equations and conditions miss hardly more."""

import numpy as np
from scipy import linalg

from keraspinn.training.tangent import FIELDS, Tangent

# Of the sum of squares of the rows: what little damping finds at some points may be
# what they do not see, so that the direction which counts at others is taken. Heat
# traced back is open by 450 with the most, and by 1e5 with the least.
DAMPING = (1e-14, 1e-20, 1e-26)
STEPS = 30  # of the power iteration


def amplification(
    tangent: Tangent,
    rows: dict[str, list],
    batches: dict,
    norms: dict[str, list[float]],
    extents: list[float],
) -> np.ndarray:
    """The change of each field, relative, for what it makes the rows miss.

    In the space that the network spans, as `diagnostics.verdict` has it: of the
    directions d that make |F d|² / |J d|² large, with F the fields' derivative by all
    parameters, that by which a field changes most at points that they were not found
    from. Most well-posed
    problems have some tens to a few thousand, and one that hardly says where a front
    stands, or what a source is, a hundred thousand.

    Args:
        tangent: The model, made linear.
        rows: What `tangent.rows` returned of one draw.
        batches: Another draw.
        norms: What each expression's rows are divided by.
        extents: What each field is relative to.

    Returns:
        The ratios of all fields, `(F,)`, the largest that of the problem; 0 for a
        network of more parameters than there are rows, whose directions may all be
        what the points do not see.
    """
    draws = rows, tangent.rows(batches)
    slopes = np.concatenate(
        [
            jacobian / (norm * np.sqrt(len(draws)))
            for draw in draws
            for name, own in draw.items()
            for (_, jacobian), norm in zip(own, norms[name], strict=True)
        ]
    )
    if len(slopes) < tangent.size:
        return np.zeros(len(extents))
    fields = np.concatenate(
        [
            jacobian / (extent * np.sqrt(len(jacobian)))
            for jacobian, extent in zip(
                tangent.field_rows(batches), extents, strict=True
            )
        ]
    )
    fresh, largest = tangent.draw(-3), np.zeros(len(extents))
    for damping in DAMPING:
        direction = _direction(slopes, fields, damping * sum(map(len, norms.values())))
        if np.isfinite(direction).all():
            _, changes = tangent.moved(fresh, direction)
            missed = missed_by(changes, norms)
            moved = [
                np.sqrt(np.mean(np.square(change))) / extent
                for change, extent in zip(changes[FIELDS], extents, strict=True)
            ]
            if missed > 0 and max(moved) / missed > largest.max():
                largest = np.array(moved) / missed
    return largest


def missed_by(values, norms):
    """The norm of what all rows miss, each expression's in its own weight."""
    squares = (
        np.sum(np.square(value / norm))
        for name, own in norms.items()
        for value, norm in zip(values[name], own, strict=True)
    )
    return np.sqrt(sum(squares))


def _direction(rows, fields, damping):
    """The d, a unit vector, that makes |F d|² / (|J d|² + μ|d|²) largest."""
    identity = np.eye(rows.shape[1])
    (factor,) = linalg.qr(  # J'J would lose what is below 1e-8 of the largest
        np.concatenate([rows, np.sqrt(damping) * identity]),
        mode="r",
        overwrite_a=True,
        check_finite=False,
    )
    factor = factor[: len(identity)]
    direction = np.random.default_rng(0).normal(size=len(identity))
    for _ in range(STEPS):
        pull = fields.T @ (fields @ direction)
        half = linalg.solve_triangular(factor, pull, trans="T", check_finite=False)
        direction = linalg.solve_triangular(factor, half, check_finite=False)
        direction /= np.linalg.norm(direction) or 1.0
    return direction
