"""Limits for expressions from a file.

They exclude trees that no problem needs and SymPy cannot process, such as trees
deeper than Python's stack. Time and memory are not limited: simplifying
`9**9**9**9` does not end.
"""

MAX_DEPTH = 100
"""Levels of nesting, inside Python's recursion limit: SymPy's methods recurse."""

MAX_NODES = 10_000
"""Nodes in one tree, counted per visit, so that shared lists count each time."""

MAX_DIGITS = 300
"""Decimal digits of an integer; keeps every literal within float64's range."""

MAX_PRECISION = 1_100
"""Bits of a SymPy float, enough for `MAX_DIGITS`."""

MAX_FLOAT_TEXT = 400
"""Characters of a float, enough for `MAX_PRECISION` with sign and exponent."""

MAX_NAME = 200
"""Characters of a name; formulas with longer ones are unreadable."""

MAX_COORDINATES = 32
"""Arguments of a field: more coordinates than any domain has."""

MAX_ORDER = 64
"""Order of a derivative: higher Taylor coefficients overflow."""
