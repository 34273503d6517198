"""Model files of unknown origin, loaded in Keras's safe mode."""

import pathlib
import zipfile
from typing import Any

import keras

from keraspinn.common.typing import PathLike


def load_model(filepath: PathLike, compile: bool = True) -> Any:
    """Load a model file from an untrusted source.

    No code from the file runs. Keras loads it in its safe mode, and builds only Keras's
    classes, those of this package, and those that you registered with
    `keras.saving.register_keras_serializable`. There is no `Lambda`, and no layer that
    reads other files. Expressions are trees of allowed nodes.

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
            version, or asks for classes that Keras does not build in its safe mode.

    Example:

    ```python
    model = keraspinn.load_model("helmholtz.keras")
    ```
    """
    path = pathlib.Path(filepath)
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}")
    try:
        if path.suffix != ".keras" or not zipfile.is_zipfile(path):
            raise ValueError("It is not a `.keras` file, or a part of one.")
        return keras.models.load_model(str(path), compile=compile, safe_mode=True)
    except Exception as error:
        # Keras and h5py raise exceptions of every kind for a damaged file.
        reason = str(error).rpartition("Exception encountered: ")[2][:1000]
        if not isinstance(error, ValueError):
            reason = f"{type(error).__name__}: {reason}"
        raise ValueError(f"{path.name} cannot be loaded. {reason}") from error
