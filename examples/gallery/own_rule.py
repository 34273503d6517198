"""A weighting rule of your own.

A rule is a function of the terms' gradients and losses. This one moves the weight of
each condition by a tenth towards the value at which its gradient has the norm of the
residual's.

To adapt it, change the method `update`, which returns the new weights.
"""

import keras
from keras import ops

import keraspinn as kp

keras.utils.set_random_seed(0)


class EqualGradients(kp.weighting.WeightingRule):
    def init(self, weights):
        return {}

    def update(self, gradients, losses, state):
        def norm(name):
            return ops.sqrt(sum(ops.sum(g * g) for g in gradients[name].values()))

        old = state["weights"]
        new = {name: norm("residual") / (norm(name) + 1e-7) for name in old}
        return {name: 0.9 * old[name] + 0.1 * new[name] for name in old}, {}


problem = kp.problems.klein_gordon()
model = kp.PINNModel(problem, kp.networks.MLP(units=50, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 5000)))
balance = kp.callbacks.LossWeighting(EqualGradients())
history = model.fit(steps_per_epoch=100, epochs=50, verbose=2, callbacks=[balance])

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
steps = [100 * (epoch + 1) for epoch in history.epoch]
weights = {
    name: (steps, history.history[f"{name}_weight"]) for name in ("initial", "boundary")
}
figure = kp.plot.traces(weights, label="Loss weight λ")
figure.savefig("own_rule.png")
