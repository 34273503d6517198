"""A Gauss–Newton optimizer whose damping follows from the ratio of decreases.

Of several values of μ around the last one it takes that whose ratio of actual to
predicted decrease is nearest a target, in place of one value that rises or falls by the
last step's ratio. Source: DSGNAR, arXiv 2607.02194, which takes 24 radii around the
last one, and raises the target once μ begins to rise.
"""

import keras
from keras import ops

import keraspinn as kp
from keraspinn.optimizers import linear_solves

# Number of μ that are tried in a step.
TRIED = 7
# Ratio of neighbouring μ.
FACTOR = 3.0
# Target of the ratio of actual to predicted decrease, before and after μ has risen.
EARLY, LATE = 0.075, 0.5
# Step of the second difference, relative to the direction, as in `GaussNewton`.
SPAN = 0.1


@keras.saving.register_keras_serializable("examples")
class RatioRule(kp.optimizers.GaussNewton):
    """Gauss–Newton with the damping of the ratio nearest a target.

    Args:
        **kwargs: As for `keraspinn.optimizers.GaussNewton`.
    """

    def init(self, parameters):
        state = super().init(parameters)
        return state | {
            "target": ops.full_like(state["damping"], EARLY),
            "least": state["damping"],
        }

    def step(self, objective, parameters, state):
        rows = objective.residuals(parameters)
        jacobian = objective.jacobian(parameters)
        transposed = ops.transpose(jacobian)
        matrix = linear_solves.lower_product(transposed)
        scale = ops.mean(ops.diagonal(matrix))
        right = ops.matmul(transposed, rows)
        judge = objective.fresh()
        before, total = judge.loss(parameters), ops.sum(rows * rows)

        def going(number, *_):
            return number < TRIED

        def attempt(number, nearest, chosen, direction, reached, gain):
            power = ops.cast(number - TRIED // 2, matrix.dtype)
            damping = state["damping"] * FACTOR**power
            damping = ops.clip(damping, *linear_solves.DAMPING_RANGE)
            factor, used = linear_solves.damped_factor(matrix, damping * scale)
            change = linear_solves.solved(factor, right)
            model = ops.matmul(jacobian, change)
            left = rows - model
            promised = 1 - ops.sum(left * left) / total
            near = objective.residuals(parameters - SPAN * change)
            bend = ops.matmul(transposed, near - rows + SPAN * model) / SPAN**2
            bend = linear_solves.solved(factor, bend)
            change = change + ops.where(ops.isfinite(bend), bend, 0.0)
            loss = judge.loss(parameters - change)
            ratio = (1 - loss / before) / promised
            # A step without a decrease is the last choice.
            distance = ops.abs(ratio - state["target"])
            distance = ops.where(ratio > 0, distance, 1.0 - ratio)
            distance = ops.where(ops.isfinite(distance), distance, 1e300)
            better = distance < nearest
            return (
                number + 1,
                ops.where(better, distance, nearest),
                ops.where(better, used / scale, chosen),
                ops.where(better, change, direction),
                ops.where(better, loss, reached),
                ops.where(better, ratio, gain),
            )

        infinite = ops.full_like(before, float("inf"))
        most = ops.full_like(before, linear_solves.DAMPING_RANGE[1])
        start = (
            ops.convert_to_tensor(0),
            infinite,
            most,
            ops.zeros_like(parameters),
            infinite,
            ops.zeros_like(before),
        )
        _, _, chosen, direction, reached, gain = ops.while_loop(going, attempt, start)
        taken = reached < before
        longest = state["damping"] * FACTOR ** (TRIED // 2)
        damping = ops.where(taken, chosen, longest)
        damping = ops.clip(damping, *linear_solves.DAMPING_RANGE)
        has_risen = taken & (damping > FACTOR**2 * state["least"])
        state = {
            "damping": damping,
            "direction": direction,
            "target": ops.where(has_risen, LATE, state["target"]),
            "least": ops.minimum(state["least"], damping),
        }
        logs = {
            "loss": objective.loss(parameters),
            "step_size": ops.where(taken, 1.0, 0.0),
            "damping": damping,
            "gain_ratio": gain,
            "effective_rank": ops.full_like(damping, float("nan")),
        }
        return ops.where(taken, parameters - direction, parameters), state, logs
