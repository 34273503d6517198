"""Errors and advice for common wrong uses, one of each kind.

Each function's errors are tested in detail beside it; these are the common ones.
`python tests/test_bad_inputs.py` prints all of them with their answers.
"""

import inspect
import math

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, T, K = sp.symbols("x y t k")
U = sp.Function("u")(X, Y)
BOX = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
WALL = kp.Condition(U, on={X: 0})
POINTS = np.full((4, 2), 0.25, "float32")
ANNEALING = kp.callbacks.LearningRateAnnealing


def problem(**changes):
    declared = {
        "domain": BOX,
        "equations": {"e": U.diff(X)},
        "conditions": {"walls": WALL},
        "reference": {U: X},
    }
    return kp.Problem(**(declared | changes))


PROBLEM = problem()


def equation(expression):
    return problem(equations={"e": expression})


def condition(*arguments, **named):
    return problem(conditions={"b": kp.Condition(*arguments, **named)})


def model(declared=PROBLEM, **arguments):
    network = kp.networks.MLP(2, 1)
    return kp.PINNModel(declared, network, **({"seed": 0} | arguments))


def compiled(declared=PROBLEM, optimizer="sgd", **arguments):
    trained = model(declared)
    trained.compile(optimizer, **({"jit_compile": False} | arguments))
    return trained


def spoilt():
    trained = compiled()
    trained.set_weights([np.full_like(w, math.nan) for w in trained.get_weights()])
    return trained


def two_headed():
    points = keras.Input((2,))
    return keras.Model(points, [keras.layers.Dense(1)(points) for _ in range(2)])


# Call, type of error, and pattern of its message.
DECLARED = {
    "no geometry": (
        lambda: problem(domain={X: (0, 1)}),
        TypeError,
        r"`domain` must be a geometry.*Box\(\{x: \(0, 1\)\}\)",
    ),
    "equations as a list": (
        lambda: problem(equations=[U]),
        TypeError,
        "`equations` must be a dict from names to equations, such as",
    ),
    "equation as text": (
        lambda: equation("u_xx = 0"),
        TypeError,
        "Received 'u_xx = 0'.*Text is never evaluated",
    ),
    "function that is not applied": (
        lambda: equation(sp.Function("u")),
        TypeError,
        r"Apply the function to the coordinates, as in u\(x, y\)",
    ),
    "derivative by another symbol": (
        lambda: equation(U.diff(T)),
        ValueError,
        "equation 'e': there is no field in 0 = 0",
    ),
    "unknown symbol": (
        lambda: equation(K * U),
        ValueError,
        r'unknown symbol k.*keraspinn.Parameter\("k", initial=',
    ),
    "symbol with other assumptions": (
        lambda: equation(U + sp.Symbol("x", real=True)),
        ValueError,
        "two different symbols are called 'x'.*assumptions",
    ),
    "unsupported function": (
        lambda: equation(sp.zeta(U)),
        ValueError,
        "zeta cannot be evaluated.*Supported are Abs",
    ),
    "complex number": (
        lambda: equation(sp.I * U),
        ValueError,
        "not real and finite.*real and imaginary parts",
    ),
    "field of some coordinates": (
        lambda: equation(sp.Function("u")(X).diff(X)),
        ValueError,
        r"different coordinates in two places.*Write u\(x, y\) throughout",
    ),
    "field elsewhere": (
        lambda: equation(U.subs(X, 7) - U),
        ValueError,
        r"outside of the domain.*sympy\.Max",
    ),
    "equation that always holds": (
        lambda: kp.Condition(sp.Eq(U, U), on="boundary"),
        ValueError,
        "must contain an unknown.*sympy.Eq",
    ),
    "branch at a point": (
        lambda: equation(U.diff(X) - sp.Piecewise((1, sp.Eq(X, 0.5)), (0, True))),
        ValueError,
        "holds at none of .* points.*write a Gaussian",
    ),
    "branches with a gap": (
        lambda: equation(U.diff(X) - sp.Piecewise((1, X < 0.5))),
        ValueError,
        r"no branch of a Piecewise holds at.*\(0, True\)",
    ),
    "one name twice": (
        lambda: problem(conditions={"e": WALL}),
        ValueError,
        r"would have the same name: \['e_loss'\].*Rename",
    ),
    "one parameter with two values": (
        lambda: equation(U * kp.Parameter("c", 1) + kp.Parameter("c", 2)),
        ValueError,
        r"Parameter\('c', initial=2.0\); declared was Parameter\('c', initial=1.0\)",
    ),
    "parameter as text": (
        lambda: kp.Parameter("c", "0.1"),
        ValueError,
        "initial of Parameter 'c'` must be a finite number",
    ),
    "condition that is an equation": (
        lambda: problem(conditions={"b": sp.Eq(U, 0)}),
        TypeError,
        r"`conditions\['b'\]` must be a Condition or Data",
    ),
    "face that is none": (
        lambda: condition(U, on={X: 2}),
        ValueError,
        r"`on` must be a part.*\{x: 2\}.*\{x: 0\}",
    ),
    "misspelt part": (
        lambda: condition(U, on="boundry"),
        ValueError,
        'names no part of the domain: \'boundry\'.*Write "interior", "boundary"',
    ),
    "negative weight": (
        lambda: condition(U, on="boundary", weight=-1),
        ValueError,
        "`weight` must be a finite number, zero or more",
    ),
    "reference of another field": (
        lambda: problem(reference={sp.Function("v")(X, Y): X}),
        ValueError,
        r"names \['v'\], which are no fields of the equations",
    ),
    "problem changed": (
        lambda: setattr(problem(), "fields", ()),
        AttributeError,
        "cannot be changed. Declare a new one",
    ),
    "interval reversed": (
        lambda: kp.geometry.Box({X: (1, 0)}),
        ValueError,
        "interval of x must be finite and start below its end",
    ),
    "coordinate as text": (
        lambda: kp.geometry.Box({"x": (0, 1)}),
        TypeError,
        r"must be a SymPy symbol, such as `sympy.Symbol\('x'\)`",
    ),
}

ARRAYS = {
    "one dimension": (
        lambda: kp.Data([0.1, 0.2], {U: [1, 2]}),
        ValueError,
        r"points must have shape \(n, d\), a row a point.*\(2,\)",
    ),
    "other coordinates": (
        lambda: problem(conditions={"d": kp.Data([[0.1]], {U: [1]})}),
        ValueError,
        r"column for each of \['x', 'y'\]",
    ),
    "another length": (
        lambda: kp.Data([[0, 1]], {U: [1, 2]}),
        ValueError,
        r"shape \(1,\), one for each point.*\(2,\)",
    ),
    "NaN": (
        lambda: kp.Data([[0, 1], [0, math.nan]], {U: [1, 2]}),
        ValueError,
        "finite.*in row 1. Drop the rows",
    ),
    "masked": (
        lambda: kp.Data(POINTS, {U: np.ma.masked_less(-POINTS[:, 0], 0)}),
        ValueError,
        r"4 masked.*points\[~mask\]",
    ),
    "dates": (
        lambda: kp.Data(np.array([["2026-01-01"] * 2], "datetime64[s]"), {U: [1]}),
        ValueError,
        "dates or times. Write seconds",
    ),
    "text": (
        lambda: kp.Data([["a", "b"]], {U: [1]}),
        ValueError,
        "points must be an array of numbers",
    ),
    "complex": (
        lambda: kp.Data(POINTS, {U: 1j * POINTS[:, 0]}),
        ValueError,
        r"values of u\(x, y\) must be an array of numbers, which are real",
    ),
    "values by name": (
        lambda: kp.Data([[0, 1]], {"u": [1]}),
        TypeError,
        "`values` must be keyed by SymPy expressions",
    ),
    "outside of the domain": (
        lambda: problem(conditions={"d": kp.Data([[3, 0.5]], {U: [1.0]})}),
        ValueError,
        "must lie in the domain.*in row 0",
    ),
}

MODELS = {
    "activation nobody knows": (
        lambda: kp.networks.MLP(activation="tnah"),
        ValueError,
        "activation function identifier: tnah",
    ),
    "network as text": (
        lambda: kp.PINNModel(PROBLEM, "mlp"),
        TypeError,
        "`network` must be a Keras layer or model",
    ),
    "columns too many": (
        lambda: kp.PINNModel(PROBLEM, kp.networks.MLP(2, 1, outputs=2)),
        ValueError,
        r"one column for each field \['u'\].*MLP\(outputs=1\)",
    ),
    "network of two outputs": (
        lambda: kp.PINNModel(PROBLEM, two_headed()),
        ValueError,
        "must output one tensor.*Concatenate",
    ),
    "network of another problem": (
        lambda: kp.PINNModel(kp.problems.poisson(), model().network),
        ValueError,
        r"must take points \(n, 1\)",
    ),
    "seed as a float": (
        lambda: model(seed=0.5),
        ValueError,
        "`seed` must be an integer",
    ),
    "half precision": (
        lambda: kp.PINNModel(PROBLEM, kp.networks.MLP(2, 1, dtype="mixed_float16")),
        ValueError,
        "need float32 or float64.*set_dtype_policy",
    ),
    "loss given": (
        lambda: compiled(loss="mse"),
        (TypeError, ValueError),
        "loss",
    ),
    "flag by a word": (
        lambda: compiled(jit_compile="no"),
        TypeError,
        "`jit_compile` must be True or False",
    ),
    "file that Keras cannot load": (
        lambda: compiled().save("model.h5"),
        ValueError,
        "saved to a `.keras` file",
    ),
    "no such file": (
        lambda: kp.load_model("nowhere.keras"),
        FileNotFoundError,
        "There is no file nowhere.keras",
    ),
}

METHODS = {
    "fit before compile": (
        lambda: model().fit(),
        ValueError,
        "Call `model.compile",
    ),
    "targets": (
        lambda: compiled().fit(y=POINTS),
        ValueError,
        "`fit` takes no `y`.*keraspinn.Data",
    ),
    "sample weights": (
        lambda: compiled().fit(sample_weight=POINTS),
        ValueError,
        r"takes no `sample_weight`.*Condition\(..., weight=\)",
    ),
    "argument misspelt": (
        lambda: compiled().fit(epoch=3),
        TypeError,
        "unexpected keyword argument 'epoch'",
    ),
    "batch of nothing": (
        lambda: compiled().fit(batch_size=0),
        ValueError,
        "`batch_size` must be a positive integer",
    ),
    "points as text": (
        lambda: compiled().fit("points"),
        ValueError,
        "Unrecognized data type: x=points",
    ),
    "points of another term": (
        lambda: compiled().fit({"top": POINTS}),
        ValueError,
        "no term 'top'.*'walls'",
    ),
    "points of one coordinate": (
        lambda: compiled().fit(POINTS[:, :1]),
        ValueError,
        r"shape \(n, 2\), a column for each of \['x', 'y'\]",
    ),
    "points off the face": (
        lambda: compiled().fit({"walls": POINTS}),
        ValueError,
        "must lie where it holds: x = 0",
    ),
    "stream of single points": (
        lambda: compiled().fit(point for point in POINTS),
        ValueError,
        r"[Mm]ake batches.*`dataset.batch\(n\)`",
    ),
    "callback of another model": (
        lambda: ANNEALING().set_model(keras.Sequential()),
        TypeError,
        "PINNModel",
    ),
    "scaled losses": (
        lambda: compiled(
            optimizer=keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD())
        ),
        ValueError,
        "without LossScaleOptimizer",
    ),
    "validation by three": (
        lambda: compiled().fit(validation_data=(POINTS, {}, POINTS[:, 0])),
        ValueError,
        "`fit` takes no `sample_weight`",
    ),
    "scales of another coordinate": (
        lambda: problem(scales=kp.Scales({sp.Symbol("z"): (0, 1)}, {"u": 1}, {})),
        ValueError,
        "must have the coordinates .*, in this order",
    ),
    "callback not made": (
        lambda: compiled().fit(callbacks=[ANNEALING]),
        TypeError,
        r"list of keras.callbacks.Callback.*LearningRateAnnealing\(\)",
    ),
    "weights of NaN": (
        lambda: spoilt().fit(batch_size=2, steps_per_epoch=1, verbose=0),
        FloatingPointError,
        "not finite|NaN",
    ),
    "evaluation of test data in one": (
        lambda: compiled().evaluate(PROBLEM.test_data(5)),
        ValueError,
        r"must have shape \(n, .*a tuple of shape",
    ),
    "evaluation of another field": (
        lambda: compiled().evaluate(POINTS, {"v": POINTS[:, 0]}),
        ValueError,
        r"dict with the keys \['u'\]",
    ),
    "prediction of a number": (
        lambda: compiled().predict_expression(5, POINTS),
        TypeError,
        "An expression to predict must be.*Received 5 of type int",
    ),
    "expression in another field": (
        lambda: compiled().predict_expression(sp.Function("w")(X, Y), POINTS),
        ValueError,
        r"names \['w'\], which are no fields",
    ),
    "test data without a reference": (
        lambda: problem(reference=None).test_data(),
        ValueError,
        "no reference. Declare one",
    ),
}

OTHERS = {
    "rate out of range": (
        lambda: ANNEALING(alpha=1.5),
        ValueError,
        r"`alpha` must be in \(0, 1\]",
    ),
    "annealing without conditions": (
        lambda: compiled(problem(conditions={})).fit(callbacks=[ANNEALING()]),
        ValueError,
        "no loss weights to adapt|no conditions",
    ),
    "two rules": (
        lambda: compiled().fit(callbacks=[ANNEALING(), ANNEALING(alpha=0.5)]),
        ValueError,
        "Two callbacks adapt the loss weights",
    ),
    "figure of no training": (
        lambda: kp.plot.history(None),
        TypeError,
        "must be",
    ),
}

ROWS = {
    f"{room}: {name}": row
    for room, rows in {
        "declared": DECLARED,
        "arrays": ARRAYS,
        "models": MODELS,
        "methods": METHODS,
        "others": OTHERS,
    }.items()
    for name, row in rows.items()
}


@pytest.mark.filterwarnings("ignore:The problem is underdetermined")
@pytest.mark.parametrize("name", ROWS)
def test_wrong_use_raises_a_helpful_error(name):
    call, error, words = ROWS[name]
    with pytest.raises(error, match=f"(?s){words}") as refusal:
        call()
    assert len(str(refusal.value)) < 1500


def test_kinds_of_wrong_use_are_listed_once():
    uses = [inspect.getsource(call) for call, _, _ in ROWS.values()]
    assert len(set(uses)) == len(ROWS)


if __name__ == "__main__":
    for name, (call, error, _) in ROWS.items():
        try:
            call()
        except error as refusal:
            print(f"{name}\n    {type(refusal).__name__}: {refusal}")
    print(f"{len(ROWS)} kinds of wrong use")
