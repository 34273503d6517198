"""Differences between two configurations, as paths and values."""

import hashlib
import json

import numpy as np

LONGEST_ROW = 100  # entries of a list that are compared one by one
NOTHING = "nothing"

_UNORDERED = {"Add", "Mul"}
_STAMPS = {"format", "version"}
# Entries of a saved object that tell the module of its class and how it was built.
_ABOUT = {"module", "registered_name", "build_config", "compile_config"}
# Names of layers, which Keras counts up in every program.
_NAMES = {"name", "keras_history", "input_layers", "output_layers"}


def plain(config):
    """Return a saved configuration as data that compares equal wherever it was made.

    A saved object becomes a dict of its settings and its `"class"`. Versions and names
    of layers are left out, NumPy's numbers become Python's, and long arrays of numbers
    a digest of them.

    Args:
        config: The result of `get_config` or `keras.saving.serialize_keras_object`.

    Returns:
        Dicts, lists, texts, numbers and `None`, from which JSON makes the same.

    Example:

    >>> from keraspinn.common.differences import plain
    >>> plain(keras.saving.serialize_keras_object(keras.initializers.Constant(2)))
    {'class': 'Constant', 'value': 2}
    """
    if isinstance(config, dict):
        if config.get("class_name") == "DTypePolicy":
            return config["config"]["name"]
        if "class_name" in config and isinstance(config.get("config"), dict):
            # Layers of functional models have their calls beside their settings.
            beside = {k: v for k, v in config.items() if k not in _ABOUT | {"config"}}
            merged = {"class": beside.pop("class_name"), **beside, **config["config"]}
            config = {k: v for k, v in merged.items() if k not in _NAMES}
        return {str(k): plain(v) for k, v in config.items() if k not in _STAMPS}
    if isinstance(config, (list, tuple, np.ndarray)):
        rows = [plain(row) for row in config]
        if _is_node(rows):
            # SymPy may order the operands of sums and products otherwise.
            head, *operands = rows
            if head in _UNORDERED:
                operands.sort(key=json.dumps)
            return [head, *operands]
        return _folded(rows) if len(rows) > LONGEST_ROW else rows
    if isinstance(config, np.generic):
        config = config.item()
    if isinstance(config, float) and not np.isfinite(config):
        return str(config)  # NaN would differ from itself
    if config is None or isinstance(config, (bool, int, float, str)):
        return config
    return getattr(config, "__qualname__", type(config).__qualname__)


def differences(old, new, path=""):
    """Return the entries in which two plain configurations differ.

    Args:
        old: The result of `plain`.
        new: The same of another.
        path: The path of both, a text.

    Returns:
        List of tuples of the path, such as `"network.units"`, the old value and the
        new one. Expressions are compared as a whole.

    Example:

    >>> from keraspinn.common.differences import differences
    >>> differences({"units": 50, "depth": 4}, {"units": 20, "depth": 4})
    [('units', 50, 20)]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        if old.get("class") != new.get("class"):
            return [(path, *(d.get("class", d) for d in (old, new)))]
        different = []
        for key in dict.fromkeys((*old, *new)):
            pair = old.get(key, NOTHING), new.get(key, NOTHING)
            different += differences(*pair, f"{path}.{key}" if path else key)
        return different
    lists = isinstance(old, list) and isinstance(new, list)
    if lists and len(old) == len(new) and not _is_node(old):
        pairs = enumerate(zip(old, new, strict=True))
        return [d for n, pair in pairs for d in differences(*pair, f"{path}[{n}]")]
    return [] if old == new else [(path, old, new)]


def _is_node(data):
    """Return whether data is an operation with its operands, `["Add", ...]`."""
    return isinstance(data, list) and bool(data) and isinstance(data[0], str)


def _folded(rows):
    """Return a digest instead of a long table; expressions stay whole."""
    if any(isinstance(row, (dict, str)) or _is_node(row) for row in rows):
        return rows
    digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
    return f"{len(rows)} rows, sha256 {digest[:16]}"
