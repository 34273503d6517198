"""Model and progress of an interrupted `solve` in one file."""

import json
import zipfile
from pathlib import Path
from typing import Any

from keraspinn.common.files import write_whole
from keraspinn.training import PINNModel, load_model

# Name of the progress within the `.keras` file, which is a zip file.
ENTRY = "solve.json"


def save_progress(path: str | Path, model: PINNModel, progress: dict[str, Any]) -> None:
    """Replace a file by a model, its optimizer's state, and progress.

    A process killed meanwhile leaves the file as it was.

    Args:
        path: Path of the `.keras` file.
        model: The `PINNModel`.
        progress: Dict that is JSON.
    """

    def write(partial):
        model.save(partial)
        with zipfile.ZipFile(partial, "a") as file:
            file.writestr(ENTRY, json.dumps(progress))

    write_whole(path, write)


def load_progress(path: str | Path) -> tuple[PINNModel, dict[str, Any]]:
    """Return the model and the progress from a file.

    Args:
        path: Path of the file.

    Raises:
        ValueError: If `save_progress` did not write it.
    """
    model = load_model(path)
    with zipfile.ZipFile(path) as file:
        if ENTRY not in file.namelist():
            raise ValueError(
                f"{path} holds a model that solve(path=) did not save. Give another "
                "path, or continue with model=keraspinn.load_model(path)."
            )
        return model, json.loads(file.read(ENTRY))
