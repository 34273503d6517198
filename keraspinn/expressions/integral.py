"""Integrals over a part of the domain, as numbers in an equation."""

import sympy as sp


class Region(sp.Atom):
    """Where an integral is taken, as plain data that the geometry understands.

    Args:
        text: The region in JSON, as `keraspinn.integral` writes it.
    """

    __slots__ = ("text",)

    def __new__(cls, text):
        self = super().__new__(cls)
        self.text = text
        return self

    def __getnewargs__(self):
        return (self.text,)

    def _hashable_content(self):
        return (self.text,)

    def _sympystr(self, printer):
        return self.text


class PartIntegral(sp.Expr):
    """The integral of an expression over a part of the domain, one number.

    Args:
        integrand: SymPy expression in the fields and coordinates.
        region: The `Region`.

    Example:

    >>> x = sp.Symbol("x")
    >>> PartIntegral(x**2, Region('{"over": "interior"}'))
    integral(x**2)
    """

    is_commutative = True

    def __new__(cls, integrand, region, **options):
        return super().__new__(cls, integrand, region)

    @property
    def integrand(self):
        """What is integrated."""
        return self.args[0]

    @property
    def region(self):
        """The `Region` that it is integrated over."""
        return self.args[1]

    def doit(self, **hints):
        return self.func(self.integrand.doit(**hints), self.region)

    def _eval_derivative(self, symbol):
        return sp.S.Zero

    def _sympystr(self, printer):
        return f"integral({printer._print(self.integrand)})"

    def _latex(self, printer):
        return rf"\int {printer._print(self.integrand)}"
