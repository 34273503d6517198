"""Model files from others: looked over before anything is built from them."""

import json
import os
import pathlib
import zipfile
from typing import Any

import keras

from keraspinn.backend.compatibility import MODELS, OPERATIONS
from keraspinn.common.typing import PathLike

CONFIG = "config.json"
PUBLIC = {
    "keras.constraints": keras.constraints,
    "keras.initializers": keras.initializers,
    "keras.layers": keras.layers,
    "keras.optimizers": keras.optimizers,
    "keras.optimizers.schedules": keras.optimizers.schedules,
    "keras.regularizers": keras.regularizers,
}
"""Modules of Keras all of whose classes may be built, by their names in files."""

OTHERS = {
    "keras.DTypePolicy",
    "keras.Functional",
    "keras.Model",
    "keras.Sequential",
    *MODELS,
}
"""Further classes of Keras's networks."""

REFUSED = {
    *("FlaxLayer", "JaxLayer", "Lambda", "TFSMLayer", "TorchModuleWrapper"),
    *("IntegerLookup", "StringLookup", "TextVectorization"),
}
"""Layers that run code from a file, or read other files."""

VALUES = {"__ellipsis__", "__keras_tensor__", "__numpy__", "__slice__", "__tensor__"}
"""Names that Keras writes for values that are no objects."""


def load_model(filepath: PathLike, compile: bool = True) -> Any:
    """Load a model file from an untrusted source.

    No code from the file runs. Keras loads it in its safe mode, and builds only Keras's
    layers with their initializers, regularizers, constraints, policies, schedules and
    optimizers, the classes of this package, and those that you registered with
    `keras.saving.register_keras_serializable`. The only functions are activations by
    name. There is no `Lambda`, no import of a module that the file names, and no
    evaluation of a network. Expressions are trees of allowed nodes, bounded in number
    and depth.

    Time and memory are not bounded: an untrusted file may describe a network of any
    size. Load it in a process with limits, as `docs/reliability.md` shows.

    Args:
        filepath: Path of a `.keras` file.
        compile: Whether to bring back the optimizer too.

    Returns:
        The model.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file is damaged, contains no model, comes from a later
            version, or asks for classes that no model of this package needs.

    Example:

    ```python
    model = keraspinn.load_model("helmholtz.keras")
    ```
    """
    if not isinstance(filepath, (str, os.PathLike)):
        raise TypeError(
            f"`load_model` takes the path of a `.keras` file. Received: {filepath!r}"
        )
    path = pathlib.Path(filepath)
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}")
    try:
        _check_tree(_read_config(path))
        return keras.models.load_model(str(path), compile=compile, safe_mode=True)
    except Exception as error:
        # Keras and h5py raise exceptions of every kind for a damaged file.
        reason = str(error).rpartition("Exception encountered: ")[2][:1000]
        if not isinstance(error, ValueError):
            reason = f"{type(error).__name__}: {reason}"
        raise ValueError(f"{path.name} cannot be loaded. {reason}") from error


def _read_config(path):
    if path.suffix != ".keras" or not zipfile.is_zipfile(path):
        raise ValueError("It is not a `.keras` file, or a part of one.")
    with zipfile.ZipFile(path) as archive:
        if CONFIG not in archive.namelist():
            raise ValueError(f"It holds no {CONFIG}.")
        return json.loads(archive.read(CONFIG))


def _check_tree(config):
    """Raise `ValueError` for a class that untrusted files may not build."""
    if not isinstance(config, dict) or not isinstance(config.get("config"), dict):
        raise ValueError("Its configuration describes no model.")
    left = [config]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left.extend(part.values())
            if "class_name" in part and not _is_allowed(part):
                raise ValueError(
                    f"It asks for {str(part.get('module'))[:60]}."
                    f"{str(part['class_name'])[:60]}, which is not built from "
                    "untrusted files. If it is a class of your own, register it before "
                    "loading; if you trust the file, use keras.models.load_model."
                )
            for node in part.get("inbound_nodes") or ():
                _check_call(node)
        elif isinstance(part, list):
            left.extend(part)


def _is_allowed(part):
    """Return whether a part's class may be built, and is in the part's module."""
    name, module = part["class_name"], part.get("module")
    if name in VALUES:
        return True
    if not isinstance(name, str) or not isinstance(module, str):
        return False
    if name == "function":
        function = str(part.get("config"))
        return module == "builtins" and (
            keras.saving.get_registered_object(function) is not None
            or hasattr(keras.activations, function)
        )
    if name in REFUSED:
        return False
    # Keras takes a registered class before any other, whatever the module.
    registered = keras.saving.get_registered_object(str(part.get("registered_name")))
    if registered is not None:
        return (
            registered.__name__ == name
            and module.partition(".")[0] == (registered.__module__.partition(".")[0])
        )
    if module in PUBLIC:
        return isinstance(getattr(PUBLIC[module], name, None), type)
    return module in OPERATIONS or f"{module}.{name}" in OTHERS


def _check_call(node):
    """Raise `ValueError` for calls without a tensor, which would run at once."""
    left = [node.get("args"), node.get("kwargs")] if isinstance(node, dict) else []
    while left:
        part = left.pop()
        if isinstance(part, dict):
            if part.get("class_name") == "__keras_tensor__":
                return
            left.extend(() if "class_name" in part else part.values())
        elif isinstance(part, list):
            left.extend(part)
    raise ValueError("It calls a layer on an input that is no output of another.")
