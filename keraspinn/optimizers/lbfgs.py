from typing import Any

from keras import ops

from keraspinn.common.checks import check_count
from keraspinn.optimizers.quasi_newton import QuasiNewton


class LBFGS(QuasiNewton):
    """BFGS with limited memory, for networks with too many parameters for H.

    It keeps the last `memory_size` pairs (s, y) and applies their updates to the
    identity times s·y / y·y of the newest pair. It needs 2 `memory_size` P numbers.

    Args:
        memory_size: Number of pairs m.
        **kwargs: As for `BFGS`.

    Raises:
        ValueError: For arguments out of range.

    Example:

    >>> optimizer = keraspinn.optimizers.LBFGS(memory_size=10)
    >>> optimizer.build([keras.Variable(keras.ops.zeros((4,), "float64"))])
    >>> tuple(optimizer.state_variables["steps"].shape)
    (10, 4)

    Reference:
        Nocedal & Wright, "Numerical optimization", algorithm 7.4.
    """

    def __init__(self, memory_size: int = 30, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.memory_size = check_count("memory_size", memory_size)

    def memory(self, parameters):
        empty = ops.zeros((self.memory_size, parameters.shape[0]), parameters.dtype)
        return {"steps": empty, "yields": empty}

    def descend(self, memory, gradient):
        # The two loops of algorithm 7.4 solve triangular systems, which compile in a
        # tenth of the time.
        steps, yields = memory["steps"], memory["yields"]
        products = ops.matmul(steps, ops.transpose(yields))
        curvatures = ops.diagonal(products)
        # Pairs that do not exist yet are zero, and have no effect.
        exists = curvatures > 0
        filled = ops.diag(ops.where(exists, 0.0, ops.ones_like(curvatures)))
        upper = ops.triu(products) + filled
        first = ops.solve_triangular(upper, -ops.matmul(steps, gradient))
        square = ops.where(exists[-1], ops.sum(yields[-1] * yields[-1]), 1.0)
        scale = ops.where(exists[-1], curvatures[-1], 1.0) / square
        direction = -scale * (gradient + ops.matmul(first, yields))
        second = curvatures * first - ops.matmul(yields, direction)
        shares = ops.solve_triangular(ops.transpose(upper), second, lower=True)
        return direction + ops.matmul(shares, steps)

    def learn(self, memory, lesson, usable):
        def pushed(rows, row):
            longer = ops.concatenate([rows[1:], ops.expand_dims(row, 0)])
            return ops.where(usable, longer, rows)

        memory = {
            "steps": pushed(memory["steps"], lesson.moved),
            "yields": pushed(memory["yields"], lesson.changed),
        }
        return memory, self.descend(memory, lesson.gradient)
