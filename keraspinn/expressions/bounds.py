"""Bounds on an expression from a file.

They keep out what no problem needs and SymPy cannot take, such as trees deeper than
Python's stack. Time and memory are not bounded: SymPy takes for ever to simplify
`9**9**9**9`.
"""

MAX_DEPTH = 100
"""Nesting, well inside Python's recursion limit: SymPy's own methods recurse."""

MAX_NODES = 10_000
"""Nodes in one tree, counted as visited, so that shared lists count each time."""

MAX_DIGITS = 300
"""Decimal digits of an integer, which keeps every literal within float64's range."""

MAX_PRECISION = 1_100
"""Bits of a SymPy float, enough for the digits above."""

MAX_FLOAT_TEXT = 400
"""Characters of a float, enough for the precision above with sign and exponent."""

MAX_NAME = 200
"""Characters of a name; formulas printed with longer ones cannot be read."""

MAX_COORDINATES = 32
"""Arguments of a field: more coordinates than any domain has."""

MAX_ORDER = 64
"""Order of a derivative: Taylor coefficients of higher order overflow anyway."""
