"""Text of a verdict: estimates, and advice that follows from the measurements."""

import math

# Tolerance that the first line does not name.
USUAL = 0.05
# Estimated error up to which training on is the cure, and relative to the tolerance.
NEAR = 0.1
NEARBY = 10.0
# Residual that the correction may leave, relative to an expression's largest term. A
# Gray–Scott pattern that was wrong by 69 % left a tenth.
LEFT = 0.05
# Residual left, of the same size, that suggests conditions without a solution.
MOST_LEFT = 0.5
SECOND = (
    "Train on with keraspinn.optimizers.SSBroyden() in float64. If that does not help, "
    "try other loss weights."
)
MORE = (
    "Train on while the loss falls. {}Look for a wrong sign or a missing condition, "
    "and try other loss weights."
)
NEARLY = "Train on while the loss falls, then with more points or a larger network."
ENERGY = "The energy is not at its least: train on, with more steps and more points."
FAST = " Where coefficients vary fast, take keraspinn.networks.SIREN."
PENALTY = (
    "Beside an energy, a soft condition or equation is a penalty, which the energy "
    "outweighs in {}. Declare hard=True, or raise weight= until the error is small; "
    "write an equation as keraspinn.Condition(..., on='interior', weight=100)."
)
OTHERS = (
    "There may be other solutions, as the problem is not linear. Train from other "
    "seeds or guesses, and compare the fields{}."
)
LARGER = (
    "The correction leaves a residual of {share} of the largest term of '{name}': this "
    "network cannot express the solution, if there is one. Use a larger one, unless "
    "the solution has a singularity, as at a jump, a corner, or contradictory values."
)
SUSPECT = "{} may contradict the equations: look for a wrong value, sign or face."
# Sentences on conditions and on data.
CONTRADICTORY = (
    "These conditions contradict the equations or each other: {}, which no field can "
    "satisfy together. Look for a wrong value, sign or face.",
    "These data contradict equations and conditions: {}, which no field can satisfy "
    "together. Look for a wrong unit, calibration or coefficient, or a parameter that "
    "begins too far from its value; or leave them out.",
)


def report(verdict):
    """Return the text of a `Verdict`."""
    if verdict.trusted:
        head = "Trusted"
    elif verdict.error <= verdict.tolerance:
        head = "Undecided, and not to be trusted"
    else:
        head = "Not to be trusted"
    if verdict.tolerance != USUAL and not verdict.faults:
        head = f"{head} to {percent(verdict.tolerance)}"
    lines = [f"{head}.", _errors(verdict)]
    if verdict.misfits:
        worst = _largest_key(verdict.misfits)
        share = percent(verdict.misfits[worst])
        lines.append(f"Largest residual: '{worst}', {share} of its largest term.")
    if len(verdict.windows) > 1 and math.isfinite(verdict.error):
        first, last = percent(verdict.windows[0]), percent(verdict.windows[-1])
        lines.append(f"Time windows: from {first} in the first to {last} in the last.")
    for name, error in verdict.quantities.items():
        lines.append(f"Estimated error of {name}: {percent(error)}.")
    changed = max(verdict.sums.values(), default=0.0)
    if changed > min(verdict.error, verdict.tolerance):
        lines.append(
            "The sums that approximate integrals do not resolve the fields: more "
            f"points change them by {percent(changed)} of the largest term, which "
            "is not in the estimate. Write the sum of integrals over parts."
        )
    lines += others(verdict)
    if not verdict.trusted:
        lines += _advice(verdict)
    return "\n".join(lines)


def others(verdict):
    """Return a list of a sentence on other solutions, empty if none is likely."""
    energies = " and their energies" if verdict.of_energy else ""
    return [] if verdict.is_unique else [OTHERS.format(energies)]


def _errors(verdict):
    far = {n: move for n, move in verdict.moves.items() if move > verdict.tolerance}
    errors = verdict.errors | far
    known = {n: e for n, e in errors.items() if not math.isnan(e)}
    if errors and not known:
        return "Error unknown: the correction that would estimate it fails."
    up_to = {name: f" up to {words}" for name, words in verdict.shifts.items()}
    errors = (f"{n} {percent(e)}{up_to.get(n, '')}" for n, e in known.items())
    more = ", or several times as much" if verdict.is_unexplained else ""
    return f"Estimated errors: {', '.join(errors)}{more}."


def _advice(verdict):
    """Yield sentences on causes, the certain ones first."""
    certain = verdict.faults
    resolved = not verdict.is_unexplained
    resolved &= all(verdict.left[name] <= LEFT for name in verdict.equations)
    if resolved:  # equations hold, so that only conditions can be wrong
        certain += _contradictions(verdict)
    yield from certain
    yield from verdict.causes
    if verdict.slack > verdict.tolerance:
        names = " and ".join(verdict.open_fields)
        yield (
            "The problem is nearly underdetermined: a change of "
            f"{names} by {percent(min(verdict.slack, 1.0))} leaves all residuals as "
            "small as they are. A constant may be free, a front's position unknown, "
            "values too few for a source or parameter, a field may grow again from "
            "almost zero, or a layer of the first instants is lost. Train on, in "
            "windows after a decay, short ones at first, or declare more data."
        )
    if certain or verdict.slack > verdict.tolerance:
        return
    is_near = verdict.error <= verdict.tolerance
    if verdict.of_energy:
        missed = {n: e for n, e in verdict.misfits.items() if e > verdict.tolerance}
        penalised = missed.keys() - {*verdict.equations, *verdict.measured}
        if penalised:
            yield PENALTY.format(" and ".join(f"'{n}'" for n in sorted(penalised)))
        elif not (is_near and resolved):
            yield ENERGY + FAST * (not resolved)
        return
    if not is_near and verdict.error <= min(NEAR, NEARBY * verdict.tolerance):
        yield NEARLY if verdict.second_order else SECOND
    elif not is_near:
        windows = "Solve a long time in windows. " if verdict.has_time else ""
        yield (
            "Equations and conditions determine another field, however small the loss "
            "is. "
            * (not verdict.is_unexplained)
            + (MORE.format(windows) if verdict.second_order else SECOND)
        )
    left = _largest_key({name: verdict.left[name] for name in verdict.equations})
    names = " and ".join(f"'{name}'" for name in verdict.contradictions)
    # Zero leaves no more than the largest term: beyond, training has only begun.
    is_trained = verdict.misfits.get(left, 0.0) <= 1
    if not resolved and (names or (is_trained and verdict.left[left] > MOST_LEFT)):
        yield SUSPECT.format(names or "The conditions")
    if not resolved and ((is_trained and verdict.second_order) or is_near):
        yield LARGER.format(share=percent(verdict.left[left]), name=left)


def _contradictions(verdict):
    """Yield a sentence on conditions and one on data that contradict the rest."""
    for is_data, sentence in enumerate(CONTRADICTORY):
        named = ", ".join(
            f"'{name}' by {percent(share)}"
            for name, share in verdict.contradictions.items()
            if (name in verdict.measured) == is_data
        )
        if named:
            yield sentence.format(named)


def percent(number):
    """Return a number in percent or, if small, as a power of ten."""
    if math.isnan(number):
        return "unknown"
    if number >= 1:
        return f"{100 * number:.0f} %"
    return f"{100 * number:.2g} %" if number >= 1e-3 else f"{number:.1e}"


def _largest_key(numbers):
    """Return the key of the largest number, where NaN is largest."""
    return max(numbers, key=lambda name: (math.isnan(numbers[name]), numbers[name]))
