"""Saved forms of tables: their numbers as text, which is only ever decoded."""

import base64

import numpy as np

from keraspinn.expressions.json_checks import checked_list, checked_name, integer
from keraspinn.expressions.tabulated import MAX_NUMBERS, Tabulated


def table_to_json(table):
    """A `Tabulated` as plain data: little-endian float64 in base 64."""
    return {
        "axes": [_to_text(axis) for axis in table.axes],
        "values": _to_text(table.values),
        "degree": table.degree,
        "name": table.name,
        "orders": list(table.orders),
    }


def table_from_json(axes, values, degree, name, orders):
    """The `Tabulated` whose saved form has these entries.

    Raises:
        ValueError: If they are of no table, as `TypeError` and `IndexError` say too.
    """
    axes = tuple(map(_from_text, checked_list(axes, 3)))
    values = _from_text(values).reshape([len(axis) for axis in axes])
    table = Tabulated(axes, values, degree, checked_name(name))
    for place, order in zip(range(len(axes)), orders, strict=True):
        for _ in range(integer(order, 0, 64)):
            table = table.differentiated(place)
    return table


def _to_text(array):
    return base64.b64encode(np.ascontiguousarray(array, "<f8").tobytes()).decode()


def _from_text(text):
    if len(text) > 12 * MAX_NUMBERS:
        raise ValueError(f"A table holds {MAX_NUMBERS} numbers at most.")
    return np.frombuffer(base64.b64decode(text, validate=True), "<f8").copy()
