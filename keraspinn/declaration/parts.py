"""Serialization of the parts that users name in `on=` and `over=`."""

import keras

from keraspinn.common.configs import restored
from keraspinn.expressions import from_json, to_json
from keraspinn.geometry import Geometry, Interface
from keraspinn.geometry.checks import check_values, written


def part_to_json(on):
    """Return a value of `on=` or `over=` as JSON's types."""
    if isinstance(on, (list, tuple)):
        return [part_to_json(part) for part in on]
    if isinstance(on, (Geometry, Interface)):
        return {"geometry": keras.saving.serialize_keras_object(on)}
    if isinstance(on, dict):
        check_values(on)
        return {"face": [[to_json(s), float(value)] for s, value in on.items()]}
    return on


def part_from_json(on):
    """Return the argument of `part_to_json`."""
    if isinstance(on, list):
        return [part_from_json(part) for part in on]
    if isinstance(on, dict) and "geometry" in on:
        return restored(on["geometry"], Geometry, Interface)
    if isinstance(on, dict):
        return {from_json(symbol): value for symbol, value in on["face"]}
    return on


def place_to_json(where):
    """Return a relation or a geometry of `where=` as JSON's types."""
    is_relation = where is not None and not isinstance(where, Geometry)
    return to_json(where) if is_relation else part_to_json(where)


def place_from_json(where):
    """Return the relation or geometry that `place_to_json` wrote."""
    is_geometry = isinstance(where, dict) and "geometry" in where
    return part_from_json(where) if is_geometry else from_json(where)


def format_part(on):
    """Return a value of `on=` as text, the same for 1 and 1.0."""
    if isinstance(on, (list, tuple)):
        return f"[{', '.join(map(format_part, on))}]"
    if isinstance(on, dict):
        return f"{{{', '.join(f'{s}: {_short(value)}' for s, value in on.items())}}}"
    return str(on)


def _short(value):
    try:
        return written(float(value))
    except (TypeError, ValueError):  # no number: the domain raises an error
        return str(value)
