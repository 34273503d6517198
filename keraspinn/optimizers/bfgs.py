import numpy as np
from keras import ops

from keraspinn.common.typing import Tensor
from keraspinn.optimizers.quasi_newton import Lesson, QuasiNewton

# H, the next H, and a product in between if XLA does not fuse them.
COPIES = 3


class BFGS(QuasiNewton):
    """Method of Broyden, Fletcher, Goldfarb and Shanno, with a full matrix H.

    With s the change of the parameters, y that of the gradient, and
    v = √(yᵀHy) (s / s·y − Hy / yᵀHy), every method of Broyden's family is

        H ← (H − Hy yᵀH / yᵀHy + φ v vᵀ) / τ + s sᵀ / s·y,

    which maps y to s. It stays positive definite if φ is above some negative number,
    τ > 0 and s·y > 0. BFGS has φ = 1 and τ = 1, except in the first update, which
    scales the identity to the curvature, τ = yᵀHy / s·y.

    H has P² numbers, 32 MB for 2,000 parameters in float64. A step reads it twice and
    writes it once; the saved model contains it. In single precision the descent ends
    early: use `model.astype("float64")`.

    Args:
        resample_every: Number of steps with the same points, at least 2.
        sufficient_decrease: Fraction of the predicted decrease that a step must reach.
        curvature: Fraction of the gradient along the line that a step may leave.
        max_evaluations: Largest number of evaluations in one line search.
        memory_limit: Largest number of bytes that `build` may allocate.
        name: Its name.

    Raises:
        ValueError: For arguments out of range, and from `build` if three times P²
            numbers need more than `memory_limit`.

    Example:

    >>> optimizer = keraspinn.optimizers.BFGS(resample_every=300)
    >>> optimizer.build([keras.Variable(keras.ops.zeros((4,), "float64"))])
    >>> tuple(optimizer.state_variables["inverse_hessian"].shape)
    (4, 4)

    Reference:
        Nocedal & Wright, "Numerical optimization", section 6.1.
    """

    def memory(self, parameters):
        return {"inverse_hessian": ops.eye(parameters.shape[0], dtype=parameters.dtype)}

    def bytes_needed(self, parameters):
        itemsize = np.dtype(ops.dtype(parameters)).itemsize
        return COPIES * parameters.shape[0] ** 2 * itemsize

    def flops_needed(self, gradient, rows, parameters):
        # H is read twice and written once; a byte costs as much as ten operations.
        return super().flops_needed(gradient, rows, parameters) + 240 * parameters**2

    def factors(self, b: Tensor, h: Tensor, lesson: Lesson) -> tuple[Tensor, Tensor]:
        """Return the factors τ and φ of the update.

        Args:
            b: −α s·g / s·y, which is sᵀBs / s·y with B the inverse of H.
            h: yᵀHy / s·y.
            lesson: The `Lesson` of the step.
        """
        one = ops.ones_like(h)
        return ops.where(ops.equal(lesson.updates, 0), h, one), one

    def descend(self, memory, gradient):
        return -ops.matmul(memory["inverse_hessian"], gradient)

    def learn(self, memory, lesson, usable):
        # One read of H for both products, and one for the update: the next direction
        # follows from Hg as the new H from H.
        inverse = memory["inverse_hessian"]
        both = ops.stack([lesson.changed, lesson.gradient], axis=-1)
        both = ops.matmul(inverse, both)
        turned, descent = both[..., 0], both[..., 1]
        square = ops.sum(lesson.changed * turned)
        usable = usable & (square > 0)
        square = ops.where(usable, square, ops.ones_like(square))
        shrink, blend = self.factors(lesson.ratio, square / lesson.product, lesson)
        usable = usable & ops.isfinite(blend / shrink)
        shrink = ops.where(usable, shrink, ops.ones_like(shrink))
        blend = ops.where(usable, blend, ops.ones_like(blend))

        def scaled(vector, factor):
            return ops.where(usable, vector * ops.sqrt(factor), 0.0)

        # Symmetric to the bit: a signed sum of u uᵀ, not of u wᵀ + w uᵀ.
        turn = lesson.moved / lesson.product - turned / square
        pairs = (
            (-1.0, scaled(turned, 1 / (square * shrink))),
            (ops.sign(blend), scaled(turn, ops.abs(blend) * square / shrink)),
            (1.0, scaled(lesson.moved, 1 / lesson.product)),
        )
        inverse, descent = inverse / shrink, descent / shrink
        for sign, vector in pairs:
            row = ops.expand_dims(vector, 0)
            inverse = inverse + sign * ops.expand_dims(vector, 1) * row
            descent = descent + sign * vector * ops.sum(vector * lesson.gradient)
        return {"inverse_hessian": inverse}, -descent
