"""How large fields become that start at one end of one coordinate: SciPy follows them.

What an initial value problem comes to is not said by its terms: an epidemic is a
thousand times its first cases, and a resonance grows with each swing.
"""

import warnings

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.expressions import Parameter
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.spec.offsets import shifted
from keraspinn.spec.sampled import sampled
from keraspinn.spec.terms import RESIDUAL

RELATIVE, ABSOLUTE = 1e-4, 1e-6  # tolerances, the other one of what is expected
STEPS = 500  # at least, so that a narrow pulse is met
EVALUATIONS = 20_000  # of the equations, after which they are left
CLOSE = 1e-9  # of an interval, within which a point is its end


def marched_sizes(domain, terms, offsets, expected, fixed):
    """Dict from names of fields to their largest absolute values.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        offsets: Dict from names of fields to what they are measured from.
        expected: Dict from names of all fields to sizes that are about right.
        fixed: Dict from coordinates that nothing is derived by to values of theirs.

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
            reached = system.largest(*ends, ABSOLUTE * np.array(scales))
    except (ArithmeticError, NotImplementedError, TypeError, ValueError):
        return {}  # NumPy has no function for it, among others
    return {
        name: size if size > ABSOLUTE * expected[name] else 0.0
        for (name, order), size in zip(system.state, reached.tolist(), strict=True)
        if not order
    }


def _ends(domain, terms, axis):
    """Where all conditions hold, and the other end; `None` if there is no such pair."""
    if any(term.regions for term in terms.values()):
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
            if isinstance(node, At):
                raise ValueError("a field at another point")
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
        self._count = 0

    def largest(self, start, end, tolerances):
        """The largest absolute values of the state between two ends, an array."""
        from scipy.integrate import solve_ivp  # a tenth of a second to load

        matrix, source = self._starts(start)
        found = solve_ivp(
            self._slopes,
            (start, end),
            np.linalg.solve(matrix, source)[:, 0],
            method="LSODA",
            max_step=abs(end - start) / STEPS,
            rtol=RELATIVE,
            atol=tolerances,
        )
        if found.status or not np.isfinite(found.y).all():
            raise ValueError(found.message)
        return abs(found.y).max(axis=1)

    def _slopes(self, place, values):
        self._count += 1
        if self._count > EVALUATIONS:
            raise ValueError("too many steps")
        highest = np.linalg.solve(*self._equations(place, *values))
        known = dict(zip(self.state, values, strict=True))
        rates = iter(highest[:, 0])
        return [
            known[name, order + 1] if (name, order + 1) in known else next(rates)
            for name, order in self.state
        ]
