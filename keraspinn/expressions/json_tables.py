"""Saved forms of tables, with numbers as base64 text."""

import base64

import numpy as np

from keraspinn.expressions.json_checks import checked_list, checked_name, integer
from keraspinn.expressions.tabulated import MAX_NUMBERS, Tabulated


def table_to_json(table):
    """Return a `Tabulated` as plain data: little-endian float64 in base64."""
    return {
        "axes": [_to_text(axis) for axis in table.axes],
        "values": _to_text(table.values),
        "degree": table.degree,
        "name": table.name,
        "orders": list(table.orders),
    }


def table_from_json(axes, values, degree, name, orders):
    """Rebuild a `Tabulated` from the entries of its saved form.

    Raises:
        ValueError: If they do not form a table; likewise `TypeError`, `IndexError`.
    """
    axes = tuple(map(_from_text, checked_list(axes, 3)))
    values = _from_text(values).reshape([len(axis) for axis in axes])
    table = Tabulated(axes, values, degree, checked_name(name))
    for axis, order in zip(range(len(axes)), orders, strict=True):
        for _ in range(integer(order, 0, 64)):
            table = table.differentiated(axis)
    return table


def _to_text(array):
    return base64.b64encode(np.ascontiguousarray(array, "<f8").tobytes()).decode()


def _from_text(text):
    if len(text) > 12 * MAX_NUMBERS:
        raise ValueError(f"A table holds {MAX_NUMBERS} numbers at most.")
    return np.frombuffer(base64.b64decode(text, validate=True), "<f8").copy()
