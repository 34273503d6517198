"""Fields of a problem, `sympy.Function("u")(x, y)`."""

from sympy.core.function import AppliedUndef

# SymPy's class of functions without a formula, applied to arguments.
Field = AppliedUndef
