"""DeepXDE's and PINNacle's problems, by the names of `docs/declared.md`'s rows.

Each is written as its page or program writes it, with fewer numbers in its tables.
"""

from public_examples import (
    deepxde_evolving,
    deepxde_integral,
    deepxde_inverse,
    deepxde_steady,
    pinnacle,
)
from public_examples.deepxde_inverse import TRUE
from public_examples.misses import missed
from public_examples.pinnacle import EXAM

__all__ = ["DECLARED", "EXAM", "TRUE", "missed"]

DECLARED = deepxde_steady.DECLARED | deepxde_evolving.DECLARED
DECLARED |= deepxde_integral.DECLARED
DECLARED |= deepxde_inverse.DECLARED | pinnacle.DECLARED
