"""Integration of initial value problems: coarse for magnitudes, fine for errors."""

import warnings

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import run_at
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.expressions import At, Interpolation, NormalComponent, Parameter, Program
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.field import Field
from keraspinn.expressions.nodes import distinct_nodes

# Relative errors of a step; the absolute one is this part of the magnitude so far.
STEP_ERRORS = 1e-4, 1e-5
# The same of fields that a trained model is compared with.
FINE_ERRORS = 1e-10, 1e-8
# Part of a field's magnitude from which on its errors are relative.
SMALL = 1e-4
# Largest difference of these fields, relative to them.
AGREEMENT = 1e-3
# Ratio of magnitudes by the first two, above which they are errors that have grown.
LARGEST_RATIO = 3.0
# Expected magnitude of a field that is zero, relative to the largest one.
NEGLIGIBLE = 1e-9
# Share of the interval in one step at most: a source may begin late.
LONGEST_STEP = 5e-3
# The same of fields that are compared at points between the steps. Of a narrower source
# the declaration warns.
FINE = {"max_step": 1e-3, "dense_output": True}
# Change over the interval that disturbs the second solution, relative to the expected
# magnitudes: a field that is lost in round-off and grows again differs then.
DISTURBANCE = 1e-18
# Distance from an end, relative to half of the interval, that is round-off.
ROUND_OFF = 1e-9
# Evaluations of four equations at most, which bounds the time.
MOST_EVALUATIONS = 10_000
# Largest magnitude: beyond, a field grows without bound.
LARGEST = 1e30
# Doublings of the interval that ends at the whole one.
DOUBLINGS = 20
# Growth in the last doubling, up to which a magnitude stands for later times, too.
SETTLED = 1.3


def integrated_magnitudes(domain, terms, offsets, expected, fixed, least):
    """Return the largest absolute value of each field, by name.

    Args:
        domain, terms, offsets, expected, fixed: As for `spectral_magnitudes`.
        least: Dict of magnitudes that follow from single equations and conditions. A
            beginning of the time may not show these.

    Returns:
        Dict of magnitudes, without fields that still grow after too many evaluations.
        Empty if there is no solution, and for problems other than ordinary differential
        equations that are linear in the highest derivatives and have initial values.
    """
    try:
        system = _InitialValueProblem(domain, terms, offsets, expected, fixed)
        loose, tight = (system.magnitudes(least, error) for error in STEP_ERRORS)
    except (TypeError, ValueError, np.linalg.LinAlgError):
        return {}
    ratios = [size / tight[f] for f, size in loose.items() if tight.get(f)]
    return loose if max(ratios, default=0.0) <= LARGEST_RATIO else {}


def integrated_fields(problem, scales, points, values):
    """Return the fields of an initial value problem, or `None` for other problems.

    A residual does not show every error: u = 0 solves u' = (t − 4) u, and a field that
    decays to almost zero before t = 4 may grow again.

    Args:
        problem: The `Problem`.
        scales: `Scales` with a size for every field.
        points: Coordinates, `(n, 1)`.
        values: Fields of a trained model there, arrays `(n,)`.

    Returns:
        List of arrays `(n,)`. `None`, too, if two solutions do not agree, as after a
        long chaotic time, or if there are too many steps.
    """
    sizes = {name: scales.field(name) for name in problem.field_names}
    how = problem.domain, problem.all_terms, scales.offsets, sizes, {}
    try:
        system, at = _InitialValueProblem(*how), points[:, 0]
        pairs = zip(FINE_ERRORS, (0.0, DISTURBANCE), strict=True)
        fields, others = (system.fields_at(at, *pair) for pair in pairs)
    except (TimeoutError, TypeError, ValueError, np.linalg.LinAlgError):
        return None
    offsets = np.array([[scales.offset(name)] for name in sizes])
    differences = fields, fields - others, fields - (np.array(values) - offsets)
    norms, doubts, errors = np.linalg.norm(differences, axis=2)
    # Or the model is far from both; u' = sqrt(u) has another solution than zero.
    is_known = (norms > 0) & (doubts <= np.maximum(AGREEMENT * norms, errors))
    return [*(fields + offsets)] if is_known.all() else None


class _InitialValueProblem:
    """Ordinary differential equations with conditions at one end of an interval.

    Its coordinate is the share of the interval, from 0 at the conditions to 1.

    Args:
        domain, terms, offsets, expected, fixed: As for `integrated_magnitudes`.

    Raises:
        ValueError: If the problem is of another kind.
    """

    def __init__(self, domain, terms, offsets, expected, fixed):
        # A coordinate with a derivative is not fixed: two of them raise `ValueError`.
        (self._column,) = np.flatnonzero([s not in fixed for s in domain.coordinates])
        self._fields = list(expected)
        scales, equations, conditions, ends = Scales({}, offsets=offsets), [], [], []
        for term in terms.values():
            is_partial = term.is_equation and term.blocks != domain.blocks("interior")
            if term.table or term.regions or is_partial:
                raise ValueError("There are data, integrals or equations on a part.")
            group = equations if term.is_equation else conditions
            group += map(scales.apply, term.pointwise)
            if not term.is_equation:
                ends += term.points(domain, 2)[:, self._column].tolist()
        orders, symbols = self._stand_ins(domain, equations + conditions)
        if not (conditions and all(orders.values())):
            raise ValueError("There are algebraic equations, or no conditions.")
        centre, half = domain.centre[self._column], domain.half[self._column]
        self._length = 2 * half * np.sign(centre - ends[0])
        distances = abs(centre - self._length / 2 - ends)
        if not self._length or max(distances) > ROUND_OFF * half:
            raise ValueError("Conditions stand elsewhere.")
        point = np.array([fixed.get(s, ends[0]) for s in domain.coordinates])
        pairs = [(f, k) for f, n in orders.items() for k in range(n)]
        self._sizes = np.array([SMALL * expected[f] / half**k for f, k in pairs])
        states = [sp.Symbol(f"{f} {k}") for f, k in pairs]
        self._lasts = np.cumsum([*orders.values()]) - 1
        self._firsts = self._lasts + 1 - [*orders.values()]
        highest = [sp.Symbol(f"{f} {orders[f]}") for f in self._fields]
        equations, conditions = (
            [e.xreplace(symbols) for e in group] for group in (equations, conditions)
        )
        self._rates = _solution_of(equations, highest, [*domain.coordinates, *states])
        initial = _solution_of(conditions, states, domain.coordinates)
        self._point, self._initial = point, initial(point)
        self._most = MOST_EVALUATIONS // max(1, len(states) // 4)
        self._source = 0.0

    def _stand_ins(self, domain, expressions):
        """Return the order of each field, and symbols for fields and derivatives."""
        orders, symbols = dict.fromkeys(self._fields, 0), {}
        for node in distinct_nodes(expressions):
            if isinstance(node, Parameter):
                symbols[node] = sp.Float(node.initial)
            elif isinstance(node, (At, NormalComponent, Interpolation)):
                raise ValueError("They hold shifted arguments, normals or tables.")
            elif isinstance(node, (sp.Derivative, Field)):
                field, index = field_and_index(node, domain.coordinates)
                order = index[self._column]
                orders[field] = max(orders[field], order)
                symbols[node] = sp.Symbol(f"{field} {order}")
        return orders, symbols

    @np.errstate(all="ignore")
    def magnitudes(self, least, error):
        """Return the largest absolute value of each field, by name.

        After too many evaluations, fields that grow are left out.

        Args:
            least: As for `integrated_magnitudes`.
            error: Relative error of a step.

        Raises:
            ValueError: If there is no solution.
        """
        begin, share, state = 0.0, 0.5**DOUBLINGS, self._initial
        self._evaluations = self._most
        reached, growth = abs(state), np.ones_like(state)
        small = error * share * abs(self._derivative(0.0, state))
        try:
            while begin < 1:
                last = reached
                sizes = np.maximum(last, small)
                values = self._integrated(state, sizes, error, begin, share).y
                state, reached = values[:, -1], np.maximum(last, abs(values).max(1))
                begin, share, growth = share, 2 * share, reached / last
        except TimeoutError:
            if not begin:
                raise ValueError("It varies too fast.") from None
            floor = [least.get(field, 0.0) for field in self._fields]
            reached[self._firsts] = np.maximum(reached[self._firsts], floor)
            reached[~(growth <= SETTLED)] = np.nan
        largest = zip(self._fields, reached[self._firsts].tolist(), strict=True)
        return {field: size for field, size in largest if np.isfinite(size)}

    def fields_at(self, points, error, disturbance):
        """Return the fields less their offsets, each an array `(n,)`.

        Args:
            points: Coordinates, `(n,)`.
            error: Relative error of a step.
            disturbance: Relative change over the interval, added to the derivatives.

        Raises:
            TimeoutError: After too many evaluations.
            ValueError: If there is no solution.
        """
        self._evaluations, self._source = self._most, disturbance / SMALL * self._sizes
        solution = self._integrated(self._initial, self._sizes, error, **FINE)
        shares = (points - self._point[self._column]) / self._length
        return solution.sol(shares)[self._firsts]

    def _integrated(self, state, sizes, error, begin=0.0, end=1.0, **how):
        """Return SciPy's solution between two shares of the interval.

        Raises:
            ValueError: If there is no solution.
        """
        from scipy.integrate import solve_ivp

        least = NEGLIGIBLE * (sizes.max() or 1.0)
        how = {"max_step": LONGEST_STEP, "rtol": error} | how
        how["atol"] = error * np.where(sizes > 0, sizes, least)
        with warnings.catch_warnings(action="ignore"):  # callers handle a failure
            solution = solve_ivp(self._derivative, (begin, end), state, "LSODA", **how)
        if not (solution.success and (abs(solution.y) < LARGEST).all()):
            raise ValueError("There is no solution.")
        return solution

    def _derivative(self, share, state):
        """Return derivatives of all states by the share of the interval.

        Raises:
            TimeoutError: After too many evaluations.
        """
        self._evaluations -= 1
        if self._evaluations < 0:
            raise TimeoutError
        point = self._point.copy()
        point[self._column] += share * self._length
        rates = np.append(state[1:], 0.0)
        rates[self._lasts] = self._rates(np.append(point, state))
        return self._length * rates + self._source


def _solution_of(expressions, unknowns, known):
    """Return a function from values of known symbols to the unknowns' values.

    Args:
        expressions: SymPy expressions, linear in the unknowns, zero for the solution.
        unknowns: As many symbols.
        known: The other symbols.

    Raises:
        ValueError: If they are not linear in these, or not as many.
    """
    matrix, rests = sp.linear_eq_to_matrix(expressions, unknowns)
    others = (matrix.free_symbols | rests.free_symbols) - {*known}
    if others or len(expressions) != len(unknowns):
        raise ValueError("They are not as many as unknowns, or hold others.")
    program = Program([*rests, *matrix], known)

    def solved(values):
        numbers = np.array(run_at(program, known, values)).reshape(-1, len(unknowns))
        return np.linalg.solve(numbers[1:], numbers[0])

    return solved
