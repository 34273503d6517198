"""Weights by the traces of the neural tangent kernel.

A `WeightingRule` receives gradients of losses, not Jacobians of residuals. So this is a
callback that sets the loss weights between epochs. `Tangent` is not part of the public
interface; `parameter_deviation` and the verdicts take rows of Jacobians from it.
"""

import keras
import numpy as np

from keraspinn.training.tangent import Tangent


class TangentKernel(keras.callbacks.Callback):
    """Loss weights that give all terms the same mean rate of convergence.

    Before training, and after an epoch if `every` steps have passed, the weight of each
    condition becomes λ_i / λ_r with

        λ_i = tr K / tr K_ii,      tr K_ii = Σ_n w_n ‖∂r_n/∂θ‖²

    over the points n of a term. The loss has the weights w_n of their squared
    residuals. For means over equal numbers of points this is the formula of the source.
    The Jacobians are exact, at sampled points.

    Args:
        every: Number of steps between updates.
        inside: Number of points of equations.
        on_face: Number of points on each face.

    Reference:
        Wang, Yu & Perdikaris, "When and why PINNs fail to train: a neural tangent
        kernel perspective", arXiv 2007.14527, Algorithm 1.
    """

    def __init__(self, every=100, inside=256, on_face=64):
        super().__init__()
        self.every, self.inside, self.on_face = every, inside, on_face

    def on_train_begin(self, logs=None):
        self._tangent = Tangent(self.model, self.inside, self.on_face)
        self._batches = self._tangent.draw(-1)
        self._update()

    def on_epoch_end(self, epoch, logs=None):
        if self.model.steps_taken >= self._updated + self.every:
            self._update()

    def traces(self):
        """Return the traces tr K_ii of the kernel's blocks by term name."""
        # The tangent has a copy of the model in double precision.
        self._tangent.model.set_weights(self.model.get_weights())
        rows = self._tangent.rows(self._batches)
        return {
            name: sum(weighted_trace(j, self._batches[name].weights) for _, j in pairs)
            for name, pairs in rows.items()
        }

    def _update(self):
        traces = self.traces()
        for name, weight in self.model.loss_weights.items():
            weight.assign(traces["residual"] / max(traces[name], 1e-30))
        self._updated = self.model.steps_taken


def weighted_trace(jacobian, weights):
    """Return Σ_n w_n ‖J_n‖² of a Jacobian `(N, P)`."""
    weights = keras.ops.convert_to_numpy(weights)
    return float(np.sum(weights * np.sum(np.square(jacobian), axis=1)))
