import numpy as np
from keras import ops

from keraspinn.optimizers.bfgs import BFGS


class SSBFGS(BFGS):
    """Self-scaled BFGS: `BFGS` with τ = min(1, s·y / sᵀBs) in each update.

    Directions of H without recent updates keep the scale of the current curvature.

    Args:
        resample_every: Number of steps with the same points, at least 2.
        sufficient_decrease: Fraction of the predicted decrease that a step must reach.
        curvature: Fraction of the gradient along the line that a step may leave.
        max_evaluations: Largest number of evaluations in one line search.
        memory_limit: Largest number of bytes that `build` may allocate.
        name: Its name.

    Raises:
        ValueError: As `BFGS`.

    Example:

    >>> keraspinn.optimizers.SSBFGS(resample_every=300).resample_every
    300

    Reference:
        Urbán, Stefanou & Pons, "Unveiling the optimization process of physics informed
        neural networks: how accurate and competitive can PINNs be?", arXiv 2405.04230;
        the scaling is Al-Baali's.
    """

    def factors(self, b, h, lesson):
        one = ops.ones_like(b)
        return ops.minimum(1 / b, one), one


class SSBroyden(BFGS):
    """Self-scaled Broyden method: `BFGS` with τ and φ chosen in every update.

    Use it after Adam: in float64, on points that are held for a few hundred steps and
    then renewed, with H kept.

        model.compile(keras.optimizers.Adam(3e-3))
        model.fit(...)
        model = model.astype("float64")
        model.compile(keraspinn.optimizers.SSBroyden())
        model.fit(batch_size=3000, steps_per_epoch=500, epochs=10)

    Args:
        resample_every: Number of steps with the same points, at least 2.
        sufficient_decrease: Fraction of the predicted decrease that a step must reach.
        curvature: Fraction of the gradient along the line that a step may leave.
        max_evaluations: Largest number of evaluations in one line search.
        memory_limit: Largest number of bytes that `build` may allocate.
        name: Its name.

    Raises:
        ValueError: As `BFGS`.

    Example:

    >>> optimizer = keraspinn.optimizers.SSBroyden()
    >>> optimizer.get_config()["resample_every"]
    500

    Reference:
        Urbán, Stefanou & Pons, "Unveiling the optimization process of physics informed
        neural networks: how accurate and competitive can PINNs be?", arXiv 2405.04230;
        the factors are Al-Baali's.
    """

    def factors(self, b, h, lesson):
        one = ops.ones_like(b)
        tiny = float(np.finfo(ops.dtype(b)).eps)
        # Zero if y is a multiple of Bs; negative only by round-off.
        a = ops.maximum(h * b - 1, tiny)
        c = ops.sqrt(a / (a + 1))
        lowest = ops.minimum(h * (1 - c), one)
        theta = ops.maximum((lowest - 1) / a, ops.minimum(1 / lowest, (1 - b) / b))
        sigma = 1 + a * theta
        root = sigma ** (-1.0 / max(lesson.gradient.shape[-1] - 1, 1))
        scale = ops.minimum(1 / b, one)
        # If θ > 0, also σ > 1: the unused branch may divide by zero.
        positive = scale * ops.minimum(root, 1 / theta)
        shrink = ops.where(theta > 0, positive, ops.minimum(scale * root, sigma))
        return shrink, (1 - theta) / sigma
