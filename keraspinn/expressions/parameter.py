"""Unknown coefficients: SymPy symbols with an initial value."""

from typing import Self

import sympy as sp

from keraspinn.common.checks import finite_number


class Parameter(sp.Symbol):
    """Unknown coefficient of an equation, to be identified by training.

    A parameter is a SymPy symbol. In a model it becomes a trainable scalar that starts
    at `initial`. Two parameters are equal if their names, initial values and
    assumptions agree; a parameter never equals a plain symbol.

    Args:
        name: String, the parameter's name.
        initial: Finite real number, the value at which training starts, in the units
            of the equation.
        **assumptions: SymPy assumptions, such as `positive=True`. They tell SymPy
            how to simplify; they do not constrain the trained value.

    Raises:
        TypeError: If `name` is not a string.
        ValueError: If `initial` is not a finite real number.

    Example:

    An inverse problem: the viscosity of Burgers' equation is not known.

    >>> import sympy as sp
    >>> x, t = sp.symbols("x t")
    >>> u = sp.Function("u")(x, t)
    >>> nu = Parameter("nu", initial=0.1)
    >>> burgers = sp.Eq(u.diff(t) + u * u.diff(x), nu * u.diff(x, 2))
    >>> nu in burgers.free_symbols
    True
    """

    __slots__ = ("initial",)

    def __new__(
        cls, name: str, initial: float | sp.Expr, **assumptions: bool | None
    ) -> Self:
        initial = finite_number(f"initial of Parameter '{name}'", initial)
        cls._sanitize(assumptions, cls)
        # Symbol's constructor caches by (name, assumptions) and would return an object
        # with another initial value. Dummy uses the uncached constructor too.
        self = sp.Symbol.__xnew__(cls, name, **assumptions)
        self.initial = initial
        return self

    def __getnewargs_ex__(self):
        return (self.name, self.initial), self._assumptions_orig

    def _hashable_content(self):
        return super()._hashable_content() + (self.initial,)

    def _sympyrepr(self, printer):
        return f"Parameter({self.name!r}, initial={self.initial})"
