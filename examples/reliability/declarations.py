r"""Draws problems of all sizes, and looks for one that is wrong without a word.

Each has a manufactured solution. Either a sentence answers its declaration, or the
residual that the model computes agrees with SymPy in 50-digit arithmetic, at the fields
and derivatives of the untrained network, to the precision of the type; and the losses
that training starts from are finite and not zero. Some that are whole are then trained
for 200 steps, with values on the whole boundary and inside: their loss falls, or a
sentence says why not, and one that falls to nothing leaves no error.

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

DIGITS = 50
POINTS = 5
# Of the sum of the sizes of an equation's terms, where they are largest.
PRECISION = {"float32": 2e-6, "float64": 4e-15}
EPOCHS, STEPS = 4, 50
TINY, GOOD = 1e-6, 0.1
"""A loss of which less than `TINY` is left promises a relative error below `GOOD`."""


def power(least, most):
    """Numbers of every order of magnitude."""
    digits = st.floats(1, 9.99).map(lambda digit: round(digit, 2))
    exponents = st.integers(least, most)
    return st.builds(lambda digit, n: float(f"{digit}e{n}"), digits, exponents)


def signed(numbers):
    return st.builds(lambda sign, n: sign * n, st.sampled_from([-1, 1]), numbers)


@st.composite
def declarations(draw):
    """Keyword arguments of a `Problem`, points in it, and the type to train in."""
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
    """An expression's value in many digits, and the sum of its terms' sizes."""
    known = {s: sp.Float(float(v), DIGITS) for s, v in zip(symbols, point, strict=True)}
    known |= {node: sp.Float(float(v), DIGITS) for node, v in dict(values).items()}
    terms = [t.xreplace(known).evalf(DIGITS) for t in sp.Add.make_args(expression)]
    return float(sum(terms)), float(sum(map(abs, terms)))


def modelled(box, declared):
    """A model of the problem, or the sentence that answers its declaration."""
    try:
        problem = kp.Problem(kp.geometry.Box(*box), **declared)
        return kp.PINNModel(problem, kp.networks.MLP(8, 2), seed=0)
    except (TypeError, ValueError) as refusal:
        assert len(str(refusal)) > 40
        return str(refusal)


def outcome(box, declared, points, dtype):
    """Return one word for the outcome of a declaration, and the error message."""
    model = modelled(box, declared)
    if isinstance(model, str):
        return "refused", model
    problem = model.problem
    equation = declared["equations"]["e"]
    residual = equation.lhs - equation.rhs  # as the user wrote it
    nodes = sorted(residual.atoms(sp.Derivative) | set(problem.fields), key=str)
    try:
        columns = model.predict_expression([equation, *nodes], points)
    except ValueError as refusal:
        return "refused", str(refusal)
    rows = []
    for point, got, *row in zip(points, *columns, strict=True):
        values = dict(zip(nodes, row, strict=True))
        rows.append((got, *exact(residual, point, problem.coordinates, values)))
    got, expected, sizes = np.array(rows, "float64").T
    # How much larger a coordinate is than its interval, its rounding is too.
    lower, upper = problem.domain.lower, problem.domain.upper
    offset = np.max(np.maximum(np.abs(lower), np.abs(upper)) / (upper - lower))
    allowed = PRECISION[dtype] * sizes.max() * (1 + offset)
    if not np.all(np.abs(got - expected) <= allowed):
        worst = np.max(np.abs(got - expected)) / allowed
        return "wrong residual", f"{worst:.1e} times what is allowed"
    model.compile("sgd", run_eagerly=True, jit_compile=False)
    losses = model.evaluate(points, verbose=0, return_dict=True)
    start = [losses["loss"], losses["residual_loss"], losses["c_loss"]]
    whole = np.isfinite(start).all() and all(start)
    return ("whole", "") if whole else ("wrong loss", str(start))


def trained(box, declared, points):
    """Train 200 steps on a problem with a known solution on its boundary."""
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
    where, values = model.problem.test_data(11)
    before = model.evaluate(where, values, verbose=0, return_dict=True)
    try:
        model.fit(epochs=EPOCHS, steps_per_epoch=STEPS, verbose=0)
    except FloatingPointError as sentence:
        return {"outcome": "stopped", "sentence": str(sentence)}
    after = model.evaluate(where, values, verbose=0, return_dict=True)
    names = [name for name in before if name.endswith("_loss")]
    left = max(after[name] / before[name] for name in names)
    error = after["u_relative_l2"]
    numbers = {
        "loss before": before["loss"],
        "loss after": after["loss"],
        "most of a term's loss left": left,
        "relative error": error,
    }
    if not np.isfinite([*numbers.values()]).all():
        return {"outcome": "not finite"} | numbers
    if left < TINY and error > GOOD:
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
    run_eagerly(True)  # each problem is computed once
    warnings.simplefilter("ignore")
    # Half of the problems drawn are whole; neighbours are alike.
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
            word, said = outcome(*drawn)
        except Exception as error:  # whatever it is, no one said it at declaration
            word, said = type(error).__name__, str(error)[:1000]
        outcomes[word] += 1
        if word == "refused":
            refusals[kind(said)] += 1
        elif word != "whole":
            wrong.append({"outcome": word, "said": said, "declared": str(drawn)})
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
    """Scope in which programs run operation by operation, without compilation."""
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
