"""Estimate of a trained model's errors without a reference solution."""

import dataclasses
from collections.abc import Mapping

import numpy as np
import sympy as sp
from keras import ops

from keraspinn import backend
from keraspinn.common.checks import check_count, positive_number
from keraspinn.declaration.scaling import find, offsets
from keraspinn.declaration.scaling.time_integration import integrated_fields
from keraspinn.declaration.terms import RESIDUAL
from keraspinn.diagnostics.verdicts import causes, extents
from keraspinn.diagnostics.verdicts.correction import correction, row_norms, total_norm
from keraspinn.diagnostics.verdicts.energy_gap import energy_verdict
from keraspinn.diagnostics.verdicts.extents import rms, without_largest, without_levels
from keraspinn.diagnostics.verdicts.quantities import quantity_errors
from keraspinn.diagnostics.verdicts.regrowth import regrown
from keraspinn.diagnostics.verdicts.report import LEFT
from keraspinn.diagnostics.verdicts.sensitivity import DAMPING, SOME, amplification
from keraspinn.diagnostics.verdicts.sums import missed_by_sums
from keraspinn.diagnostics.verdicts.verdict import Verdict
from keraspinn.networks import TimeWindows
from keraspinn.training.deviation import deviations_of
from keraspinn.training.model import PINNModel, check_one_model
from keraspinn.training.systematic import systematic_part
from keraspinn.training.tangent import FIELDS, Tangent

# Points inside.
INSIDE = 1000
# Points on each face.
ON_A_FACE = 100
# Smallest share of the residuals that a correction explains: the rest may be round-off.
LEAST_EXPLAINED = 0.1
# Amplification of residuals, beyond which a problem is nearly underdetermined: most
# that converge have 10 to 5,000, a steady front at an unknown position 2e5. Nonlinear
# ones that converge have up to 430, a Fisher front at a wrong position 6,000.
OPEN = 1e4
OPEN_NONLINEAR = 3e3
# Share of the residuals that the correction may leave: of all, and without the largest.
UNEXPLAINED = 0.5
# Share of points whose residuals may outweigh all others: beside a kink, or an edge
# where a value meets a flux that disagrees.
RARE = 0.01
# Factor of the tolerance, up to which an error is estimated by more points.
ESTIMABLE = 10.0
# Factor of the points where it leaves more in a model to be trusted. A flow was 4 %
# wrong at an estimate of 0.9 % by 1,000 points, which the correction fits one by one,
# and of 4 % by 4,000.
MORE = 4
# Factor of the units of a network whose tangent space explains too little.
WIDER = 4
# Factor of the points at which a correction is judged. Nearly all of a residual may be
# in a layer that holds one point in a hundred.
JUDGES = 8
# Residual left, relative to the tolerance, from which on that counts.
MATTERS = 0.1
# Most entries of the Jacobian at these points.
LARGEST = 2e8


def verdict(
    model: PINNModel,
    tolerance: float = 0.05,
    points: int = INSIDE,
    points_on_face: int = ON_A_FACE,
    quantities: Mapping[str, sp.Expr] | None = None,
) -> Verdict:
    """Estimate a model's errors without a reference, and decide whether to trust it.

    A residual may be small while the field is wrong everywhere, as for a wave. So the
    linearised problem is solved for the change d of the parameters that minimises
    r − J d, with r the residuals of equations and conditions at fresh points and J
    their Jacobian, in double precision. The damping is the one that serves other points
    best. Rows of each expression are divided by the norm of their part of J: neither
    units nor loss weights count. Rows of `Data` have a hundredth of that weight, so
    that noise does not bend the equations. The fields' change ∂u/∂θ d is Newton's step
    in the network's tangent space. In linear problems it is the error, as far as that
    space holds it, and in others a first step. Where it leaves more than half of the
    residuals at other points, the tangent space of an `MLP` with more units is used.

    No error is printed, and `errors` are NaN, where the correction fails: it leaves
    residuals at other points, conditions or data contradict the equations, or a
    condition is missing. Nor is a model trusted if the problem is underdetermined (a
    front at any position), or unreliable, or if data do not identify a parameter.

    Initial value problems of ordinary differential equations are integrated, and their
    fields compared. The estimate does not include errors caused by noisy `Data`;
    `PINNModel.parameter_deviation` estimates those of parameters. A field that a coarse
    solution has as zero, the velocity across a channel, is measured by a thousandth of
    its possible size, as residuals of linear and constant fields. The error of a field
    that varies little, as one in kelvin, is relative to three standard deviations.

    Args:
        model: A `PINNModel` of any precision, trained by any method.
        tolerance: Relative L2 error up to which a field is trusted.
        points: Number of points inside, more of them where residuals are large. Eight
            times as many judge the correction. An energy has four times as many.
        points_on_face: Number of points on each face.
        quantities: Optional dict from names to SymPy expressions in the fields, or
            `keraspinn.integral` terms, whose relative L2 error is estimated too.

    Returns:
        A `Verdict`.

    Raises:
        TypeError: If `model` is not a `PINNModel`.
        ValueError: If a number is not positive, or a quantity holds an unknown symbol.

    Example:

    ```python
    heat = kp.integral(-k * T.diff(x), over={x: 0})
    verdict = kp.diagnostics.verdict(model, quantities={"heat": heat})
    print(verdict)
    verdict.trusted, verdict.errors["T"], verdict.quantities["heat"]
    ```

    Reference:
        Linearised problem in the tangent space: Müller & Zeinhofer, "Achieving high
        accuracy with PINNs via energy natural gradient descent", arXiv 2302.13163.
        Scaling of rows: Wang, Yu & Perdikaris, "When and why PINNs fail to train: a
        neural tangent kernel perspective", arXiv 2007.14527.
    """
    check_one_model(model)
    positive_number("tolerance", tolerance)
    check_count("points", points)
    check_count("points_on_face", points_on_face)
    if model.problem.energy is not None:
        return energy_verdict(model, tolerance, MORE * points, quantities or {})
    with backend.double_precision():
        judged = JUDGES * points, tolerance
        few = Tangent.kept(model, points, points_on_face)
        first = latest = _Measurement(model, few, *judged)
        result = latest.verdict(quantities or {})
        near = {"errors": latest.errors, "tolerance": ESTIMABLE * tolerance}
        explained = dataclasses.replace(result, is_unexplained=False, moves={}, **near)
        for other in (first.wider, first.finer):
            needed = latest.is_unexplained and explained.trusted
            if needed and (tangent := other(result)):
                least, known = latest.errors, latest.known_slacks
                latest = _Measurement(model, tangent, *judged)
                # Beside a singularity they scatter: 6e-4 and 1e-5 for an error of 5e-4.
                latest.errors = {n: max(e, latest.errors[n]) for n, e in least.items()}
                # What residuals do not see is known by now, or measured by few rows.
                latest.known_slacks, latest.first = known, first
                result = latest.verdict(quantities or {})
        return result


class _Measurement:
    """Residuals, correction and sizes that a verdict follows from.

    Args:
        model: The `PINNModel`.
        tangent: Its `Tangent`.
        judges: Number of points of equations at which the correction is judged.
        tolerance: Largest error of a field that is trusted.
    """

    def __init__(self, model, tangent, judges, tolerance):
        self.tolerance, self.first, self.known_slacks = tolerance, self, None
        self.model, self.tangent, self.problem = model, tangent, model.problem
        self.rows, self.batches = tangent.rows_by_residual(-1), tangent.draw(-2, judges)
        self.norms, weighted = row_norms(self.problem, self.rows)
        self.direction, self.values, self.changes, self.left = correction(
            tangent, self.rows, self.batches, weighted
        )
        for rows in (self.values, self.changes, self.left):
            rows[FIELDS] = without_levels(self.problem, self.batches, rows[FIELDS])
        sides = self.values, self.left
        how = self.norms, self.rows
        before, left = (total_norm(residuals, *how) for residuals in sides)
        self.is_unexplained = not left <= UNEXPLAINED * before < np.inf
        is_open = isinstance(model.network, TimeWindows) and self.is_unexplained
        # Errors by the remaining residuals accumulate there, too.
        self.factor = 1 / max(1 - left / before, LEAST_EXPLAINED) if is_open else 1
        self.coefficients = [float(v.numpy()) for v in model.coefficients.values()]
        # Scales in which every term has a size, even if training uses none.
        self.declared = self.problem.with_scales(self.problem.scales.fields).scales
        self.zeros = find.find_vanishing_fields(self.problem, self.declared)
        self.integrated = self._integrate()
        if self.integrated:
            self.corrected = max(self._errors()[0].values())
            pairs = zip(self.values[FIELDS], self.integrated, strict=True)
            self.changes[FIELDS] = [field - other for field, other in pairs]
            self.left[FIELDS], self.known_slacks, self.factor = self.integrated, {}, 1
        self.few, sizes = tangent.draw(-2), (self.declared, self.zeros)
        self.terms = extents.largest_terms(tangent.model, self.few, *sizes)
        terms = self.problem.terms.items()
        self.labels = {(n, k): name for n, t in terms for k, name in enumerate(t.names)}
        self.errors, self.sizes = self._errors()
        # Before it is trusted, a model's error must explain its usual residuals, too.
        usual, rest = (total_norm(residuals, *how, RARE) for residuals in sides)
        if max(self.errors.values()) <= tolerance:
            self.is_unexplained |= not rest <= UNEXPLAINED * usual
        self.is_unexplained &= not self.integrated

    def verdict(self, quantities):
        """Return the `Verdict`, whose slacks are measured unless they are known."""
        tolerance = self.tolerance
        misfits, left, contradictions = self._residuals(tolerance)
        errors, sizes = dict(self.errors), self.sizes
        moves = {p.name: errors.pop(p.name) for p in self.problem.parameters}
        sums = missed_by_sums(self.tangent.model, self.few, self.terms)
        moved = self.tangent, self.direction, self.batches
        derived = quantity_errors(quantities, *moved).items()
        is_missed = self.integrated and max(errors.values()) > 2 * self.corrected
        factor = np.nan if is_missed else self.factor
        result = Verdict(
            errors,
            misfits,
            left,
            tolerance,
            equations=tuple(self.problem.equations),
            second_order=self.model.trainer.is_second_order,
            measured=self.problem.measured,
            underdetermined=self.problem.underdetermined,
            sums={self.labels[key]: missed for key, missed in sums.items()},
            unreliable=self.problem.unreliable,
            contradictions=contradictions,
            has_time=self.problem.domain.time_coordinate is not None,
            shifts=offsets.free_shifts(self.problem),
            quantities={name: factor * e for name, e in derived},
            is_unique=causes.is_unique(self.problem),
            # Noise remains in any case.
            is_unexplained=self.is_unexplained and not self.problem.measured,
            windows=self._by_window(sizes),
            moves=moves,
        )
        # The correction hardly moves a front that could be anywhere.
        is_free = not result.is_unique and self._is_estimated(result)
        # An estimate just above the tolerance may miss as much as one below.
        is_close = dataclasses.replace(result, tolerance=ESTIMABLE * tolerance).trusted
        if (is_close or is_free) and all(sizes):
            how = DAMPING if is_close else SOME
            if (slacks := self.known_slacks) is None:
                slacks = self.first.slacks(sizes, how)
            self.known_slacks = slacks if is_close else None
            if result.trusted:  # an error that residuals do not see
                errors = {n: max(e, slacks.get(n, 0.0)) for n, e in errors.items()}
            result = dataclasses.replace(result, slacks=slacks, errors=errors)
        is_near = dataclasses.replace(result, moves={}).trusted
        if is_near and self.problem.parameters and self.problem.measured:
            deviations, _, sentence = deviations_of(self.tangent.model)
            steps = zip(moves, abs(self.direction[-len(moves) :]), strict=True)
            # Noise moves a parameter by about its deviation.
            moves = {n: moves[n] * (step > deviations[n]) for n, step in steps}
            result = dataclasses.replace(result, undetermined=sentence, moves=moves)
        if result.trusted:
            return result
        is_estimated = self._is_estimated(result)
        # One step from a field that is all wrong ends anywhere, if it is nonlinear.
        is_near = result.error < 1 or causes.is_linear(self.problem)
        result = dataclasses.replace(result, causes=self._causes(is_estimated, is_near))
        if is_estimated:
            return result
        return dataclasses.replace(
            result,
            errors=dict.fromkeys(errors, np.nan),
            moves=dict.fromkeys(moves, np.nan),
            unproven=errors | moves,
            quantities=dict.fromkeys(quantities, np.nan),
        )

    def wider(self, _):
        """Return the tangent of a wider network: this one may be at its best."""
        fits = type(self.model) is PINNModel and self._fits(WIDER**2)
        return fits and self.tangent.widened(WIDER)

    def finer(self, result):
        """Return the tangent with more points, if the residuals left matter."""
        matters = max(result.left.values()) > MATTERS * result.tolerance
        return matters and self._fits(MORE) and self.tangent.finer(MORE)

    def _fits(self, factor):
        """Return whether a Jacobian with this factor of entries fits memory."""
        entries = sum(j.size for pairs in self.rows.values() for _, j in pairs)
        return factor * entries <= LARGEST

    def _residuals(self, tolerance):
        """Return relative residuals, those that are left, and contradictory ones."""
        misfits, left, against = {}, {}, {}
        for (name, k), label in self.labels.items():
            largest = self.terms[name, k]
            residual, rest = self.values[name][k], self.left[name][k]
            misfit = _ratio(rms(residual), largest)
            misfits[label] = max(misfits.get(label, 0.0), misfit)
            remaining = _ratio(rms(without_largest(rest, RARE)), largest)
            left[label] = max(left.get(label, 0.0), remaining)
            if not self.problem.terms[name].is_equation:
                points = ops.convert_to_numpy(self.batches[name].points)
                share = systematic_part(points, rest, name in self.problem.measured)
                against[label] = max(against.get(label, 0.0), _ratio(share, largest))
        most = max(LEFT, tolerance)
        return misfits, left, {n: share for n, share in against.items() if share > most}

    def _errors(self):
        """Return relative errors of fields and parameters, and sizes of the fields."""
        problem, errors, sizes = self.problem, {}, []
        pairs = self.changes[FIELDS], self.left[FIELDS]
        for name, change, corrected in zip(problem.field_names, *pairs, strict=True):
            expected = self.declared.field(name)
            size = extents.extent(corrected, extents.has_zero(problem, name), expected)
            if name in self.zeros:
                size = max(size, extents.CONSTANT * expected)
            sizes.append(size)
            errors[name] = _ratio(rms(change), size) * self.factor
        moves = self.direction[self.tangent.size - len(self.coefficients) :]
        triples = zip(problem.parameters, self.coefficients, moves, strict=True)
        for parameter, value, move in triples:
            size = abs(value) or abs(float(parameter.initial)) or 1.0
            errors[parameter.name] = abs(float(move)) / size * self.factor
        return errors, sizes

    def _integrate(self):
        """Return integrated fields of an initial value problem, a list or `None`."""
        problem, points = self.problem, self.batches[RESIDUAL].points
        if problem.parameters or getattr(self.model.network, "jumps", None):
            return None  # they differ from the declaration
        points = np.asarray(points) * problem.scales.half + problem.scales.centre
        return integrated_fields(problem, self.declared, points, self.values[FIELDS])

    def _by_window(self, sizes):
        """Return the largest relative error of a field in each window, a tuple."""
        if not isinstance(self.model.network, TimeWindows):
            return ()
        problem, edges = self.problem, np.array(self.model.network.edges)
        time = problem.domain.time_coordinate
        column = problem.coordinates.index(time)
        centre, half = problem.scales.coordinates[time]
        errors = np.zeros(len(edges) - 1)
        homes = problem.field_terms.values()
        for names, change, size in zip(homes, self.changes[FIELDS], sizes, strict=True):
            points = ops.concatenate([self.batches[name].points for name in names])
            times = centre + half * ops.convert_to_numpy(points)[:, column]
            numbers = np.searchsorted(edges[1:-1], times)
            for number in np.unique(numbers):
                error = _ratio(rms(change[numbers == number]), size) * self.factor
                errors[number] = max(errors[number], error)
        return tuple(errors.tolist())

    def slacks(self, sizes, damping):
        """Return changes that residuals do not see, of parameters only without data."""
        names, values = self.problem.field_names, []
        # A field that is zero is compared with its expected scale.
        expected = [self.declared.field(n) if n in self.zeros else 0.0 for n in names]
        sizes = np.maximum(sizes, expected)
        if not self.problem.measured:
            names += tuple(parameter.name for parameter in self.problem.parameters)
            values = [abs(value) or 1.0 for value in self.coefficients]
        parts = self.tangent, self.rows, self.few, self.norms
        ratios = amplification(*parts, sizes, values, damping)
        least = OPEN if causes.is_linear(self.problem) else OPEN_NONLINEAR
        slacks = regrown(self.tangent, sizes, damping == DAMPING)
        if ratios.max() > least:
            changes = ratios * total_norm(self.values, self.norms, self.rows)
            pairs = zip(names, changes.tolist(), strict=True)
            slacks = {n: max(c, slacks.get(n, 0.0)) for n, c in pairs}
        return slacks

    def _is_estimated(self, result):
        """Return whether the errors are known, by the correction or an integration."""
        is_decided = result.decided or self.integrated
        against = result.underdetermined or result.unreliable or self.is_unexplained
        return is_decided and result.slack <= result.tolerance and not against

    def _causes(self, is_estimated, is_near):
        """Return sentences on likely causes of an untrusted result, a tuple.

        Args:
            is_estimated: Whether the correction holds, so that fields and parameters
                are known. Otherwise expected magnitudes replace those of fields, and
                parameters are compared with their initial values.
            is_near: Whether the correction says something about the scales.
        """
        problem, values = self.problem, self.coefficients
        if is_estimated:
            corrected = zip(problem.field_names, self.left[FIELDS], strict=True)
            pairs = corrected if is_near else ()
            sizes = {n: rms(u - problem.scales.offset(n)) for n, u in pairs}
            moves = self.direction[len(self.direction) - len(values) :]
        else:
            expected = problem.with_scales("auto").scales
            sizes = {name: expected.field(name) for name in problem.field_names}
            initial = [p.initial for p in problem.parameters]
            values, moves = initial, np.subtract(initial, values)
        return (
            *filter(None, [problem.poles]),
            *causes.wrong_scales(problem, sizes, self.zeros),
            *causes.moved_parameters(problem, values, moves, is_estimated),
        )


def _ratio(numerator, denominator):
    if np.isnan(numerator):
        return np.inf
    return numerator / denominator if denominator else (np.inf if numerator else 0.0)
