"""Descriptions of trainings, to tell whether a backup belongs to one."""

import json

from keraspinn.common.differences import differences, plain
from keraspinn.expressions import from_json
from keraspinn.training.frozen import frozen

# Settings that may change when a training resumes, with a warning.
MAY_CHANGE = ("optimizer.learning_rate", "batch_size", "epochs", "loss_weights")

_MOST_LINES = 6  # differences that a message lists
_LONGEST_TEXT = 300  # characters of a value in a message
_IGNORED = {"name", "seed", "reference"}  # training does not depend on these


def identity(model, steps_per_epoch, epochs):
    """Return all settings that a training depends on, as data for JSON.

    Args:
        model: The `PINNModel`, compiled, with the points and weighting rule of `fit`.
        steps_per_epoch: Number of steps of an epoch, or `None`.
        epochs: Number of epochs.

    Returns:
        Dict of the problem, the network, the optimizer, the points and the rest.
    """
    parts = plain(_config(model))
    problem = parts.get("problem", {})
    parts = {key: value for key, value in parts.items() if key not in _IGNORED}
    parts["problem"] = {k: v for k, v in problem.items() if k not in _IGNORED}
    optimizer = plain(model.get_compile_config().get("optimizer", {}))
    optimizer.pop("name", None)
    settings = dict(model.trainer.settings)
    if settings["weighting"] is None:  # otherwise a rule adapts them
        weights = model.loss_weights.items()
        settings["loss_weights"] = {n: v.numpy().tolist() for n, v in weights}
    return {
        **parts,
        "optimizer": optimizer,
        **plain(settings),
        "steps_per_epoch": steps_per_epoch,
        "epochs": epochs,
    }


def compare(old, new):
    """Compare two trainings.

    Args:
        old: The result of `identity`, possibly by way of JSON.
        new: The same of another training. A seed of `None` matches any.

    Returns:
        Two lists of sentences: differences that make them two trainings, and
        differences in `MAY_CHANGE`.
    """
    if new.get("seed") is None:
        new = {**new, "seed": old.get("seed")}
    hard, soft = [], []
    for path, was, now in differences(old, new):
        # A number and a schedule have different states.
        alike = isinstance(was, (int, float)) == isinstance(now, (int, float))
        changed = soft if alike and path.startswith(MAY_CHANGE) else hard
        changed.append(f"{path}: {_shown(was)} became {_shown(now)}")
    return hard, soft


def listed(sentences):
    """Format the first few sentences, one per line."""
    more = len(sentences) - _MOST_LINES
    lines = sentences[:_MOST_LINES] + ([f"and {more} more"] if more > 0 else [])
    return "".join(f"\n  {line}" for line in lines)


def _config(model):
    try:
        return model.get_config()
    except (NotImplementedError, TypeError, ValueError):
        # A network that cannot be saved may still be trained.
        network = {"class": type(model.network).__qualname__}
        config = {"problem": model.problem.get_config(), "network": network}
        return config | ({"frozen": layers} if (layers := frozen(model)) else {})


def _shown(value):
    try:
        text = str(from_json(value))  # an expression as the user wrote it
    except (ValueError, TypeError):
        text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
