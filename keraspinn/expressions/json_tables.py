"""Saved forms of tables: their numbers as text, which is only ever decoded."""

import base64
import binascii
import math

import numpy as np

from keraspinn.expressions.json_checks import bounded_list, integer, name, short
from keraspinn.expressions.tabulated import MAX_NUMBERS, Tabulated

_KEYS = {"axes", "degree", "name", "orders", "values"}


def table_to_json(table):
    """A `Tabulated` as plain data: little-endian float64 in base 64."""
    return {
        "axes": [_to_text(axis) for axis in table.axes],
        "values": _to_text(table.values),
        "degree": table.degree,
        "name": table.name,
        "orders": list(table.orders),
    }


def table_from_json(data):
    """The `Tabulated` that `table_to_json` was given.

    Raises:
        ValueError: If it is no such data.
    """
    if not isinstance(data, dict) or set(data) != _KEYS:
        raise ValueError(f"A table has the keys {sorted(_KEYS)}. Not: {short(data)}.")
    axes = tuple(map(_from_text, bounded_list(data["axes"], "A table's axes", 3)))
    shape = tuple(len(axis) for axis in axes)
    values = _from_text(data["values"])
    if len(values) != math.prod(shape):
        raise ValueError(
            f"A table of the shape {shape} has {math.prod(shape)} values. Received: "
            f"{len(values)}."
        )
    degree, called = integer(data["degree"]), name(data["name"])
    table = Tabulated(axes, values.reshape(shape), degree, called)
    orders = bounded_list(data["orders"], "A table's orders", len(axes))
    if len(orders) != len(axes):
        raise ValueError(f"A table has an order for each axis. Received: {orders}.")
    for place, order in enumerate(orders):
        for _ in range(integer(order, 0, 64)):
            table = table.differentiated(place)
    return table


def _to_text(array):
    return base64.b64encode(np.ascontiguousarray(array, "<f8").tobytes()).decode()


def _from_text(text):
    if not isinstance(text, str) or len(text) > 12 * MAX_NUMBERS:
        raise ValueError(f"A table's numbers are a text. Received {short(text)}.")
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), "<f8").copy()
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"A table's numbers cannot be read: {error}.") from error
