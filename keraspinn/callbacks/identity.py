"""What tells one training from another, so that none goes on from another's state."""

import json

from keras import ops

from keraspinn.common.differences import differences, plain
from keraspinn.expressions import from_json
from keraspinn.training.frozen import frozen

MAY_CHANGE = ("optimizer.learning_rate", "batch_size", "epochs", "loss_weights")
"""Settings with which a training goes on, and says so."""

_MOST, _LONGEST = 6, 100
_UNTOUCHED = {"name", "seed", "reference"}  # training does not follow from these


def identity(model, steps_per_epoch, epochs):
    """All that a training follows from, as data that JSON can hold.

    Args:
        model: The `PINNModel`, compiled, with the points and rule that `fit` was given.
        steps_per_epoch: Number of steps of an epoch, or `None`.
        epochs: Number of epochs.

    Returns:
        Dict of the problem, the network, the optimizer, the points and the rest.
    """
    parts = plain(_config(model))
    problem = parts.get("problem", {})
    parts = {key: value for key, value in parts.items() if key not in _UNTOUCHED}
    parts["problem"] = {k: v for k, v in problem.items() if k not in _UNTOUCHED}
    optimizer = plain(model.get_compile_config().get("optimizer", {}))
    optimizer.pop("name", None)
    settings = dict(model.trainer.settings)
    rule = settings.pop("weighting")
    if rule is not None:
        rule = {"class_name": type(rule).__qualname__, "config": rule.get_config()}
    else:  # a rule would adapt them
        weights = model.loss_weights.items()
        settings["loss_weights"] = {
            n: ops.convert_to_numpy(v).tolist() for n, v in weights
        }
    if places := frozen(model):
        settings["frozen"] = places
    return {
        **parts,
        "optimizer": optimizer,
        **plain(settings),
        "weighting": plain(rule),
        "steps_per_epoch": steps_per_epoch,
        "epochs": epochs,
    }


def compare(old, new):
    """What differs between two trainings.

    Args:
        old: What `identity` returned, or JSON made of it.
        new: The same of another training. A seed of `None` is any.

    Returns:
        Two lists of sentences: what makes them two trainings, and what `MAY_CHANGE`.
    """
    if new.get("seed") is None:
        new = {**new, "seed": old.get("seed")}
    hard, soft = [], []
    for place, was, now in differences(old, new):
        # A number and a schedule are states of different kinds.
        alike = isinstance(was, (int, float)) == isinstance(now, (int, float))
        lenient = alike and place.startswith(MAY_CHANGE)
        (soft if lenient else hard).append(
            f"{place}: {_shown(was)} became {_shown(now)}"
        )
    return hard, soft


def listed(sentences):
    """The first few, a line each."""
    more = len(sentences) - _MOST
    lines = sentences[:_MOST] + ([f"and {more} more"] if more > 0 else [])
    return "".join(f"\n  {line}" for line in lines)


def _config(model):
    try:
        return model.get_config()
    except (NotImplementedError, TypeError, ValueError):
        # A network that cannot be saved may still be trained.
        network = {"class": type(model.network).__qualname__}
        return {"problem": model.problem.get_config(), "network": network}


def _shown(value):
    try:
        text = str(from_json(value))  # an expression, as the user wrote it
    except (ValueError, TypeError):
        text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
