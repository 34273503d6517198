"""Problems of DeepXDE and PINNacle, by their names in `docs/declared.md`.

Each is declared as in its page or program, with smaller tables.
"""

import functools

from examples.public_examples import (
    deepxde_evolving,
    deepxde_integral,
    deepxde_inverse,
    deepxde_steady,
    pinnacle,
)
from examples.public_examples.common import GALLERY, declared_by
from examples.public_examples.deepxde_inverse import TRUE
from examples.public_examples.misses import missed
from examples.public_examples.pinnacle import EXAM

__all__ = ["DECLARED", "EXAM", "PUBLISHED", "TRUE", "missed", "problem_of"]

DECLARED = deepxde_steady.DECLARED | deepxde_evolving.DECLARED
DECLARED |= deepxde_integral.DECLARED
DECLARED |= deepxde_inverse.DECLARED | pinnacle.DECLARED

# Programs of the gallery whose problems other modules declare.
SHARED = {"kovasznay", "own_rule", "resume"}

# Dict from functions that declare each problem once to names.
PUBLISHED = {declare: row for row, declare in (DECLARED | EXAM).items()}
PUBLISHED |= {
    declared_by(f"examples/gallery/{name}.py"): name
    for name in sorted(GALLERY - SHARED)
}


@functools.cache
def problem_of(declare):
    """Return a problem, which is declared once in a test session."""
    return declare()
