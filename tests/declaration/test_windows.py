"""Problems restricted to time windows."""

import keras
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.windows import restricted

X, T = sp.symbols("x t")


@keras.saving.register_keras_serializable("windows")
class Labelled(kp.geometry.Box):
    """A box with a user's labels in its configuration."""

    def __init__(self, space, time, labels):
        super().__init__(space, time)
        self.labels = labels

    def get_config(self):
        return {**super().get_config(), "labels": self.labels}

    @classmethod
    def from_config(cls, config):
        box = kp.geometry.Box.from_config(config)
        return cls(box.space, box.time, config["labels"])


def test_a_window_keeps_the_types_in_a_user_s_geometry():
    labels = {1: "inlet", 2: (0.5, 1.5), "time": []}
    domain = Labelled({X: (0, 1)}, {T: (0, 3)}, labels)
    u = sp.Function("u")(X, T)
    conditions = {
        "initial": kp.Condition(u - sp.sin(sp.pi * X), on="initial"),
        "ends": kp.Condition(u, on="boundary"),
    }
    problem = kp.Problem(domain, {"e": u.diff(T) - u.diff(X, 2)}, conditions)
    window = restricted(problem, 1.0, 2.0).domain
    assert window.time == {T: (1, 2)} and window.labels == labels
