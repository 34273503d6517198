"""A stranger's rule that remembers: weights from running means of the losses."""

import keras

import keraspinn as kp


@keras.saving.register_keras_serializable("toy")
class Balance(kp.weighting.WeightingRule):
    def init(self, weights):
        return {name: keras.ops.ones(()) for name in ("residual", *weights)}

    def update(self, gradients, losses, state):
        old = {name: state[name] for name in self.init(state["weights"])}
        means = {name: 0.9 * mean + 0.1 * losses[name] for name, mean in old.items()}
        return {n: means["residual"] / means[n] for n in state["weights"]}, means


def test_it_fits_saves_and_goes_on_to_the_bit(goes_on_to_the_bit):
    def make():
        return kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)

    goes_on_to_the_bit(make, callbacks=lambda: [kp.callbacks.LossWeighting(Balance())])
