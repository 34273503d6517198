r"""Search for declarations of all scales that are wrong without an error or warning.

Each problem has a manufactured solution. Its declaration must either raise an error, or
pass two checks. First, the residual of the untrained model must agree with SymPy in
50-digit arithmetic, to the precision of the data type. Second, the initial losses must
be finite and nonzero. Some of the problems that pass are then trained for 200 steps,
with values on the whole boundary and inside. Their loss must fall or an error must
explain why not, and a loss that vanishes must leave a small error.

    python examples/reliability/declarations.py --problems 2000 --trained 50 \
        --output docs/results/declarations.json
"""

import argparse
import collections
import json
import pathlib
import re
import sys
import warnings

import hypothesis
import keras
import numpy as np
import sympy as sp
from hypothesis import strategies as st
from machine import versions

import keraspinn as kp

if keras.config.backend() == "jax":
    import jax
else:
    import tensorflow as tf

# Number of decimal digits in SymPy's arithmetic.
DIGITS = 50
# Number of points at which residuals are compared.
POINTS = 5
# Largest error of a residual, relative to the largest sum of the magnitudes of its
# terms.
PRECISION = {"float32": 2e-6, "float64": 4e-15}
# Numbers of epochs of a training and of steps of an epoch.
EPOCHS, STEPS = 4, 50
# If losses fall by the factor `TINY`, the relative error must be at most `GOOD`.
TINY, GOOD = 1e-6, 0.1


def power(least, most):
    """Return a strategy for positive numbers with exponents from `least` to `most`."""
    digits = st.floats(1, 9.99).map(lambda digit: round(digit, 2))
    exponents = st.integers(least, most)
    return st.builds(lambda digit, n: float(f"{digit}e{n}"), digits, exponents)


def signed(numbers):
    return st.builds(lambda sign, n: sign * n, st.sampled_from([-1, 1]), numbers)


@st.composite
def declarations(draw):
    """Draw a box, keyword arguments of a `Problem`, points and a data type."""
    dimension = draw(st.integers(1, 3))
    symbols = sp.symbols("x y z")[:dimension]
    lengths = [draw(power(-9, 9)) for _ in symbols]
    starts = [draw(st.just(0.0) | signed(power(-9, 9))) for _ in symbols]
    intervals = {
        symbol: (start, start + length)
        for symbol, start, length in zip(symbols, starts, lengths, strict=True)
    }
    hypothesis.assume(all(start < end for start, end in intervals.values()))
    timed = dimension > 1 and draw(st.booleans())
    space = dict(list(intervals.items())[: dimension - timed])
    time = {symbols[-1]: intervals[symbols[-1]]} if timed else None

    field = sp.Function("u")(*symbols)
    phase = sp.Rational(1, 3)
    for symbol, start, length in zip(symbols, starts, lengths, strict=True):
        phase += draw(st.integers(1, 3)) * (symbol - sp.Float(start)) / sp.Float(length)
    solution = sp.Float(draw(power(-6, 6))) * sp.sin(phase)

    def term():
        orders = [draw(st.integers(0, 2)) for _ in symbols]
        by = [(s, n) for s, n in zip(symbols, orders, strict=True) if n]
        derivative = field.diff(*by) if by else field
        factor = draw(st.sampled_from([1, field, sp.Symbol("x") - starts[0]]))
        return sp.Float(draw(signed(power(-30, 30)))) * factor * derivative

    operator = sum(term() for _ in range(draw(st.integers(1, 3))))
    source = operator.subs(field, solution).doit()
    faces = [{s: end} for s, interval in space.items() for end in interval]
    on = draw(st.sampled_from([*faces, "boundary", *(["initial"] if timed else [])]))
    seed = draw(st.integers(0, 2**31))
    fractions = np.random.default_rng(seed).random((POINTS, dimension))
    lower, upper = np.array(list(intervals.values())).T
    points = lower + fractions * (upper - lower)
    measured = [exact(solution, point, symbols)[0] for point in points]
    conditions = {"c": kp.Condition(sp.Eq(field, solution), on)}
    if draw(st.booleans()):
        conditions["d"] = kp.Data(points, {field: measured})
    declared = {
        "equations": {"e": sp.Eq(operator, source)},
        "conditions": conditions,
        "reference": {field: solution},
        "scales": draw(st.sampled_from([None, "auto"])),
    }
    return (space, time), declared, points, draw(st.sampled_from(list(PRECISION)))


def exact(expression, point, symbols, values=()):
    """Return an expression's value in `DIGITS` digits, and its terms' magnitude."""
    known = {s: sp.Float(float(v), DIGITS) for s, v in zip(symbols, point, strict=True)}
    known |= {node: sp.Float(float(v), DIGITS) for node, v in dict(values).items()}
    terms = [t.xreplace(known).evalf(DIGITS) for t in sp.Add.make_args(expression)]
    return float(sum(terms)), float(sum(map(abs, terms)))


def modelled(box, declared):
    """Return a model of the problem, or the error message of its declaration."""
    try:
        problem = kp.Problem(kp.geometry.Box(*box), **declared)
        return kp.PINNModel(problem, kp.networks.MLP(8, 2), seed=0)
    except (TypeError, ValueError) as refusal:
        assert len(str(refusal)) > 40
        return str(refusal)


def outcome(box, declared, points, dtype):
    """Return the outcome of a declaration in one or two words, and a message."""
    model = modelled(box, declared)
    if isinstance(model, str):
        return "refused", model
    problem = model.problem
    equation = declared["equations"]["e"]
    residual = equation.lhs - equation.rhs  # with all terms on one side
    nodes = sorted(residual.atoms(sp.Derivative) | set(problem.fields), key=str)
    try:
        columns = model.predict_expression([equation, *nodes], points)
    except ValueError as refusal:
        return "refused", str(refusal)
    rows = []
    for point, computed, *row in zip(points, *columns, strict=True):
        values = dict(zip(nodes, row, strict=True))
        rows.append((computed, *exact(residual, point, problem.coordinates, values)))
    computed, expected, sizes = np.array(rows, "float64").T
    # Round-off grows with the ratio of a coordinate to the length of its interval.
    lower, upper = problem.domain.lower, problem.domain.upper
    offset = np.max(np.maximum(np.abs(lower), np.abs(upper)) / (upper - lower))
    bound = PRECISION[dtype] * sizes.max() * (1 + offset)
    if not np.all(np.abs(computed - expected) <= bound):
        worst = np.max(np.abs(computed - expected)) / bound
        return "wrong residual", f"{worst:.1e} times what is allowed"
    model.compile("sgd", run_eagerly=True, jit_compile=False)
    losses = model.evaluate(points, verbose=0, return_dict=True)
    initial = [losses["loss"], losses["residual_loss"], losses["c_loss"]]
    whole = np.isfinite(initial).all() and all(initial)
    return ("whole", "") if whole else ("wrong loss", str(initial))


def trained(box, declared, points):
    """Train 200 steps on a problem with known values on its boundary."""
    ((field, solution),) = declared["reference"].items()
    equal = sp.Eq(field, solution)
    known = kp.Condition(equal, "boundary"), kp.Condition(equal, "initial")
    conditions = dict(zip("ci", known if box[1] else known[:1], strict=False))
    inner = [exact(solution, point, field.args)[0] for point in points]
    conditions["d"] = kp.Data(points, {field: inner})
    model = modelled(box, declared | {"conditions": conditions})
    if isinstance(model, str):
        return {"outcome": "refused", "sentence": model}
    model.compile(keras.optimizers.Adam(1e-2), jit_compile=False)
    test_points, values = model.problem.test_data(11)
    before = model.evaluate(test_points, values, verbose=0, return_dict=True)
    try:
        model.fit(epochs=EPOCHS, steps_per_epoch=STEPS, verbose=0)
    except FloatingPointError as sentence:
        return {"outcome": "stopped", "sentence": str(sentence)}
    after = model.evaluate(test_points, values, verbose=0, return_dict=True)
    names = [name for name in before if name.endswith("_loss")]
    ratio = max(after[name] / before[name] for name in names)
    error = after["u_relative_l2"]
    numbers = {
        "loss before": before["loss"],
        "loss after": after["loss"],
        "most of a term's loss left": ratio,
        "relative error": error,
    }
    if not np.isfinite([*numbers.values()]).all():
        return {"outcome": "not finite"} | numbers
    if ratio < TINY and error > GOOD:
        return {"outcome": "wrong in silence"} | numbers
    fell = after["loss"] < before["loss"]
    return {"outcome": "fell" if fell else "did not fall"} | numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--trained", type=int, default=0, help="so many of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=pathlib.Path)
    arguments = parser.parse_args()
    run_eagerly(True)  # each problem is evaluated only once
    warnings.simplefilter("ignore")
    # About half of the problems pass. The trained ones are spread evenly, because
    # hypothesis draws similar problems one after another.
    spread = max(1, arguments.problems // (2 * max(arguments.trained, 1)) - 1)
    outcomes, refusals, wrong = collections.Counter(), collections.Counter(), []
    trainings = []

    @hypothesis.seed(arguments.seed)
    @hypothesis.settings(
        max_examples=arguments.problems,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(declarations())
    def look(drawn):
        *declared, dtype = drawn
        keras.config.set_dtype_policy(dtype)
        try:
            word, message = outcome(*drawn)
        except Exception as error:  # the declaration should have raised it
            word, message = type(error).__name__, str(error)[:1000]
        outcomes[word] += 1
        if word == "refused":
            refusals[kind(message)] += 1
        elif word != "whole":
            wrong.append({"outcome": word, "said": message, "declared": str(drawn)})
        elif len(trainings) < arguments.trained and outcomes["whole"] % spread == 0:
            run_eagerly(False)
            trainings.append(trained(*declared) | {"declared": str(drawn)})
            run_eagerly(True)
        keras.backend.clear_session(free_memory=False)

    policy = keras.config.dtype_policy()
    try:
        look()
    finally:
        keras.config.set_dtype_policy(policy)
    ends = collections.Counter(training["outcome"] for training in trainings)
    record = {
        "command": " ".join(["python", *sys.argv]),
        "problems": sum(outcomes.values()),
        "outcomes": dict(outcomes),
        "refusals": dict(refusals.most_common()),
        "trained": dict(ends),
        "seed": arguments.seed,
        **versions(),
        "wrong": wrong[:50],
        "trainings": trainings,
    }
    shown = {k: v for k, v in record.items() if k not in ("wrong", "trainings")}
    print(json.dumps(shown, indent=2))
    if arguments.output:
        arguments.output.write_text(json.dumps(record, indent=2) + "\n")


def run_eagerly(eagerly):
    """Switch compilation off (`True`) or on (`False`) for all programs."""
    if keras.config.backend() == "jax":
        jax.config.update("jax_disable_jit", eagerly)
    else:
        tf.config.run_functions_eagerly(eagerly)


def kind(sentence):
    """Return the words of an error that do not depend on the declaration."""
    words = re.sub(r"^In [^:]*: |'[^']*'|\S*[\d∈]\S*", "", sentence).split()
    return " ".join(words[:6])


if __name__ == "__main__":
    main()
