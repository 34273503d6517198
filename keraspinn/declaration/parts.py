"""What a user writes for a part of the domain, as plain data and back."""

import keras

from keraspinn.common.configs import restored
from keraspinn.expressions import from_json, to_json
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.intervals import check_values, written


def part_to_json(on):
    """What `on=` or `over=` names, as JSON's types."""
    if isinstance(on, (list, tuple)):
        return [part_to_json(part) for part in on]
    if isinstance(on, Geometry):
        return {"geometry": keras.saving.serialize_keras_object(on)}
    if isinstance(on, dict):
        check_values(on)
        return {"face": [[to_json(s), float(value)] for s, value in on.items()]}
    return on


def part_from_json(on):
    """What `part_to_json` was given."""
    if isinstance(on, list):
        return [part_from_json(part) for part in on]
    if isinstance(on, dict) and "geometry" in on:
        return restored(on["geometry"], Geometry)
    if isinstance(on, dict):
        return {from_json(symbol): value for symbol, value in on["face"]}
    return on


def part_text(on):
    """What `on=` names, as text: the same for 1, 1.0 and what is loaded."""
    if isinstance(on, (list, tuple)):
        return f"[{', '.join(map(part_text, on))}]"
    if isinstance(on, dict):
        return f"{{{', '.join(f'{s}: {_short(value)}' for s, value in on.items())}}}"
    return str(on)


def _short(value):
    try:
        return written(float(value))
    except (TypeError, ValueError):  # no number, which the domain will refuse
        return str(value)
