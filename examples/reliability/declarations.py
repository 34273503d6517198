"""Draws problems of all sizes, and looks for one that is wrong without a word.

Each has a manufactured solution. Either a sentence answers its declaration, or the
residual that the model computes agrees with SymPy in 50-digit arithmetic, at the fields
and derivatives of the untrained network, to the precision of the type; and the losses
that training starts from are finite and not zero.

    python examples/reliability/declarations.py --problems 2000 --output record.json
"""

import argparse
import collections
import json
import pathlib
import warnings

import hypothesis
import keras
import numpy as np
import sympy as sp
import tensorflow as tf
from hypothesis import strategies as st
from machine import versions

import keraspinn as kp

DIGITS = 50
POINTS = 5
# Of the sum of the sizes of an equation's terms, where they are largest.
PRECISION = {"float32": 1e-5, "float64": 1e-13}


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
    conditions = {"c": kp.Condition(sp.Eq(field, solution), on)}
    if draw(st.booleans()):
        conditions["d"] = kp.Data(
            points, {field: [exact(solution, p, symbols)[0] for p in points]}
        )
    declared = {"equations": {"e": sp.Eq(operator, source)}, "conditions": conditions}
    return (space, time), declared, points, draw(st.sampled_from(list(PRECISION)))


def exact(expression, point, symbols, values=()):
    """An expression's value in many digits, and the sum of its terms' sizes."""
    known = {s: sp.Float(float(v), DIGITS) for s, v in zip(symbols, point, strict=True)}
    known |= {node: sp.Float(float(v), DIGITS) for node, v in dict(values).items()}
    terms = [t.xreplace(known).evalf(DIGITS) for t in sp.Add.make_args(expression)]
    return float(sum(terms)), float(sum(map(abs, terms)))


def outcome(box, declared, points, dtype):
    """One word for what became of a declaration."""
    lower, upper = np.array([*box[0].values(), *(box[1] or {}).values()]).T
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy(dtype)
    try:
        try:
            problem = kp.Problem(kp.geometry.Box(*box), **declared)
            model = kp.PINNModel(problem, kp.networks.MLP(4, 2), seed=0)
        except (TypeError, ValueError) as refusal:
            assert len(str(refusal)) > 40
            return "refused"
        residual = problem.equations["e"]
        nodes = sorted(residual.atoms(sp.Derivative) | set(problem.fields), key=str)
        columns = model.predict_expression([residual, *nodes], points)
        rows = []
        for point, got, *row in zip(points, *columns, strict=True):
            values = dict(zip(nodes, row, strict=True))
            rows.append((got, *exact(residual, point, problem.coordinates, values)))
        got, expected, sizes = np.array(rows, "float64").T
        # How much larger a coordinate is than its interval, its rounding is too.
        offset = np.max(np.maximum(np.abs(lower), np.abs(upper)) / (upper - lower))
        allowed = PRECISION[dtype] * sizes.max() * (1 + offset)
        if not np.all(np.abs(got - expected) <= allowed):
            return "wrong residual"
        model.compile("sgd", run_eagerly=True, jit_compile=False)
        losses = model.evaluate(points, verbose=0, return_dict=True)
        start = [losses["loss"], losses["residual_loss"], losses["c_loss"]]
        return "whole" if np.isfinite(start).all() and all(start) else "wrong loss"
    finally:
        keras.config.set_dtype_policy(policy)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=pathlib.Path)
    arguments = parser.parse_args()
    tf.config.run_functions_eagerly(True)  # each problem is computed once
    warnings.simplefilter("ignore")
    outcomes, wrong = collections.Counter(), []

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
        try:
            word = outcome(*drawn)
        except Exception as error:  # whatever it is, no one said it at declaration
            word = f"{type(error).__name__}: {str(error)[:100]}"
        outcomes[word] += 1
        if word not in ("refused", "whole"):
            wrong.append({"outcome": word, "declared": str(drawn)})
        keras.backend.clear_session(free_memory=False)

    look()
    record = {
        "problems": sum(outcomes.values()),
        "outcomes": dict(outcomes),
        "wrong": wrong[:50],
        "seed": arguments.seed,
        **versions(),
    }
    print(json.dumps({k: v for k, v in record.items() if k != "wrong"}, indent=2))
    if arguments.output:
        arguments.output.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
