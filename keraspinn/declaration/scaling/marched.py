"""How large fields become that start at one end of one coordinate: SciPy follows them.

What an initial value problem comes to is not said by its terms: an epidemic is a
thousand times its first cases, and a resonance grows with each swing.
"""

import warnings

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import sampled
from keraspinn.declaration.scaling.offsets import shifted
from keraspinn.declaration.terms import RESIDUAL
from keraspinn.expressions import NormalComponent, Parameter
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes

# Tolerances that are tried until two lead to the same, within a factor: what differs
# more grows from rounding. By their signs starts are missed both ways: a pendulum that
# stands on its head may fall to either side.
RELATIVE, AGREED = (1e-4, -1e-6, 1e-8), 1.5
ABSOLUTE = 1e-2  # of these, and of the sizes
ZERO = 1e-10  # of what is expected, below which a field is zero
USED_UP = 1e-200  # below which a value is zero: of less LSODA's Jacobian is NaN
STEPS = 500  # at least, so that a narrow pulse is met
EVALUATIONS = 20_000  # of the equations, after which they are left
CLOSE = 1e-9  # of an interval, within which a point is its end


def marched_sizes(domain, terms, offsets, expected, fixed):
    """Dict from names of fields to their largest absolute values.

    Args:
        domain, terms, offsets, expected, fixed: As for `coarse.coarse_sizes`.

    Returns:
        The dict; empty where conditions do not say all at one end of one coordinate,
        equations cannot be solved for the highest derivatives, or a field leaves all
        bounds on its way. A field that is next to nothing is 0.
    """
    axis = [k for k, symbol in enumerate(domain.coordinates) if symbol not in fixed]
    ends = _ends(domain, terms, *axis) if len(axis) == 1 else None
    if ends is None:
        return {}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            system = _System(domain, terms, list(expected), offsets, fixed)
            rate = 1 / domain.half[axis[0]]
            scales = [expected[name] * rate**order for name, order in system.state]
            reached = _settled(system, ends, np.array(scales))
    except (ArithmeticError, NameError, NotImplementedError, TypeError, ValueError):
        return {}  # NumPy has no function for it, among others
    return {
        name: size if size > ZERO * expected[name] else 0.0
        for (name, order), size in zip(system.state, reached.tolist(), strict=True)
        if not order
    }


def _settled(system, ends, scales):
    """The largest absolute values of the state, where two tolerances agree on them."""
    least, before = ZERO * scales, None
    for relative in RELATIVE:
        reached = system.largest(*ends, relative, ABSOLUTE * abs(relative) * scales)
        found = np.maximum(reached, least)
        if before is not None and np.all(
            np.maximum(found, before) <= AGREED * np.minimum(found, before)
        ):
            return reached
        before, scales = found, np.minimum(found, scales)
    raise ValueError("what grows from rounding")


def _ends(domain, terms, axis):
    """Where all conditions hold, and the other end; `None` if there is no such pair.

    Nor is there where an unknown number is told by data: it starts from anything.
    """
    every = terms.values()
    if any(term.regions for term in every) or (
        any(term.table is not None for term in every)
        and any(e.has(Parameter) for term in every for e in term.expressions)
    ):
        return None
    blocks = [b for n, t in terms.items() if n != RESIDUAL for b in t.blocks]
    if not blocks:
        return None
    relative = sampled(domain, blocks, 1)[:, axis] - domain.centre[axis]
    half = domain.half[axis]
    for side in (-half, half):
        if np.all(abs(relative - side) < CLOSE * half):
            return domain.centre[axis] + side, domain.centre[axis] - side
    return None


class _System:
    """Equations that are solved for their highest derivatives, and what they start at.

    Attributes:
        state: Pairs of a field's name and the order of a derivative, below its highest.

    Raises:
        ValueError: If they cannot be solved for these, or starts do not say all.
    """

    def __init__(self, domain, terms, field_names, offsets, fixed):
        (coordinate,) = [s for s in domain.coordinates if s not in fixed]
        given = [t for n, t in terms.items() if n != RESIDUAL and t.table is None]
        equations = [shifted(e, offsets) for e in terms[RESIDUAL].pointwise]
        starts = [shifted(e, offsets) for term in given for e in term.pointwise]
        orders, stand_ins, symbols = dict.fromkeys(field_names, 0), dict(fixed), {}
        for node in distinct_nodes(equations + starts):
            if isinstance(node, (At, NormalComponent)):
                raise ValueError("a field at another point, or a normal")
            if isinstance(node, Parameter):
                stand_ins[node] = sp.Float(node.initial)
            elif isinstance(node, (sp.Derivative, AppliedUndef)):
                name, index = field_and_index(node, domain.coordinates)
                key = name, sum(index)
                orders[name] = max(orders[name], sum(index))
                stand_ins[node] = symbols.setdefault(key, sp.Dummy())
        if not all(orders.values()):
            raise ValueError("a field that follows the others at once")
        self.state = [(name, k) for name in field_names for k in range(orders[name])]
        own = [symbols.setdefault(key, sp.Dummy()) for key in self.state]
        highest = [symbols[key] for key in orders.items()]
        # NonlinearError, where that is what they are, is a ValueError.
        pair = sp.linear_eq_to_matrix(
            [e.xreplace(stand_ins) for e in equations], highest
        )
        self._equations = sp.lambdify([coordinate, *own], pair, "numpy", cse=True)
        pair = sp.linear_eq_to_matrix([e.xreplace(stand_ins) for e in starts], own)
        self._starts = sp.lambdify([coordinate], pair, "numpy")

    def largest(self, start, end, relative, absolute):
        """The largest absolute values of the state between two ends, an array."""
        from scipy.integrate import solve_ivp  # a tenth of a second to load

        self._count = 0
        matrix, source = self._starts(start)
        first = np.linalg.solve(matrix, source)[:, 0]
        # What the start decides by its last digits is no size, though steps agree.
        first *= 1 + relative * (-1.0) ** np.arange(len(first))
        found = solve_ivp(
            self._slopes,
            (start, end),
            first,
            method="LSODA",
            max_step=abs(end - start) / STEPS,
            rtol=abs(relative),
            atol=absolute,
        )
        if found.status:
            raise ValueError(found.message)
        if not np.isfinite(found.y).all():
            raise ValueError("values that are not finite")
        return abs(found.y).max(axis=1)

    def _slopes(self, place, values):
        self._count += 1
        if self._count > EVALUATIONS:
            raise ValueError("too many steps")
        values = np.where(abs(values) < USED_UP, 0.0, values)
        highest = np.linalg.solve(*self._equations(place, *values))
        known = dict(zip(self.state, values, strict=True))
        rates = iter(highest[:, 0])
        return [
            known[name, order + 1] if (name, order + 1) in known else next(rates)
            for name, order in self.state
        ]
