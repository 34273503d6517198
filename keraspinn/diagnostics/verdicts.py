"""Whether a trained network is near the solution, without knowing the solution."""

import dataclasses

import numpy as np
from keras import ops

from keraspinn import backend
from keraspinn.common.checks import check_count, positive_number
from keraspinn.declaration.conditions import Data
from keraspinn.declaration.scaling.find import given_sizes, vanishing
from keraspinn.declaration.terms import RESIDUAL
from keraspinn.diagnostics.extents import (
    CONSTANT,
    extent,
    has_zero,
    largest_terms,
    rms,
)
from keraspinn.diagnostics.sensitivity import amplification, missed_by
from keraspinn.diagnostics.sums import missed_by_sums
from keraspinn.optimizers.base import Optimizer
from keraspinn.optimizers.linear_solves import dense_solver
from keraspinn.training.model import PINNModel
from keraspinn.training.one_model import check_one_model
from keraspinn.training.tangent import FIELDS, Tangent

INSIDE, ON_A_FACE = 1000, 100
# Of the sum of squares of the rows below: that counts which leaves least at other
# points. Where the network resolves the solution all of them give the same error;
# where points are too few, as around a shock, little damping learns them by heart.
DAMPING = (1e-14, 1e-10, 1e-6)
# What the correction may leave of an equation, of the largest of its terms. A pattern
# of Gray and Scott's that was wrong by 69 % left a tenth.
LEFT = 0.05
# Of what the declaration lets expect, beyond which a field is measured by what
# conditions give it: one that is 1e4 for a start of 1 misses the start by nothing.
FAR = 30.0
# Of the amplification, beyond which a problem hardly says where its fields are: most
# that converge have 10 to 5,000, a steady front that may stand anywhere 2e5.
OPEN = 1e4
MOST = 0.5  # of what the field changes by that changes most there, to be named with it
SECOND = (
    "Go on with keraspinn.optimizers.SSBroyden() in float64; if that does not help, "
    "try other loss weights."
)
MORE = (
    "Go on while the loss falls. Where it stands, solve a long time in windows, look "
    "for a wrong sign or a condition that is missing, and try other loss weights."
)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """How far off a trained model is, estimated from its equations alone.

    Shown or printed, it says what the numbers mean.

    Args:
        errors: Dict from names of fields to the estimated L2 error, relative to the
            field or, if that is less, to three standard deviations of it.
        misfits: Dict from names of equations and conditions to the root mean square of
            what they miss, over that of the largest of their terms: a condition's
            on its face or inside the domain, whichever is larger. An equation of one
            term, q' = 0, is measured by what the declaration expects of it, if more.
        left: The same of what the correction that `errors` is made from leaves,
            at points that it was not made from.
        tolerance: Largest error of a field that is trusted.
        equations: Names of the equations, the first of `misfits`.
        second_order: Whether the model has an optimizer of the second order already.
        measured: Names of the `Data`, whose noise is not in `errors`.
        left_open: What the declaration leaves open, in words: a condition that is
            missing. Fields that differ by much then fulfil all that is declared.
        sums: Dict from names of equations and conditions with integrals along a
            coordinate to what more places in their sums change, of the largest term.
        slacks: Dict from names of fields to what they may change by together, relative
            as in `errors`, while equations and conditions miss no more than they do,
            if the problem is one that hardly determines its fields; empty if it is
            not, or if that was not asked.

    Example:

    >>> verdict = Verdict({"u": 0.8}, {"wave": 0.02}, {"wave": 1e-4}, 0.05, ("wave",))
    >>> verdict.trusted
    False
    >>> print(verdict)
    Not to be trusted.
    Estimated errors: u 80 %.
    'wave' misses most, 2 % of its largest term.
    Equations and conditions ask for another field, whatever the loss is. Go on with ...
    """

    errors: dict[str, float]
    misfits: dict[str, float]
    left: dict[str, float]
    tolerance: float
    equations: tuple[str, ...]
    second_order: bool = False
    measured: tuple[str, ...] = ()
    left_open: str = ""
    sums: dict[str, float] = dataclasses.field(default_factory=dict)
    slacks: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def error(self) -> float:
        """The largest of the fields' estimated errors, infinite if not finite."""
        return _largest(self.errors.values())

    @property
    def slack(self) -> float:
        """The largest of the fields' `slacks`, 0 if there are none."""
        return _largest(self.slacks.values()) if self.slacks else 0.0

    @property
    def open_fields(self) -> tuple[str, ...]:
        """Names of the fields that `slacks` has change most."""
        least = MOST * self.slack
        return tuple(name for name, own in self.slacks.items() if own >= least > 0)

    @property
    def decided(self) -> bool:
        """Whether the network can express the correction, so that its size counts."""
        return _largest(self.left[name] for name in self.equations) <= LEFT

    @property
    def trusted(self) -> bool:
        """Whether the estimate could be made, and is within the tolerance."""
        is_near = max(self.error, self._summed, self.slack) <= self.tolerance
        return self.decided and is_near and not self.left_open

    @property
    def _summed(self):
        return _largest(self.sums.values()) if self.sums else 0.0

    def __str__(self):
        errors = ", ".join(f"{n} {_percent(e)}" for n, e in self.errors.items())
        worst = max(self.misfits, key=lambda name: _finite(self.misfits[name]))
        within = "" if self.decided else ", as far as this network can express them"
        lines = [
            f"Estimated errors{within}: {errors}.",
            f"'{worst}' misses most, {_percent(self.misfits[worst])} of its largest "
            "term.",
        ]
        lines += self._suspected()
        if self._summed > self.error:
            lines.append(
                "The sums that stand for integrals do not follow the fields: more "
                f"places change them by {_percent(self._summed)} of the largest term, "
                "which is not in the estimate. Write the sum of integrals over parts."
            )
        if self.trusted:
            return "\n".join(["Trusted.", *lines])
        lines += [self.left_open] if self.left_open else []
        left = max(self.equations, key=lambda name: _finite(self.left[name]))
        larger = (
            "What the estimate is made from leaves "
            f"{_percent(self.left[left])} of the largest term of '{left}': this "
            "network cannot express what the equation asks for. Take a larger one, "
            "unless the equation jumps, or the domain has a corner that points inward, "
            "where slopes have no bound."
        )
        if self.slack > self.tolerance:
            names, one = " and ".join(self.open_fields), len(self.open_fields) == 1
            lines.append(
                f"With {names} changed by {_percent(self.slack)} nothing more is "
                f"missed: what is declared hardly determines {'it' if one else 'them'},"
                " as where a constant is free, a front may stand anywhere or a source "
                "is sought from few values. Train until much less is missed, or "
                "declare what is known."
            )
        if self.error <= self.tolerance:
            lines += [] if self.decided else [larger]
            return "\n".join(["Undecided, and not to be trusted.", *lines])
        lines.append(
            "Equations and conditions ask for another field, whatever the "
            "loss is. " + (MORE if self.second_order else SECOND)
        )
        if self.second_order and not self.decided:
            lines.append(larger)
        return "\n".join(["Not to be trusted.", *lines])

    __repr__ = __str__

    def _suspected(self):
        """What may be wrong with the `Data` that no correction meets, as lines."""
        left = {n: _finite(self.left.get(n, 0.0)) for n in self.measured}
        shares = [
            f"{_percent(s)} of '{n}'" for n, s in left.items() if s > self.tolerance
        ]
        if not shares:
            return []
        return [
            f"What is measured is not met by any small change, by {', '.join(shares)}: "
            "what its noise or a wrong unit does to the fields is not in the estimate. "
            "Check it, and try less weight, keraspinn.Data(..., weight=0.01)."
        ]


def verdict(
    model: PINNModel,
    tolerance: float = 0.05,
    points: int = INSIDE,
    points_on_face: int = ON_A_FACE,
) -> Verdict:
    """Whether a model solves its problem, estimated without a reference.

    The loss does not say it: an equation's residual may be small while the field is
    wrong everywhere, as that of a wave is, or of a slender beam. So the problem is
    solved once more, linearised: the parameters' change d that makes r − J d least,
    with r what each equation and condition misses at fresh points and J its derivative
    by all parameters, in double precision, damped by as little as serves other points;
    and with rows of each expression divided by the norm of its own part of J, so that
    neither units nor loss weights count. The fields' change ∂u/∂θ d is Newton's step in
    the space that the network spans around its state. In linear problems it is the
    error, as far as that space holds it; in others its first step. Where it leaves an
    equation unsolved at other points, nothing is decided.

    What noise in `Data` does to fields and unknown parameters is not in the estimate;
    `PINNModel.parameter_deviation` says what it does to the latter. A field that a
    coarse solution has as zero, the velocity across a channel, is measured by a
    thousandth of what it could be. One that varies little around its mean, a
    temperature in kelvin, is measured by what it varies: its error is relative to three
    standard deviations, about its range. Of one that is far larger than the declaration
    lets expect, the error is at least what it misses of the values that conditions give
    it, relative to these. Where the declaration lacks a condition, it is not trusted,
    nor where other fields would miss no more: a front that may stand anywhere.

    Args:
        model: A `PINNModel`, at any precision and trained by whatever.
        tolerance: Relative L2 error up to which a field is trusted.
        points: Number of points inside, 1,000 or so: time grows with the cube of
            it, or of the number of parameters if that is less, and memory with both.
        points_on_face: Number of points on each face.

    Returns:
        A `Verdict`.

    Raises:
        TypeError: If `model` is not a `PINNModel`.
        ValueError: If a number is not positive.

    Example:

    ```python
    verdict = keraspinn.diagnostics.verdict(model)
    print(verdict)
    verdict.trusted, verdict.errors["u"]
    ```

    Reference:
        Of the linearised problem in the tangent space: Müller & Zeinhofer, "Achieving
        high accuracy with PINNs via energy natural gradient descent", arXiv
        2302.13163. Of the rows' scaling: Wang, Yu & Perdikaris, "When and why PINNs
        fail to train: a neural tangent kernel perspective", arXiv 2007.14527.
    """
    check_one_model(model)
    positive_number("tolerance", tolerance)
    check_count("points", points)
    check_count("points_on_face", points_on_face)
    with backend.double_precision():
        return _measured(model, tolerance, points, points_on_face)


def _measured(model, tolerance, points, points_on_face):
    problem = model.problem
    sizes = dict.fromkeys(problem.terms, points_on_face) | {RESIDUAL: points}
    tangent = Tangent(model, sizes)
    rows, batches = tangent.rows(tangent.draw(-1)), tangent.draw(-2)
    norms = {n: [np.linalg.norm(j) or 1.0 for _, j in own] for n, own in rows.items()}
    found = [tangent.moved(batches, d) for d in _corrections(rows, norms)]
    values, changes = min(found, key=lambda pair: _unexplained(*pair, norms))
    names = _labels(problem)
    declared = _declared(problem)
    zeros = vanishing(problem, declared)
    terms = largest_terms(tangent.model, batches, declared, zeros)
    misfits, left = dict.fromkeys(names.values(), 0.0), {}
    for key, label in names.items():
        term, k = key
        residual, change = values[term][k], changes[term][k]
        own = _ratio(rms(residual), terms[key])
        misfits[label] = max(misfits[label], own)
        own = _ratio(rms(residual - change), terms[key])
        left[label] = max(left.get(label, 0.0), own)
    errors, sizes = {}, []
    for name, value, change in zip(
        problem.field_names, values[FIELDS], changes[FIELDS], strict=True
    ):
        expected = declared.field(name)
        size = extent(value - change, has_zero(problem, name), expected)
        if name in zeros:
            size = max(size, CONSTANT * expected)
        sizes.append(size)
        errors[name] = _ratio(rms(change), size)
        if rms(value - declared.offsets.get(name, 0.0)) > FAR * expected:
            missed = _missed_of_given(problem, declared, values, name)
            errors[name] = max([errors[name], *missed])
    optimizer = getattr(model, "optimizer", None)  # none before `compile`
    equations = tuple(problem.equations)
    is_second = isinstance(optimizer, Optimizer)
    measured = tuple(n for n, c in problem.conditions.items() if isinstance(c, Data))
    found = errors, misfits, left, tolerance, equations, is_second, measured
    sums = missed_by_sums(tangent.model, batches, terms)
    sums = {names[key]: missed for key, missed in sums.items()}
    verdict = Verdict(*found, problem.left_open, sums)
    if not verdict.trusted or not all(sizes):
        return verdict
    open_by = amplification(tangent, rows, batches, norms, sizes)
    if not open_by.max() > OPEN:
        return verdict
    slacks = (open_by * missed_by(values, norms)).tolist()
    slacks = dict(zip(problem.field_names, slacks, strict=True))
    return dataclasses.replace(verdict, slacks=slacks)


def _missed_of_given(problem, declared, values, field):
    """What conditions that give a field by itself miss, relative to what they give."""
    given = given_sizes(problem, declared, field)
    return [_ratio(rms(values[name][k]), size) for (name, k), size in given.items()]


def _corrections(rows, norms):
    """For each damping the d that makes all of r − J d least, terms alike heavy."""
    pairs = [pair for own in rows.values() for pair in own]
    norms = [norm for own in norms.values() for norm in own]
    scaled = [(r / n, j / n) for (r, j), n in zip(pairs, norms, strict=True)]
    residual, jacobian = (
        ops.convert_to_tensor(np.concatenate(own)) for own in zip(*scaled, strict=True)
    )
    for damping in DAMPING:
        solve, _ = dense_solver(jacobian, damping * len(scaled))
        yield ops.convert_to_numpy(solve(residual))


def _unexplained(values, changes, norms):
    """What a correction leaves at points it was not made from, in the same weights."""
    left = {
        name: [v - c for v, c in zip(values[name], changes[name], strict=True)]
        for name in norms
    }
    missed = missed_by(left, norms)
    return missed if np.isfinite(missed) else np.inf


def _labels(problem):
    """Dict from pairs of a term and a number to what the expression is called."""
    return {
        (name, k): label
        for name, term in problem.terms.items()
        for k, label in enumerate(term.labels or (name,) * len(term.expressions))
    }


def _declared(problem):
    """The scales in which every term has a size, also where training knows none."""
    pairs = zip(problem.fields, problem.field_names, strict=True)
    sizes = problem.scales.fields
    known = {field: sizes[name] for field, name in pairs if name in sizes}
    return problem.with_scales(known).scales


def _ratio(numerator, denominator):
    if numerator == 0.0:
        return 0.0
    return numerator / denominator if denominator else float("inf")


def _finite(number):
    return number if np.isfinite(number) else float("inf")


def _largest(numbers):
    return max(map(_finite, numbers))


def _percent(number):
    """A number in percent or, if small, by its power of ten."""
    if number >= 1:
        return f"{100 * number:.0f} %"
    return f"{100 * number:.2g} %" if number >= 1e-3 else f"{number:.1e}"
