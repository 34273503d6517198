"""DeepXDE: Adam on few points that are resampled, then L-BFGS on all, in float64.

The backend is PyTorch. DeepXDE's documentation recommends the L-BFGS of PyTorch or
SciPy. With TensorFlow 2.21 that of SciPy stops at once, because the weights that it
tries do not reach the loss of the TensorFlow 1 graph (issues 1819 and 1977 of DeepXDE).
"""

import deepxde as dde
import numpy as np
import torch

from examples.second_stage.peers.recording import (
    SIDE,
    Recorder,
    parsed,
    relative_l2,
)


def network_of(statement, options):
    """Return the network, whose inputs are scaled to [−1, 1]."""
    low, high = torch.tensor(statement.low), torch.tensor(statement.high)
    layers = [2] + [options.units] * options.depth + [1]
    network = dde.nn.FNN(layers, "tanh", "Glorot normal")
    network.apply_feature_transform(lambda x: 2 * (x - low) / (high - low) - 1)
    if statement.factor:
        network.apply_output_transform(
            lambda x, y: statement.factor([x[:, 0:1], x[:, 1:2]]) * y
        )
    return network


def data_of(statement, points, options):
    """Return the problem as an object of DeepXDE, with `points` points inside."""
    low, high = np.array(statement.low), np.array(statement.high)
    generator = np.random.default_rng(options.seed)

    def derivative(x, y, index):
        axes = [axis for axis, order in enumerate(index) for _ in range(order)]
        if not axes:
            return y
        if len(axes) == 1:
            return dde.grad.jacobian(y, x, i=0, j=axes[0])
        return dde.grad.hessian(y, x, i=axes[0], j=axes[1])

    def equation(x, y):
        values = {index: derivative(x, y, index) for index in statement.derivatives}
        return statement.equation(torch, [x[:, 0:1], x[:, 1:2]], values)

    def condition(declared):
        points = generator.uniform(low, high, (len(declared.sides), SIDE, 2))
        for side, (axis, coordinate) in zip(points, declared.sides, strict=True):
            side[:, axis] = coordinate
        points = points.reshape(-1, 2)
        values = declared.value(np, list(points.T))[:, None]
        if not any(declared.derivative):
            return dde.icbc.PointSetBC(points, values)
        return dde.icbc.PointSetOperatorBC(
            points, values, lambda x, y, _: derivative(x, y, declared.derivative)
        )

    return dde.data.PDE(
        dde.geometry.Rectangle(low, high),
        equation,
        [condition(declared) for declared in statement.conditions],
        num_domain=points,
    )


class Watch(dde.callbacks.Callback):
    """Callback that keeps weights, and stops training when the time is over."""

    def __init__(self, recorder, stage):
        super().__init__()
        self.recorder, self.stage = recorder, stage

    def on_train_begin(self):
        self.before = self.model.train_state.step

    def on_epoch_end(self):
        steps = self.model.train_state.step - self.before
        self.recorder.keep(self.stage, steps, self.weights)
        self.model.stop_training = self.recorder.over

    def weights(self):
        return {k: v.clone() for k, v in self.model.net.state_dict().items()}


def train(options):
    """Train with Adam, then L-BFGS, until the time is over; returns recorder, model."""
    statement, recorder = options.statement, Recorder(options.seconds)
    network = network_of(statement, options)
    # DeepXDE takes one mean over all sides of a condition. The factor makes it the sum
    # of the means over the sides.
    sides = [len(declared.sides) for declared in statement.conditions]
    weights = [1.0] + [options.weight * count for count in sides]
    quiet = {"verbose": 0, "display_every": 10**9}
    decay = "cosine", options.adam, 0.0
    model = dde.Model(data_of(statement, 300, options), network)
    model.compile("adam", lr=3e-3, decay=decay, loss_weights=weights, verbose=0)
    watches = [Watch(recorder, "Adam"), dde.callbacks.PDEPointResampler(period=100)]
    model.train(iterations=options.adam, callbacks=watches, **quiet)
    model = dde.Model(data_of(statement, options.points, options), network)
    # Only the time stops L-BFGS. Callbacks run after every 25 iterations.
    dde.optimizers.set_LBFGS_options(gtol=0, maxiter=10**6)
    settings = dde.optimizers.config.LBFGS_options
    settings["iter_per_step"], settings["fun_per_step"] = 25, 50
    model.compile("L-BFGS", loss_weights=weights, verbose=0)
    model.train(callbacks=[Watch(recorder, "L-BFGS")], **quiet)
    return recorder, model


def main():
    options = parsed()
    dde.config.set_default_float("float64")
    dde.config.set_random_seed(options.seed)
    recorder, model = train(options)
    points, exact = options.test

    def error(weights):
        model.net.load_state_dict(weights)
        return relative_l2(model.predict(points), exact)

    recorder.tell(error, ["deepxde", "torch"])


if __name__ == "__main__":
    main()
