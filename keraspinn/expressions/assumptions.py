"""What was assumed about a symbol, in as few words as SymPy needs."""

import sympy as sp

# From the most telling to what SymPy deduces from the others.
NAMES = (
    "positive",
    "negative",
    "nonnegative",
    "nonpositive",
    "zero",
    "nonzero",
    "even",
    "odd",
    "prime",
    "composite",
    "integer",
    "noninteger",
    "rational",
    "irrational",
    "algebraic",
    "transcendental",
    "imaginary",
    "antihermitian",
    "real",
    "complex",
    "hermitian",
    "infinite",
    "finite",
    "polar",
    "extended_positive",
    "extended_negative",
    "extended_nonnegative",
    "extended_nonpositive",
    "extended_nonzero",
    "extended_real",
)


def shortest_assumptions(deduced):
    """Returns a few assumptions from which SymPy deduces all the given ones.

    Args:
        deduced: Dict of all assumptions of a symbol, such as `symbol.assumptions0`.
    """
    kept = {name: deduced[name] for name in NAMES if name in deduced}
    closure = sp.Symbol("_", **kept).assumptions0
    for name in reversed(list(kept)):
        fewer = {key: value for key, value in kept.items() if key != name}
        if sp.Symbol("_", **fewer).assumptions0 == closure:
            kept = fewer
    return kept
