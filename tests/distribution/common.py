"""Functions that the programs of these tests share, after devices are set up."""

import keras
import numpy as np
import sympy as sp

import keraspinn as kp

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
PROBLEM = kp.Problem(
    kp.geometry.Box({X: (0, 1), Y: (0, 1)}),
    {"e": sp.Eq(U.diff(X, 2) + U.diff(Y), X)},
    {"sides": kp.Condition(sp.Eq(U, Y), on=[{X: 0}, {X: 1}])},
    reference={U: X * Y},
)
RUN = {"batch_size": 8, "steps_per_epoch": 5, "verbose": 0}


def compiled(optimizer=None, **options):
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(PROBLEM, kp.networks.MLP(6, 2), seed=3)
    model.compile(optimizer or keras.optimizers.Adam(1e-2), **options)
    return model


def annealing():
    return kp.callbacks.LearningRateAnnealing(update_freq=3)


def weights_of(model):
    variables = [*model.trainable_variables, *model.loss_weights.values()]
    return np.concatenate([v.numpy().ravel() for v in variables]).tolist()
