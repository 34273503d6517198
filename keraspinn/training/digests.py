"""Digests that tell a model's weights and its network's code from others."""

import hashlib

from keras import ops

from keraspinn import backend
from keraspinn.declaration.probe_points import probe_points

POINTS = 16  # enough to tell networks apart


def weights_digest(model):
    """Return a text that identifies a network and coefficients, to the bit.

    Args:
        model: A `PINNModel` or an `Ensemble`.
    """
    others = {id(variable) for variable in model.loss_weights.values()}
    variables = [v for v in model.weights if id(v) not in others]
    values = map(ops.convert_to_numpy, backend.snapshot(variables))
    return hashlib.sha256(b"".join(v.tobytes() for v in values)).hexdigest()


def sampled_fields(model):
    """Return the fields at fixed points inside, an array `(POINTS, F)`.

    Networks with the same weights but other fields differ in their code.

    Args:
        model: A `PINNModel` or an `Ensemble`.
    """
    domain = model.problem.domain
    points = probe_points(domain, domain.blocks("interior"), POINTS)
    return ops.convert_to_numpy(model(points))
