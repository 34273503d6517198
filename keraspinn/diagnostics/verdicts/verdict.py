"""Verdict on a trained model: error estimates, and whether to trust them."""

import dataclasses
import math

from keraspinn.common.html import paragraphs, table
from keraspinn.diagnostics.verdicts.report import LEFT, percent, report

# Factor of an estimate up to which an error is possible where most of the residuals are
# unexplained: those of porous media with a dry part were 4 times as large.
SEVERAL = 4.0
# Slack of a field that is named, relative to the largest.
MOST = 0.5


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Estimated errors of a trained model, from its equations alone.

    `print` explains the numbers.

    Args:
        errors: Dict from names of fields to the estimated relative L2 error; NaN where
            it is unknown. Relative to the field, or to three of its standard
            deviations if that is less.
        misfits: Dict from names of equations and conditions to the root mean square of
            their residual, relative to that of their largest term on the face or
            inside, whichever is larger. An equation of one term, q' = 0, is measured
            by its expected size if that is larger.
        left: The same of the residual that the correction leaves at other points.
        tolerance: Largest error of a field that is trusted.
        equations: Names of the equations, the first of `misfits`.
        second_order: Whether the model was compiled with a second-order optimizer.
        measured: Names of the `Data`.
        underdetermined: Sentence on a missing condition, empty if none is missing.
        sums: Dict from names of equations and conditions with integrals along a
            coordinate to their change with more quadrature points, relative to the
            largest term.
        slacks: Dict from names of fields to the relative change that leaves every
            residual as large as it is, if the problem is nearly underdetermined; empty
            otherwise.
        unreliable: Sentence on why the declaration cannot be trusted, or empty.
        contradictions: Dict from names of conditions and `Data` that contradict the
            rest to the systematic part of the residual that no field removes, relative
            to their largest term.
        undetermined: Sentence on unknown parameters that the data do not identify, or
            empty.
        quantities: Dict from names of derived quantities to their estimated relative
            error, NaN where it is unknown.
        causes: Sentences on likely causes that were detected.
        has_time: Whether the problem has a time coordinate.
        of_energy: Whether an energy is minimised.
        is_unique: Whether no other solution is likely: the energy is convex, or the
            equations are linear or hold an initial value problem.
        shifts: Dict from names of fields to what they are determined up to, as
            `"a constant"`; the errors do not count it.
        is_unexplained: Whether the correction leaves more than half of the residuals,
            so that an error may be several times its estimate.
        moves: Dict from names of unknown parameters to their relative change if all
            equations held, 0 within the deviation by noise; NaN where it is unknown.
        unproven: Estimates where `errors` are unknown, a dict; they can be far too
            small.
        windows: Largest estimated relative error of a field in each time window, for a
            model by `march`; empty otherwise.

    Example:

    >>> verdict = Verdict({"u": 0.8}, {"wave": 0.02}, {"wave": 1e-4}, 0.05, ("wave",))
    >>> verdict.trusted
    False
    >>> print(verdict)
    Not to be trusted.
    Estimated errors: u 80 %.
    Largest residual: 'wave', 2 % of its largest term.
    Equations and conditions determine another field, ...
    """

    errors: dict[str, float]
    misfits: dict[str, float]
    left: dict[str, float]
    tolerance: float
    equations: tuple[str, ...]
    second_order: bool = False
    measured: tuple[str, ...] = ()
    underdetermined: str = ""
    sums: dict[str, float] = dataclasses.field(default_factory=dict)
    slacks: dict[str, float] = dataclasses.field(default_factory=dict)
    unreliable: str = ""
    contradictions: dict[str, float] = dataclasses.field(default_factory=dict)
    undetermined: str = ""
    quantities: dict[str, float] = dataclasses.field(default_factory=dict)
    causes: tuple[str, ...] = ()
    has_time: bool = False
    windows: tuple[float, ...] = ()
    shifts: dict[str, str] = dataclasses.field(default_factory=dict)
    of_energy: bool = False
    is_unique: bool = True
    is_unexplained: bool = False
    moves: dict[str, float] = dataclasses.field(default_factory=dict)
    unproven: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def error(self) -> float:
        """Largest error of a field or parameter, infinite where one is unknown."""
        return _largest([*self.errors.values(), *self.moves.values()])

    @property
    def slack(self) -> float:
        """Largest of the `slacks`, 0 if there are none."""
        return _largest(self.slacks.values())

    @property
    def open_fields(self) -> tuple[str, ...]:
        """Names of the fields with the largest `slacks`."""
        least = MOST * self.slack
        return tuple(name for name, slack in self.slacks.items() if slack >= least > 0)

    @property
    def faults(self) -> list[str]:
        """Sentences on faults that no training mends."""
        sentences = self.unreliable, self.underdetermined, self.undetermined
        return [sentence for sentence in sentences if sentence]

    @property
    def decided(self) -> bool:
        """True if equations, conditions and data agree once the model is corrected."""
        left = _largest(self.left[name] for name in self.equations)
        return left <= LEFT and not self.contradictions

    @property
    def trusted(self) -> bool:
        """True if the error could be estimated and is within the tolerance."""
        error = self.error
        if self.is_unexplained:
            left = _largest(e for n, e in self.left.items() if n not in self.equations)
            # A slack follows from all residuals, explained or not.
            corrected = (e for n, e in self.errors.items() if e != self.slacks.get(n))
            several = SEVERAL * _largest([*corrected, *self.moves.values()])
            error = max(error, several, left)
        largest = max(error, _largest(self.sums.values()), self.slack)
        return self.decided and largest <= self.tolerance and not self.faults

    def __str__(self):
        return report(self)

    __repr__ = __str__

    def _repr_html_(self):
        rows = [(name, percent(misfit)) for name, misfit in self.misfits.items()]
        return paragraphs(str(self)) + table(("Residual", "of its largest term"), rows)


def _largest(numbers):
    """Return the largest number, 0 of none, infinite if one is not finite."""
    return max((n if math.isfinite(n) else math.inf for n in numbers), default=0.0)
