"""Model files from others: looked over before anything is built from them."""

import concurrent.futures
import json
import math
import os
import pathlib
import zipfile

import h5py
import keras

CONFIG, METADATA, WEIGHTS = "config.json", "metadata.json", "model.weights.h5"
MAX_CONFIG = 2**25
"""Bytes of a configuration: tables of a million numbers fit."""

MAX_CONTAINERS = 400_000
"""Lists and dicts in a configuration; read, each takes up to a quarter kilobyte."""

MAX_VALUES = 1_500_000
"""Values in a configuration."""

MAX_TEXT = 10_000
"""Characters of a name or a number; Keras copies names often."""

MAX_NODES = 20_000
"""Nodes of all expressions in a file together: SymPy takes a millisecond for some."""

MAX_OBJECTS = 2_000
"""Layers, initializers and whatever else is built from a file."""

MAX_EXPANSION = 20
"""How much larger a part may be than its compressed form; Keras does not compress."""

MODULES = {
    *("keras.activations", "keras.constraints", "keras.initializers"),
    *("keras.optimizers", "keras.optimizers.schedules", "keras.regularizers"),
    *(f"keras.src.ops.{name}" for name in ("core", "math", "nn", "numpy")),
}
"""Modules of Keras's own of which all that can be named in a file is harmless."""

LAYERS = """
Activation ActivityRegularization Add AlphaDropout Average BatchNormalization
Concatenate Dense Dot Dropout ELU EinsumDense Flatten GaussianDropout GaussianNoise
GroupNormalization Identity InputLayer LayerNormalization LeakyReLU Maximum Minimum
Multiply Normalization PReLU Permute RMSNormalization ReLU RepeatVector Rescaling
Reshape Softmax Subtract UnitNormalization
"""
"""What is built of Keras's own. Others read further files, run code, or repeat a
computation as often as a file says."""

ALLOWED = {f"keras.layers.{name}" for name in LAYERS.split()} | {
    "keras.DTypePolicy",
    "keras.Sequential",
    "keras.Functional",
    "keras.Model",
    "keras.src.models.functional.Functional",
    "builtins.function",  # the name of an activation
    "keras.src.models.sequential.Sequential",
}


def load_model(filepath, compile=True):
    """Loads a model file that may come from anyone.

    `keras.models.load_model` runs no code of a file's either, but builds whatever
    the file describes. Here the file is looked over first: its parts and their sizes,
    the classes it names, the size of its expressions, and whether the weights it
    holds are those of the model it describes. Nothing is imported: classes of your
    own must be registered with `keras.saving.register_keras_serializable`.

    Args:
        filepath: Path of a `.keras` file.
        compile: Whether to bring back the optimizer too.

    Returns:
        The model.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file is damaged, is not a model's, comes from a later
            version, or asks for what a model of this package has no need of.

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
        config, numbers, arrays = _looked_over(path)
        classes = _check_tree(config, arrays)
        _check_size(config, numbers, classes)
        return keras.models.load_model(str(path), compile=compile)
    except Exception as error:
        # What Keras and h5py raise for a damaged file is of every kind.
        reason = str(error)
        if len(reason) > 1000:
            reason = f"{reason[:1000]}…"
        if isinstance(error, RecursionError):
            reason = "It is nested too deep."
        elif not isinstance(error, ValueError):
            reason = f"{type(error).__name__}: {reason}"
        raise ValueError(f"{path.name} cannot be loaded. {reason}") from error


def _looked_over(path):
    """The configuration, and how many numbers in how many arrays the file holds."""
    if path.suffix != ".keras" or not zipfile.is_zipfile(path):
        raise ValueError("It is not a `.keras` file, or a part of one.")
    with zipfile.ZipFile(path) as archive:
        names = sorted(archive.namelist())
        if names != [CONFIG, METADATA, WEIGHTS]:
            raise ValueError(
                f"It must hold {CONFIG}, {METADATA} and {WEIGHTS}, each once. "
                f"Received: {[name[:40] for name in names[:6]]}"
            )
        for part in archive.infolist():
            most = MAX_EXPANSION * part.compress_size + 1000
            if part.file_size > most or (
                part.filename != WEIGHTS and part.file_size > MAX_CONFIG
            ):
                raise ValueError(
                    f"Its {part.filename} would take {part.file_size} bytes, from "
                    f"{part.compress_size} in the file."
                )
        text = archive.read(CONFIG)
        with archive.open(WEIGHTS) as weights:
            numbers, arrays = _looked_over_weights(weights)
    containers = text.count(b"[") + text.count(b"{")
    if containers > MAX_CONTAINERS or text.count(b",") > MAX_VALUES:
        raise ValueError(
            f"Its configuration holds over {MAX_CONTAINERS} lists, or over "
            f"{MAX_VALUES} values."
        )
    return json.loads(text), numbers, arrays


def _looked_over_weights(file):
    sizes, links = [], []

    def look(name, link):  # what is raised here, h5py loses
        links.extend([name] * (not isinstance(link, h5py.HardLink)))

    def measure(name, item):
        if not isinstance(item, h5py.Dataset):
            return
        if item.is_virtual or item.external or item.dtype.kind not in "fiub":
            raise ValueError(f"Its weights are not plain numbers, at {name[:60]!r}.")
        if item.nbytes > item.id.get_storage_size():
            raise ValueError(
                f"Its weights do not hold the numbers they speak of, at {name[:60]!r}."
            )
        sizes.append(item.size)

    with h5py.File(file, "r") as weights:
        weights.visititems_links(look)
        if links:
            raise ValueError(f"Its weights refer to elsewhere, at {links[0][:60]!r}.")
        weights.visititems(measure)
    return sum(sizes), len(sizes)


def _check_tree(config, arrays):
    """The registered classes of a configuration; nothing is built from it yet."""
    if not isinstance(config, dict) or not isinstance(config.get("config"), dict):
        raise ValueError("Its configuration describes no model.")
    left, classes = [config], {}
    nodes = objects = models = 0
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left.extend(part)
            left.extend(part.values())
            if "class_name" in part:
                objects += 1
                classes.update(_check_class(part))
            for node in part.get("inbound_nodes") or ():
                _check_call(node)
            models += "problem" in part and "network" in part
            depth = _own_depth(part)
            if depth > arrays:
                raise ValueError(
                    f"It describes a network {depth:g} layers deep, and holds the "
                    f"weights of {arrays} at most."
                )
            nodes += "symbol" in part or "float" in part
        elif isinstance(part, list):
            left.extend(part)
            nodes += bool(part) and isinstance(part[0], str)
        elif isinstance(part, str) and len(part) > MAX_TEXT:
            raise ValueError(
                f"It holds a text of {len(part)} characters: {part[:40]!r}…"
            )
        if models > 1:
            raise ValueError("It describes a model within a model.")
        if nodes > MAX_NODES or objects > MAX_OBJECTS:
            raise ValueError(
                f"It has over {MAX_NODES} nodes of expressions, or over {MAX_OBJECTS} "
                "layers and other objects."
            )
    return classes


def _own_depth(part):
    """The number of layers that a network of ours would make, 0 of anything else."""
    own = str(part.get("registered_name")).startswith("keraspinn>")
    config = part.get("config")
    depth = config.get("depth") if own and isinstance(config, dict) else None
    return depth if isinstance(depth, (int, float)) else 0


def _check_call(node):
    """Refuse calls of no tensor of the network, which are computed at once."""
    left = [node.get("args"), node.get("kwargs")] if isinstance(node, dict) else []
    while left:
        part = left.pop()
        if isinstance(part, dict):
            if part.get("class_name") == "__keras_tensor__":
                return
            left.extend(() if "class_name" in part else part.values())
        elif isinstance(part, list):
            left.extend(part)
    raise ValueError("It calls a layer on what is no output of another.")


def _check_class(part):
    """The class a part names, if registered; refuses all but Keras's harmless ones."""
    name, module = part["class_name"], str(part.get("module"))
    registered = part.get("registered_name")
    if name in ("__keras_tensor__", "__slice__"):
        return {}
    plain = not str(name).startswith("__")  # names that Keras itself gives a meaning
    if plain and isinstance(registered, str):
        known = keras.saving.get_registered_object(registered)
        if known:
            return {registered: known}
    if plain and (module in MODULES or f"{module}.{name}" in ALLOWED):
        return {}
    raise ValueError(
        f"It asks for {module[:60]}.{str(name)[:60]}, which is not built from "
        "files of unknown origin. If it is a class of your own, register it before; "
        "if you trust the file, use keras.models.load_model."
    )


def _check_size(config, numbers, classes):
    """Refuse what is larger than its weights, before memory is taken for it."""
    # Keras lists, for each thread, the variables that still wait for their values, and
    # makes them when it next can: a thread of its own leaves none of them waiting.
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        policy = keras.config.dtype_policy()
        described = thread.submit(_described, config, classes, policy).result()
    if described > numbers:
        raise ValueError(
            f"It describes a network of {described} numbers, and holds {numbers}."
        )


def _described(config, classes, policy):
    """How many numbers the network of a configuration has."""
    keras.config.set_dtype_policy(policy)
    network, shape = config, None
    with keras.saving.custom_object_scope(classes):
        if "problem" in config["config"]:
            network = config["config"]["network"]
            problem = keras.saving.deserialize_keras_object(config["config"]["problem"])
            shape = (problem.domain.dimension,)
        # Variables made in this scope have shapes, and no values yet.
        with keras.StatelessScope(initialize_variables=False):
            network = keras.saving.deserialize_keras_object(_uncompiled(network))
            if shape and not network.built:
                network(keras.Input(shape))
            return sum(math.prod(variable.shape) for variable in network.variables)


def _uncompiled(config):
    """A copy without optimizers, which would be built with their variables."""
    if isinstance(config, list):
        return [_uncompiled(part) for part in config]
    if not isinstance(config, dict):
        return config
    kept = {key: _uncompiled(part) for key, part in config.items()}
    if "class_name" in kept:
        kept.pop("compile_config", None)
    return kept
