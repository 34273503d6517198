"""Wrong uses, each with the whole sentence that answers it.

`python tests/test_bad_inputs.py` prints how many there are, and all of them.
"""

import inspect
import math

import keras
import numpy as np
import pytest
import sympy as sp
import tensorflow as tf

import keraspinn as kp
from keraspinn.expressions import from_json
from keraspinn.reproduce import Training

X, Y, T, K = sp.symbols("x y t k")
U = sp.Function("u")(X, Y)
BOX = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
WALL = kp.Condition(U, on={X: 0})
POINTS = np.full((4, 2), 0.25, "float32")
VALUES = {"u": POINTS[:, 0]}
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


def two_walls():
    return problem(conditions={"walls": kp.Condition(U, on=[{X: 0}, {X: 1}])})


def measured():
    return problem(conditions={"sensors": kp.Data(POINTS, {U: POINTS[:, 0]})})


def model(declared=PROBLEM, **arguments):
    network = kp.networks.MLP(2, 1, name="net")
    return kp.PINNModel(declared, network, **({"seed": 0} | arguments), name="m")


def compiled(declared=PROBLEM, optimizer="sgd", **arguments):
    trained = model(declared)
    trained.compile(optimizer, **({"jit_compile": False} | arguments))
    return trained


def spoilt():
    trained = compiled()
    trained.set_weights([np.full_like(w, math.nan) for w in trained.get_weights()])
    return trained


def stream(tensors):
    return tf.data.Dataset.from_tensor_slices(tensors).batch(2)


def unseen():
    """Batches that a filter takes away, which shows when they are read."""
    return stream(POINTS).filter(lambda points: False)


def two_headed():
    points = keras.Input((2,))
    return keras.Model(points, [keras.layers.Dense(1)(points) for _ in range(2)])


def later(cls, saved, **changes):
    return cls.from_config(saved.get_config() | changes)


class Unregistered(keras.layers.Dense):
    """A layer that a file cannot name to those who load it."""


def reloaded(network):
    config = kp.PINNModel(PROBLEM, network, seed=0).get_config()
    return kp.PINNModel.from_config(config)


# What is called, what it raises, and the whole message.
ROWS = {
    # Problems
    "problem from nothing": (
        lambda: problem(domain=None),
        TypeError,
        (
            "`domain` must be a geometry, such as `keraspinn.geometry.Box({x: "
            "(0, 1)})`. Received: None"
        ),
    ),
    "domain as a dict": (
        lambda: problem(domain={X: (0, 1)}),
        TypeError,
        (
            "`domain` must be a geometry, such as `keraspinn.geometry.Box({x: "
            "(0, 1)})`. Received: {x: (0, 1)}"
        ),
    ),
    "no equations": (
        lambda: problem(equations={}),
        TypeError,
        (
            "`equations` must be a dict from names to equations, such as "
            "{'heat': sympy.Eq(u.diff(t), u.diff(x, 2))}. Received: {}"
        ),
    ),
    "equations as a list": (
        lambda: problem(equations=[U]),
        TypeError,
        (
            "`equations` must be a dict from names to equations, such as "
            "{'heat': sympy.Eq(u.diff(t), u.diff(x, 2))}. Received: [u(x, y)]"
        ),
    ),
    "equation as text": (
        lambda: problem(equations={"e": "u_xx = 0"}),
        TypeError,
        (
            "An equation must be a SymPy expression or a `sympy.Eq`. Received "
            "'u_xx = 0' of type str. Text is never evaluated; build the "
            "expression with SymPy."
        ),
    ),
    "equation without a field": (
        lambda: problem(equations={"e": X + Y}),
        ValueError,
        (
            "In equation 'e': there is no field in x + y = 0. (SymPy takes the "
            "derivative of u(x) by any other symbol to be zero.) Write an "
            "equation in the fields."
        ),
    ),
    "derivative by another symbol": (
        lambda: problem(equations={"e": U.diff(T)}),
        ValueError,
        (
            "In equation 'e': there is no field in 0 = 0. (SymPy takes the "
            "derivative of u(x) by any other symbol to be zero.) Write an "
            "equation in the fields."
        ),
    ),
    "unknown symbol": (
        lambda: problem(equations={"e": K * U}),
        ValueError,
        (
            "In equation 'e': unknown symbol k. Coordinates are x, y. For a "
            "coefficient to be found by training, declare k = "
            'keraspinn.Parameter("k", initial=...); for a known one, substitute'
            " its number."
        ),
    ),
    "unsupported function": (
        lambda: problem(equations={"e": sp.zeta(U)}),
        ValueError,
        (
            "In equation 'e': zeta cannot be evaluated. Received zeta(u(x, y))."
            " Supported are Abs, acos, acosh, And, asin, asinh, atan, atan2, "
            "atanh, cos, cosh, cot, coth, csc, csch, Eq, erf, erfc, exp, Ge, "
            "Gt, Heaviside, Le, log, Lt, Max, Min, Ne, Not, Or, Piecewise, sec,"
            " sech, sign, sin, sinh, sqrt, tan, tanh."
        ),
    ),
    "complex number": (
        lambda: problem(equations={"e": sp.I * U}),
        ValueError,
        (
            "In equation 'e': the number I is not real and finite. Received an "
            "expression that holds it. Only real equations can be solved: split"
            " a complex one into its real and imaginary parts."
        ),
    ),
    "infinite number": (
        lambda: problem(equations={"e": U + sp.oo}),
        ValueError,
        (
            "In equation 'e': the number oo is not real and finite. Received an"
            " expression that holds it. Only real equations can be solved: "
            "split a complex one into its real and imaginary parts."
        ),
    ),
    "NaN in an equation": (
        lambda: problem(equations={"e": U + sp.nan}),
        ValueError,
        (
            "In equation 'e': the number nan is not real and finite. Received "
            "an expression that holds it. Only real equations can be solved: "
            "split a complex one into its real and imaginary parts."
        ),
    ),
    "field of some coordinates": (
        lambda: problem(equations={"e": sp.Function("u")(X).diff(X)}),
        ValueError,
        (
            "In equation 'e': a field must be applied to every coordinate of "
            "the domain once. Received u(x), which lacks y. Write u(x, y)."
        ),
    ),
    "field elsewhere": (
        lambda: problem(equations={"e": U.subs(X, 0) - U}),
        ValueError,
        (
            "In equation 'e': a field can be applied only to the coordinates x,"
            " y. Received u(0, y), whose argument 0 is not one of them. Write "
            "u(x, y); where a condition holds is chosen by its `on=`."
        ),
    ),
    "field in two orders": (
        lambda: problem(equations={"e": U + sp.Function("u")(Y, X)}),
        ValueError,
        (
            "In equation 'e': the field u is applied to its arguments in two "
            "orders. Received u(x, y) and u(y, x). Write u(x, y) throughout."
        ),
    ),
    "name that starts with a digit": (
        lambda: problem(equations={"1st": U}),
        ValueError,
        (
            "A name in `equations` must be letters, digits and underscores, "
            "starting with a letter. Received: '1st'"
        ),
    ),
    "name with a space": (
        lambda: problem(conditions={"left wall": WALL}),
        ValueError,
        (
            "A name in `conditions` must be letters, digits and underscores, "
            "starting with a letter. Received: 'left wall'"
        ),
    ),
    "condition called residual": (
        lambda: problem(conditions={"residual": WALL}),
        ValueError,
        (
            "A condition may not be called 'residual': that is the name of the "
            "equations' own loss term. Choose another name."
        ),
    ),
    "one name twice": (
        lambda: problem(conditions={"e": WALL}),
        ValueError,
        (
            "Two terms of one name: ['e'] stand in `equations` and in "
            "`conditions`. Rename one of each."
        ),
    ),
    "two columns of one name": (
        lambda: problem(
            conditions={"b": kp.Condition(U - kp.Parameter("b_loss", 1), on="boundary")}
        ),
        ValueError,
        (
            "The logs would have two columns of one name: ['b_loss']. Rename "
            "the condition or the parameter."
        ),
    ),
    "condition as an equation": (
        lambda: problem(conditions={"b": sp.Eq(U, 0)}),
        TypeError,
        (
            "`conditions`['b'] must be a Condition or Data. Received: Eq(u(x, "
            "y), 0) of type Equality"
        ),
    ),
    "conditions as a list": (
        lambda: problem(conditions=[WALL]),
        TypeError,
        (
            "`conditions` must be a dict from names to Condition or Data. "
            "Received: an object of type list"
        ),
    ),
    "one parameter with two values": (
        lambda: problem(
            equations={"e": U * kp.Parameter("c", 1) + kp.Parameter("c", 2)}
        ),
        ValueError,
        (
            "In equation 'e': two different symbols are called 'c': "
            "Parameter('c', initial=1.0) and Parameter('c', initial=2.0). "
            "Rename one, or use one object throughout."
        ),
    ),
    "reference of another field": (
        lambda: problem(reference={sp.Function("v")(X, Y): X}),
        ValueError,
        (
            "The reference compares ['v'], which no equation or condition "
            "mentions. The problem's fields are ['u']."
        ),
    ),
    "reference as text": (
        lambda: problem(reference={U: "sin(x)"}),
        TypeError,
        (
            "The reference of u(x, y) must be a SymPy expression in the "
            "coordinates, or give values: keraspinn.Reference(points, {u: "
            "values}). Received: 'sin(x)'"
        ),
    ),
    "reference with an unknown": (
        lambda: problem(reference={U: K * X}),
        ValueError,
        (
            "In the reference of u(x, y): unknown symbol k. Coordinates are x, "
            "y. For a coefficient to be found by training, declare k = "
            'keraspinn.Parameter("k", initial=...); for a known one, substitute'
            " its number."
        ),
    ),
    "fields of other names": (
        lambda: problem(fields=[sp.Function("v")(X, Y)]),
        ValueError,
        (
            "`fields` must list each field of the equations once: ['u']. "
            "Received: [v(x, y)]"
        ),
    ),
    "problem changed": (
        lambda: setattr(problem(), "fields", ()),
        AttributeError,
        ("A Problem cannot be changed. Declare a new one with fields=()."),
    ),
    "test data without a reference": (
        lambda: problem(reference=None).test_data(),
        ValueError,
        (
            "This problem has no reference. Declare one: Problem(..., "
            "reference={u: exact solution})."
        ),
    ),
    # Conditions and data
    "no equation": (
        lambda: kp.Condition([], on="boundary"),
        ValueError,
        ("A Condition needs at least one equation. Received: []"),
    ),
    "equation that always holds": (
        lambda: kp.Condition(sp.Eq(U, U), on="boundary"),
        ValueError,
        (
            "An equation must leave something to solve for. Received True: "
            "either both sides of a `sympy.Eq` are the same or can never be, or"
            " `==` was used, which compares how two expressions are written. "
            "Write `sympy.Eq(left, right)`."
        ),
    ),
    "negative weight": (
        lambda: kp.Condition(U, "boundary", weight=-1),
        ValueError,
        ("`weight` must be a finite number, zero or more. Received: -1"),
    ),
    "infinite weight": (
        lambda: kp.Condition(U, "boundary", weight=math.inf),
        ValueError,
        ("`weight` must be a finite number, zero or more. Received: inf"),
    ),
    "NaN as weight": (
        lambda: kp.Condition(U, "boundary", weight=math.nan),
        ValueError,
        ("`weight` must be a finite number, zero or more. Received: nan"),
    ),
    "weight as text": (
        lambda: kp.Condition(U, "boundary", weight="big"),
        ValueError,
        ("`weight` must be a finite number, zero or more. Received: 'big'"),
    ),
    "face that is none": (
        lambda: problem(conditions={"b": kp.Condition(U, on={X: 2})}),
        ValueError,
        (
            "`on` must be a face of the domain. Received {x: 2}. Write "
            '"interior", "boundary", a face ({x: 0}, {x: 1}, {y: 0}, {y: 1}), '
            "or a list of these."
        ),
    ),
    "face at NaN": (
        lambda: problem(conditions={"b": kp.Condition(U, on={X: math.nan})}),
        ValueError,
        (
            "`on` must be a face of the domain. Received {x: nan}. Write "
            '"interior", "boundary", a face ({x: 0}, {x: 1}, {y: 0}, {y: 1}), '
            "or a list of these."
        ),
    ),
    "face of another coordinate": (
        lambda: problem(conditions={"b": kp.Condition(U, on={T: 0})}),
        ValueError,
        (
            "`on` must be a face of the domain. Received {t: 0}: the domain has"
            ' no coordinate t. Write "interior", "boundary", a face ({x: 0}, '
            "{x: 1}, {y: 0}, {y: 1}), or a list of these."
        ),
    ),
    "initial without time": (
        lambda: problem(conditions={"b": kp.Condition(U, on="initial")}),
        ValueError,
        (
            "`on` names no part of the domain: 'initial'. Write \"interior\", "
            '"boundary", a face ({x: 0}, {x: 1}, {y: 0}, {y: 1}), or a list of '
            "these."
        ),
    ),
    "misspelt part": (
        lambda: problem(conditions={"b": kp.Condition(U, on="boundry")}),
        ValueError,
        (
            "`on` names no part of the domain: 'boundry'. Write \"interior\", "
            '"boundary", a face ({x: 0}, {x: 1}, {y: 0}, {y: 1}), or a list of '
            "these."
        ),
    ),
    "empty list of faces": (
        lambda: problem(conditions={"b": kp.Condition(U, on=[])}),
        ValueError,
        (
            '`on` must not be empty. Write "interior", "boundary", a face ({x: '
            "0}, {x: 1}, {y: 0}, {y: 1}), or a list of these."
        ),
    ),
    "data in one dimension": (
        lambda: kp.Data([0.1, 0.2], {U: [1, 2]}),
        ValueError,
        ("`points` must be an array (n, d), a row a point. Received: shape (2,)"),
    ),
    "data of other coordinates": (
        lambda: problem(conditions={"d": kp.Data([[0.1]], {U: [1]})}),
        ValueError,
        (
            "The points of Data 'd' must have a column for each of the "
            "coordinates ['x', 'y']. Received: shape (1, 1)"
        ),
    ),
    "data without points": (
        lambda: kp.Data(np.zeros((0, 2)), {U: []}),
        ValueError,
        ("`points` must be an array (n, d), a row a point. Received: shape (0, 2)"),
    ),
    "data of another length": (
        lambda: kp.Data([[0, 1]], {U: [1, 2]}),
        ValueError,
        (
            "The values of u(x, y) must have shape (1,), one for each point. "
            "Received: shape (2,)"
        ),
    ),
    "data with NaN": (
        lambda: kp.Data([[0, math.nan]], {U: [1]}),
        ValueError,
        (
            "The points must be finite. Received: [ 0. nan] in row 0. Drop the "
            "rows that hold NaN or infinity."
        ),
    ),
    "infinite value": (
        lambda: kp.Data([[0, 1], [0, 2]], {U: [1, math.inf]}),
        ValueError,
        (
            "The values of u(x, y) must be finite. Received: inf in row 1. Drop"
            " the rows that hold NaN or infinity."
        ),
    ),
    "data as text": (
        lambda: kp.Data([["a", "b"]], {U: [1]}),
        ValueError,
        ("The points must be an array of numbers. Received: [['a', 'b']]"),
    ),
    "value by name": (
        lambda: kp.Data([[0, 1]], {"u": [1]}),
        TypeError,
        (
            "The keys of `values` must be SymPy expressions in the fields, such"
            " as u or u.diff(x). Received: 'u'"
        ),
    ),
    "no values": (
        lambda: kp.Data([[0, 1]], {}),
        TypeError,
        (
            "`values` must be a dict from expressions to arrays, such as {u: "
            "values}. Received: {}"
        ),
    ),
    "name of what is not there": (
        lambda: kp.Reference([[0, 1]], {U: [1]}, names={X: "x"}),
        ValueError,
        ("`names` holds expressions that `values` does not: [x]"),
    ),
    "parameter without a name": (
        lambda: kp.Parameter("", 1.0),
        ValueError,
        ("A Parameter's name must not be empty. Received name=''."),
    ),
    "parameter at infinity": (
        lambda: kp.Parameter("c", math.inf),
        ValueError,
        (
            "Parameter 'c': `initial` must be finite, as training starts from "
            "it. Received initial=inf."
        ),
    ),
    "parameter as text": (
        lambda: kp.Parameter("c", "0.1"),
        TypeError,
        (
            "Parameter 'c': `initial` must be a real number, such as 0.1. "
            "Received initial='0.1' of type str."
        ),
    ),
    "parameter against its sign": (
        lambda: kp.Parameter("c", -1.0, positive=True),
        ValueError,
        (
            "Parameter 'c' was declared with positive=True, which its initial "
            "value contradicts. Received initial=-1.0. Change the value or the "
            "assumption."
        ),
    ),
    # Geometry
    "interval reversed": (
        lambda: kp.geometry.Box({X: (1, 0)}),
        ValueError,
        ("The interval of x must be finite and start below its end. Received: (1, 0)"),
    ),
    "interval without length": (
        lambda: kp.geometry.Box({X: (0, 0)}),
        ValueError,
        ("The interval of x must be finite and start below its end. Received: (0, 0)"),
    ),
    "infinite interval": (
        lambda: kp.geometry.Box({X: (0, math.inf)}),
        ValueError,
        (
            "The interval of x must be finite and start below its end. "
            "Received: (0, inf)"
        ),
    ),
    "interval of three": (
        lambda: kp.geometry.Box({X: (0, 1, 2)}),
        ValueError,
        ("The interval of x must be two numbers, (start, end). Received: (0, 1, 2)"),
    ),
    "interval as text": (
        lambda: kp.geometry.Box({X: "ab"}),
        ValueError,
        ("The interval of x must be two numbers, (start, end). Received: 'ab'"),
    ),
    "coordinate as text": (
        lambda: kp.geometry.Box({"x": (0, 1)}),
        TypeError,
        (
            "A coordinate must be a SymPy symbol, such as `sympy.Symbol('x')`. "
            "Received: 'x' of type str"
        ),
    ),
    "domain as a list": (
        lambda: kp.geometry.Box([(0, 1)]),
        TypeError,
        (
            "`space` must be a dict from SymPy symbols to intervals, such as "
            "{x: (0, 1)}. Received: [(0, 1)]"
        ),
    ),
    "domain of nothing": (
        lambda: kp.geometry.Box({}),
        ValueError,
        (
            "A domain needs at least one coordinate, each declared once. "
            "Received: space=[], time=[]"
        ),
    ),
    "coordinate twice": (
        lambda: kp.geometry.Box({X: (0, 1)}, time={X: (0, 1)}),
        ValueError,
        (
            "A domain needs at least one coordinate, each declared once. "
            "Received: space=['x'], time=['x']"
        ),
    ),
    "two times": (
        lambda: kp.geometry.Box({X: (0, 1)}, time={T: (0, 1), Y: (0, 1)}),
        ValueError,
        ("`time` must hold one coordinate. Received: ['t', 'y']"),
    ),
    "grid of one": (
        lambda: BOX.grid(1),
        ValueError,
        ("`n` must be an integer, the points a side, at least 2. Received: 1"),
    ),
    # Networks and layers
    "units of zero": (
        lambda: kp.networks.MLP(units=0),
        ValueError,
        ("`units` must be a positive integer. Received: units=0"),
    ),
    "depth as a float": (
        lambda: kp.networks.MLP(depth=2.5),
        ValueError,
        ("`depth` must be a positive integer. Received: depth=2.5"),
    ),
    "outputs as truth": (
        lambda: kp.networks.MLP(outputs=True),
        ValueError,
        ("`outputs` must be a positive integer. Received: outputs=True"),
    ),
    "activation nobody knows": (
        lambda: kp.networks.MLP(activation="tnah"),
        ValueError,
        (
            '`activation` must be "sin", or a function or the name of one in '
            "keras.activations, such as \"tanh\". Received: 'tnah'"
        ),
    ),
    "width of a gate": (
        lambda: kp.layers.GatedDense(4)(*np.zeros((3, 2, 3))),
        ValueError,
        (
            "The encoding U must have as many features as the layer has units, "
            "4. Received: U of shape (2, 3)"
        ),
    ),
    "network as text": (
        lambda: kp.PINNModel(PROBLEM, "mlp"),
        TypeError,
        (
            "`network` must be a Keras layer or model, such as "
            "keraspinn.networks.MLP(). Received: 'mlp'"
        ),
    ),
    "problem as an equation": (
        lambda: kp.PINNModel(U, kp.networks.MLP()),
        TypeError,
        ("`problem` must be a keraspinn.Problem, not u(x, y)"),
    ),
    "columns too many": (
        lambda: kp.PINNModel(PROBLEM, kp.networks.MLP(2, 1, outputs=2)),
        ValueError,
        (
            "The network must output one column for each field ['u']. Received "
            "a network with 2 output(s). Write, for example, "
            "keraspinn.networks.MLP(outputs=1)."
        ),
    ),
    "seed as a float": (
        lambda: model(seed=0.5),
        ValueError,
        ("`seed` must be an integer, zero or more and below 2**32. Received: 0.5"),
    ),
    "negative seed": (
        lambda: model(seed=-1),
        ValueError,
        ("`seed` must be an integer, zero or more and below 2**32. Received: -1"),
    ),
    "seed too large": (
        lambda: model(seed=2**32),
        ValueError,
        (
            "`seed` must be an integer, zero or more and below 2**32. Received:"
            " 4294967296"
        ),
    ),
    "half precision": (
        lambda: kp.PINNModel(PROBLEM, kp.networks.MLP(2, 1, dtype="mixed_float16")),
        ValueError,
        (
            "Derivatives of a network need float32 or float64: float16 has 3 "
            "digits and ends at 65504, bfloat16 has 2 digits, and each order of"
            " derivative loses some. Received: ['float32', 'mixed_float16']. "
            "Set one for the model and its network with "
            '`keras.config.set_dtype_policy("float32")`.'
        ),
    ),
    "two types": (
        lambda: kp.PINNModel(PROBLEM, kp.networks.MLP(2, 1, dtype="float64")),
        ValueError,
        (
            "The model and its network must compute in one floating-point type."
            " Received: ['float32', 'float64']. Set it for both with "
            "`keras.config.set_dtype_policy`."
        ),
    ),
    "layer that nobody registered": (
        lambda: reloaded(keras.Sequential([Unregistered(1)])),
        ValueError,
        (
            "The file holds a layer of the class Unregistered, which is not "
            "known here. Decorate it with "
            "`@keras.saving.register_keras_serializable()`, and import its "
            "module before you load the model."
        ),
    ),
    # Compiling
    "loss given": (
        lambda: compiled(loss="mse"),
        ValueError,
        (
            "A PINNModel takes its loss from the problem's equations and "
            "conditions and its metrics from the problem's reference. Received:"
            " ['loss']. Set initial loss weights with `Condition(..., "
            "weight=)`."
        ),
    ),
    "metrics given": (
        lambda: compiled(metrics=["mae"]),
        ValueError,
        (
            "A PINNModel takes its loss from the problem's equations and "
            "conditions and its metrics from the problem's reference. Received:"
            " ['metrics']. Set initial loss weights with `Condition(..., "
            "weight=)`."
        ),
    ),
    "no steps at a time": (
        lambda: compiled(steps_per_execution=0),
        ValueError,
        ("`steps_per_execution` must be a positive integer or 'auto'. Received: 0"),
    ),
    "steps as a float": (
        lambda: compiled(steps_per_execution=2.5),
        ValueError,
        ("`steps_per_execution` must be a positive integer or 'auto'. Received: 2.5"),
    ),
    "scaled losses": (
        lambda: compiled(
            optimizer=keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD())
        ),
        ValueError,
        (
            "Losses are not scaled: they are computed in float32 or float64, "
            "where gradients do not underflow. Give the optimizer itself, "
            "without LossScaleOptimizer or `loss_scale_factor`. Received: "
            "LossScaleOptimizer"
        ),
    ),
    "fit before compile": (
        lambda: model().fit(),
        ValueError,
        ("Call `model.compile(optimizer=...)` before `fit`."),
    ),
    # Fitting
    "targets": (
        lambda: compiled().fit(y=POINTS),
        ValueError,
        (
            "`fit` takes no `y`: the equations say what holds at the points. "
            "Declare measurements as a keraspinn.Data condition."
        ),
    ),
    "sample weights": (
        lambda: compiled().fit(sample_weight=POINTS),
        ValueError,
        (
            "`fit` takes no `sample_weight`: the problem says what counts. "
            "Weigh its terms with `Condition(..., weight=)`, and pass "
            "`validation_data`."
        ),
    ),
    "class weights": (
        lambda: compiled().fit(class_weight={0: 1.0}),
        ValueError,
        (
            "`fit` takes no `class_weight`: the problem says what counts. Weigh"
            " its terms with `Condition(..., weight=)`, and pass "
            "`validation_data`."
        ),
    ),
    "validation split": (
        lambda: compiled().fit(validation_split=0.1),
        ValueError,
        (
            "`fit` takes no `validation_split`: the problem says what counts. "
            "Weigh its terms with `Condition(..., weight=)`, and pass "
            "`validation_data`."
        ),
    ),
    "epoch of no steps": (
        lambda: compiled().fit(steps_per_epoch=0),
        ValueError,
        ("`steps_per_epoch` must be a positive integer or None. Received: 0"),
    ),
    "epoch of a part of a step": (
        lambda: compiled().fit(steps_per_epoch=1.5),
        ValueError,
        ("`steps_per_epoch` must be a positive integer or None. Received: 1.5"),
    ),
    "batch of nothing": (
        lambda: compiled().fit(batch_size=0),
        ValueError,
        (
            "`batch_size` must be a positive integer, or a dict from term names"
            " to positive integers. Received: 0 for 'residual'"
        ),
    ),
    "batch as a float": (
        lambda: compiled().fit(batch_size=2.5),
        ValueError,
        (
            "`batch_size` must be a positive integer, or a dict from term names"
            " to positive integers. Received: 2.5 for 'residual'"
        ),
    ),
    "batch of another term": (
        lambda: compiled().fit(batch_size={"top": 3}),
        ValueError,
        (
            "`batch_size` names ['top'], which are no terms of the problem. Its"
            " terms are ['residual', 'walls']."
        ),
    ),
    "points of another term": (
        lambda: compiled().fit({"top": POINTS}),
        ValueError,
        ("The problem has no term 'top'. Its terms are ['residual', 'walls']."),
    ),
    "points of one coordinate": (
        lambda: compiled().fit(POINTS[:, :1]),
        ValueError,
        (
            "The points of 'residual' must have shape (n, 2), a column for each"
            " of ['x', 'y']. Received: shape (4, 1)"
        ),
    ),
    "points off the face": (
        lambda: compiled().fit({"walls": POINTS}),
        ValueError,
        (
            "The points of 'walls' must lie where it holds: x = 0. Received: "
            "[0.25 0.25] in row 0."
        ),
    ),
    "points with NaN": (
        lambda: compiled().fit(POINTS * math.nan),
        ValueError,
        (
            "The points of 'residual' must be finite. Received: [nan nan] in "
            "row 0. Drop the rows that hold NaN or infinity."
        ),
    ),
    "points without rows": (
        lambda: compiled().fit(POINTS[:0]),
        ValueError,
        (
            "The points of 'residual' must have shape (n, 2), a column for each"
            " of ['x', 'y']. Received: shape (0, 2)"
        ),
    ),
    "points of a face missing": (
        lambda: compiled(two_walls()).fit({"walls": np.zeros((3, 2))}),
        ValueError,
        (
            "The points of 'walls' leave out x = 1. Give some there too, or "
            "leave 'walls' out, and all of its points are drawn."
        ),
    ),
    "stream of single points": (
        lambda: compiled().fit(tf.data.Dataset.from_tensor_slices(POINTS)),
        ValueError,
        (
            "A batch of points of 'residual' must have shape (n, 2), a column "
            "for each of ['x', 'y']. Received: shape (2,). Of single points "
            "make batches with `dataset.batch(n)`."
        ),
    ),
    "stream of one coordinate": (
        lambda: compiled().fit(tf.data.Dataset.from_tensors(POINTS[:, :1])),
        ValueError,
        (
            "A batch of points of 'residual' must have shape (n, 2), a column "
            "for each of ['x', 'y']. Received: shape (4, 1). Of single points "
            "make batches with `dataset.batch(n)`."
        ),
    ),
    "callbacks already gathered": (
        lambda: compiled().fit(callbacks=keras.callbacks.CallbackList()),
        ValueError,
        (
            "`fit` takes a plain list of callbacks, as it tells them of the "
            "model in every fit anew. Received: a CallbackList"
        ),
    ),
    "points for measurements": (
        lambda: compiled(measured()).fit({"sensors": POINTS}),
        ValueError,
        ("A Data term brings its own points; leave it out of the points given."),
    ),
    "weights of NaN": (
        lambda: spoilt().fit(batch_size=2, steps_per_epoch=1, verbose=0),
        FloatingPointError,
        (
            "Training stopped at iteration 0: the variable "
            "'m/net/hidden_1/kernel' holds numbers that are not finite, from an"
            " update that overflowed or from weights given. Go back to a "
            "checkpoint. Try a lower learning rate or `clipnorm=1.0` in the "
            "optimizer, and look for a division by zero, or a logarithm, root or "
            "power of what may become negative, in the equations. Pass "
            "keraspinn.callbacks.RestoreOnNonFinite() to `fit` to go back to "
            "earlier weights instead of an error, or "
            "keras.callbacks.TerminateOnNaN() to stop without one."
        ),
    ),
    # Evaluating
    "evaluation of another field": (
        lambda: compiled().evaluate(POINTS, {"v": POINTS[:, 0]}),
        ValueError,
        (
            "Reference values must be a dict with the keys ['u'], as "
            "`test_data` returns it. Received: ['v']"
        ),
    ),
    "values without a name": (
        lambda: compiled().evaluate(POINTS, POINTS[:, 0]),
        ValueError,
        (
            "Reference values must be a dict with the keys ['u'], as "
            "`test_data` returns it. Received: <class 'numpy.ndarray'>"
        ),
    ),
    "values of another length": (
        lambda: compiled().evaluate(POINTS, {"u": POINTS[1:, 0]}),
        ValueError,
        (
            "The values of u(x, y) must have shape (4,), one for each point. "
            "Received: shape (3,)"
        ),
    ),
    "prediction of one coordinate": (
        lambda: compiled().predict(POINTS[:, :1]),
        ValueError,
        (
            "The points of 'evaluation' must have shape (n, 2), a column for "
            "each of ['x', 'y']. Received: shape (4, 1)"
        ),
    ),
    "expression in another field": (
        lambda: compiled().predict_expression(sp.Function("w")(X, Y), POINTS),
        ValueError,
        ("The problem has no fields ['w']; it has ['u']."),
    ),
    "expression as text": (
        lambda: compiled().predict_expression("u", POINTS),
        TypeError,
        (
            "An equation must be a SymPy expression or a `sympy.Eq`. Received "
            "'u' of type str. Text is never evaluated; build the expression "
            "with SymPy."
        ),
    ),
    "expression at NaN": (
        lambda: compiled().predict_expression(U, POINTS * math.nan),
        ValueError,
        (
            "The points of 'prediction' must be finite. Received: [nan nan] in "
            "row 0. Drop the rows that hold NaN or infinity."
        ),
    ),
    # Loss weights and callbacks
    "alpha of zero": (
        lambda: ANNEALING(alpha=0),
        ValueError,
        ("`alpha` must be in (0, 1]. Received: alpha=0"),
    ),
    "alpha above one": (
        lambda: ANNEALING(alpha=1.5),
        ValueError,
        ("`alpha` must be in (0, 1]. Received: alpha=1.5"),
    ),
    "alpha as text": (
        lambda: ANNEALING(alpha="0.9"),
        ValueError,
        ("`alpha` must be in (0, 1]. Received: alpha='0.9'"),
    ),
    "alpha as NaN": (
        lambda: ANNEALING(alpha=math.nan),
        ValueError,
        ("`alpha` must be in (0, 1]. Received: alpha=nan"),
    ),
    "update never": (
        lambda: ANNEALING(update_freq=0),
        ValueError,
        ("`update_freq` must be at least 1. Received: 0"),
    ),
    "update at times": (
        lambda: ANNEALING(update_freq=2.5),
        ValueError,
        ("`update_freq` must be an integer. Received: 2.5"),
    ),
    "update as text": (
        lambda: ANNEALING(update_freq="10"),
        ValueError,
        ("`update_freq` must be an integer. Received: '10'"),
    ),
    "rule nobody knows": (
        lambda: ANNEALING(rule="paper"),
        ValueError,
        ('`rule` must be "weighted" or "literal". Received: rule=\'paper\''),
    ),
    "layers nobody knows": (
        lambda: ANNEALING(layers="all"),
        ValueError,
        ("`layers` must be one of ('pooled', 'averaged', 'largest'). Received: 'all'"),
    ),
    "exclusion as text": (
        lambda: ANNEALING(exclude="bias"),
        ValueError,
        ("`exclude` must be a list of texts, such as (\"bias\",). Received: 'bias'"),
    ),
    "exclusion of nothing": (
        lambda: compiled().fit(callbacks=[ANNEALING(exclude=("bais",))]),
        ValueError,
        (
            "`exclude` names 'bais', which no variable's path holds. The paths "
            "are ['m/net/hidden_1/kernel', 'm/net/hidden_1/bias', "
            "'m/net/head/kernel', 'm/net/head/bias']."
        ),
    ),
    "annealing of another model": (
        lambda: ANNEALING().set_model(keras.Sequential()),
        TypeError,
        (
            "LearningRateAnnealing needs a keraspinn.PINNModel, which keeps the"
            " gradients of its loss terms apart. Received: Sequential"
        ),
    ),
    "annealing without conditions": (
        lambda: compiled(problem(conditions={})).fit(callbacks=[ANNEALING()]),
        ValueError,
        ("There are no loss weights to adapt: the problem has no conditions."),
    ),
    "two annealings": (
        lambda: compiled().fit(callbacks=[ANNEALING(), ANNEALING(alpha=0.5)]),
        ValueError,
        (
            "Two callbacks adapt the loss weights; give `fit` one of them. "
            "Received: GradientRatio(alpha=0.9, update_freq=10, "
            "rule='weighted', exclude=(), layers='pooled') and "
            "GradientRatio(alpha=0.5, update_freq=10, rule='weighted', "
            "exclude=(), layers='pooled')"
        ),
    ),
    "no optimizer": (
        lambda: compiled(optimizer=None),
        ValueError,
        "`compile` needs an optimizer. Received: None",
    ),
    "an old format": (
        lambda: compiled().save("model.h5"),
        ValueError,
        (
            "A PINNModel is saved to a `.keras` file, or its weights alone to "
            "`.weights.h5` with `save_weights`: Keras cannot load it from another. "
            "Received: 'model.h5'"
        ),
    ),
    "complex points": (
        lambda: compiled().predict(1j * np.ones((3, 1))),
        ValueError,
        "The points of 'evaluation' must be real. Received: complex ones",
    ),
    "annealing in compile": (
        lambda: compiled(callbacks=[ANNEALING()]),
        TypeError,
        (
            "`compile` takes `optimizer`, `steps_per_execution`, `jit_compile`, "
            "`run_eagerly` and `max_points_per_pass`; callbacks go to `fit`. "
            "Received: ['callbacks']"
        ),
    ),
    "callback not made": (
        lambda: compiled().fit(callbacks=[ANNEALING]),
        TypeError,
        (
            "`callbacks` must be a list of keras.callbacks.Callback objects. "
            "Received: LearningRateAnnealing. Write `LearningRateAnnealing()`, "
            "of a class that is a Callback."
        ),
    ),
    "histogram of nothing": (
        lambda: kp.callbacks.GradientHistogram(every=0),
        ValueError,
        (
            "`every` must be a positive integer, a number of training steps. "
            "Received: every=0"
        ),
    ),
    "eigenvalue at times": (
        lambda: kp.callbacks.HessianEigenvalue(every=2.5),
        ValueError,
        (
            "`every` must be a positive integer, a number of training steps. "
            "Received: every=2.5"
        ),
    ),
    "restoring every zero steps": (
        lambda: kp.callbacks.RestoreOnNonFinite(every=0),
        ValueError,
        (
            "`every` must be a positive integer, a number of training steps. "
            "Received: every=0"
        ),
    ),
    "restoring another model": (
        lambda: kp.callbacks.RestoreOnNonFinite().set_model(keras.Sequential()),
        TypeError,
        (
            "RestoreOnNonFinite needs a keraspinn.PINNModel, which takes no "
            "step that is not finite. Received: Sequential"
        ),
    ),
    # Files
    "model of the future": (
        lambda: later(kp.PINNModel, model(), format=2),
        ValueError,
        (
            "The model was saved in format 2 by keraspinn 0.1.0. This is keraspinn "
            "0.1.0, which reads formats up to 1. Update it: pip install --upgrade "
            "keraspinn."
        ),
    ),
    "expression of unknown kind": (
        lambda: from_json({"code": "print(1)"}),
        ValueError,
        (
            "Unknown kind of leaf. Received a dict with the keys ['code']; one "
            "of them must be among ['rational', 'float', 'constant', 'symbol', "
            "'parameter', 'field', 'derivative']."
        ),
    ),
    "expression of unknown node": (
        lambda: from_json(["__import__", 1]),
        ValueError,
        (
            "Unknown node. Received '__import__'; known are exp, log, sin, cos,"
            " tan, cot, sec, csc, asin, acos, atan, sinh, cosh, tanh, coth, "
            "sech, csch, asinh, acosh, atanh, erf, erfc, Abs, sign, Not, atan2,"
            " Heaviside, Eq, Ne, Lt, Le, Gt, Ge, Pow, ExprCondPair, Max, Min, "
            "And, Or, Add, Mul, Piecewise."
        ),
    ),
    "expression that is text": (
        lambda: from_json("x + 1"),
        ValueError,
        (
            "Expected an integer, a boolean, a list that starts with the name "
            "of a node, or a dict. Received 'x + 1' of type str."
        ),
    ),
    "number too long": (
        lambda: from_json(10**400),
        ValueError,
        (
            "An integer is too long. Received one of 1329 bits; at most 300 "
            "decimal digits are allowed."
        ),
    ),
    "float that is none": (
        lambda: from_json({"float": "nan", "precision": 53}),
        ValueError,
        (
            "A float is a decimal string such as '-1.5e-3', of at most 400 "
            "characters. Received 'nan'."
        ),
    ),
    # What Keras takes and a PINNModel does not
    "loss by position": (
        lambda: model().compile("adam", "mse"),
        ValueError,
        (
            "A PINNModel takes its loss from the problem's equations and "
            "conditions and its metrics from the problem's reference. Received:"
            " ['loss']. Set initial loss weights with `Condition(..., "
            "weight=)`."
        ),
    ),
    "measured outside": (
        lambda: problem(conditions={"sensors": kp.Data([[3, 0.5]], {U: [1.0]})}),
        ValueError,
        (
            "The points of Data 'sensors' must lie in the domain, x ∈ [0, 1] × "
            "y ∈ [0, 1], with columns ['x', 'y']. Received: [3.  0.5] in row 0."
        ),
    ),
    "reference outside": (
        lambda: problem(reference=kp.Reference([[0.5, -1]], {U: [1.0]})),
        ValueError,
        (
            "The points of the reference must lie in the domain, x ∈ [0, 1] × "
            "y ∈ [0, 1], with columns ['x', 'y']. Received: [ 0.5 -1. ] in row 0."
        ),
    ),
    "two references of one name": (
        lambda: kp.Reference(
            POINTS,
            {U: POINTS[:, 0], U.diff(X): POINTS[:, 0]},
            names={U: "a", U.diff(X): "a"},
        ),
        ValueError,
        "`names` must be different names. Received twice: ['a']",
    ),
    "cavity compared with the unknown": (
        lambda: kp.problems.lid_driven_cavity(kp.Parameter("Re", initial=50.0)),
        ValueError,
        (
            "`reference_reynolds` must be the number to compare with, such as 100, "
            "where `reynolds` is unknown. Received: Re"
        ),
    ),
    "training of odd steps": (
        lambda: Training("helmholtz", "M1", steps=1500),
        ValueError,
        (
            "`steps` must be a number up to 1,000 or a multiple of it. Received: "
            "steps=1500"
        ),
    ),
    "metrics by position": (
        lambda: model().compile("adam", "mse", None, ["mae"]),
        ValueError,
        (
            "A PINNModel takes its loss from the problem's equations and "
            "conditions and its metrics from the problem's reference. Received:"
            " ['loss', 'metrics']. Set initial loss weights "
            "with `Condition(..., weight=)`."
        ),
    ),
    "optimizer misspelt": (
        lambda: compiled(optimizer="adamm"),
        ValueError,
        (
            "`optimizer` must be a Keras optimizer or the name of one, such as "
            "\"adam\" or keras.optimizers.Adam(1e-3). Received: 'adamm'"
        ),
    ),
    "optimizer not made": (
        lambda: compiled(optimizer=1e-3),
        ValueError,
        (
            "`optimizer` must be a Keras optimizer or the name of one, such as "
            '"adam" or keras.optimizers.Adam(1e-3). Received: 0.001'
        ),
    ),
    "XLA by a word": (
        lambda: compiled(jit_compile="no"),
        TypeError,
        ("`jit_compile` must be True or False. Received: 'no'"),
    ),
    "eager by a word": (
        lambda: compiled(run_eagerly="no"),
        TypeError,
        ("`run_eagerly` must be True or False. Received: 'no'"),
    ),
    "standardized by a word": (
        lambda: model(standardize="no"),
        TypeError,
        ("`standardize` must be True or False. Received: 'no'"),
    ),
    "pair of points": (
        lambda: compiled().fit((POINTS, POINTS)),
        TypeError,
        (
            "`fit` takes points as an array (n, d), a dict from term names to "
            "such arrays, or a dataset or generator of batches; `fit()` draws "
            "them. Received: an object of type tuple"
        ),
    ),
    "points as text": (
        lambda: compiled().fit("points"),
        TypeError,
        (
            "`fit` takes points as an array (n, d), a dict from term names to "
            "such arrays, or a dataset or generator of batches; `fit()` draws "
            "them. Received: an object of type str"
        ),
    ),
    "points of two lengths": (
        lambda: compiled().fit([[0.1], [0.2, 0.3]]),
        ValueError,
        (
            "The points of 'residual' must be an array of numbers. Received: "
            "[[0.1], [0.2, 0.3]]"
        ),
    ),
    "points of a term as text": (
        lambda: compiled().fit({"residual": "abc"}),
        ValueError,
        ("The points of 'residual' must be an array of numbers. Received: 'abc'"),
    ),
    "argument misspelt": (
        lambda: compiled().fit(epoch=3),
        TypeError,
        (
            "`fit` takes `x`, `batch_size`, `epochs`, `steps_per_epoch`, "
            "`callbacks`, `verbose`, `initial_epoch`, `shuffle`, "
            "`validation_data`, `validation_batch_size`, `validation_steps` and"
            " `validation_freq`. Received: ['epoch']"
        ),
    ),
    "no epochs": (
        lambda: compiled().fit(epochs=0),
        ValueError,
        ("`epochs` must be a positive integer. Received: 0"),
    ),
    "epochs below zero": (
        lambda: compiled().fit(epochs=-1),
        ValueError,
        ("`epochs` must be a positive integer. Received: -1"),
    ),
    "epochs as a float": (
        lambda: compiled().fit(epochs=1.5),
        ValueError,
        ("`epochs` must be a positive integer. Received: 1.5"),
    ),
    "epoch before the first": (
        lambda: compiled().fit(initial_epoch=-1),
        ValueError,
        (
            "`initial_epoch` must be an integer from 0 to `epochs`, which is "
            "the epoch to train up to. Received: initial_epoch=-1, epochs=1"
        ),
    ),
    "epoch as a float": (
        lambda: compiled().fit(initial_epoch=0.5),
        ValueError,
        (
            "`initial_epoch` must be an integer from 0 to `epochs`, which is "
            "the epoch to train up to. Received: initial_epoch=0.5, epochs=1"
        ),
    ),
    "epoch after the last": (
        lambda: compiled().fit(initial_epoch=10, epochs=5),
        ValueError,
        (
            "`initial_epoch` must be an integer from 0 to `epochs`, which is "
            "the epoch to train up to. Received: initial_epoch=10, epochs=5"
        ),
    ),
    "steps below zero": (
        lambda: compiled().fit(steps_per_epoch=-1),
        ValueError,
        ("`steps_per_epoch` must be a positive integer or None. Received: -1"),
    ),
    "batch below zero": (
        lambda: compiled().fit(batch_size=-1),
        ValueError,
        (
            "`batch_size` must be a positive integer, or a dict from term names"
            " to positive integers. Received: -1 for 'residual'"
        ),
    ),
    "batches of mixed names": (
        lambda: compiled().fit(batch_size={X: 1, "top": 2}),
        ValueError,
        (
            "`batch_size` names ['top', x], which are no terms of the problem. "
            "Its terms are ['residual', 'walls']."
        ),
    ),
    "progress by a word": (
        lambda: compiled().fit(verbose="no"),
        ValueError,
        ("`verbose` must be 'auto', 0, 1 or 2. Received: 'no'"),
    ),
    "callback by name": (
        lambda: compiled().fit(callbacks="EarlyStopping"),
        TypeError,
        (
            "`callbacks` must be a list of keras.callbacks.Callback objects. "
            "Received: 'EarlyStopping' of type str. Write, for example, "
            "`callbacks=[keraspinn.callbacks.LearningRateAnnealing()]`."
        ),
    ),
    "list of names of callbacks": (
        lambda: compiled().fit(callbacks=["EarlyStopping"]),
        TypeError,
        (
            "`callbacks` must be a list of keras.callbacks.Callback objects. "
            "Received: 'EarlyStopping' of type str. Write, for example, "
            "`callbacks=[keraspinn.callbacks.LearningRateAnnealing()]`."
        ),
    ),
    "stream of nothing": (
        lambda: compiled().fit(stream(POINTS[:0])),
        ValueError,
        (
            "`fit` received a dataset without batches. Check what it reads, and"
            " whether `drop_remainder` or a filter leaves nothing of it."
        ),
    ),
    "filter that leaves nothing": (
        lambda: compiled().fit(unseen(), epochs=2, verbose=0),
        ValueError,
        (
            "`fit` received a dataset without batches. Check what it reads, and"
            " whether `drop_remainder` or a filter leaves nothing of it."
        ),
    ),
    "generator of nothing": (
        lambda: compiled().fit(batch for batch in ()),
        ValueError,
        (
            "`fit` received a dataset without batches. Check what it reads, and"
            " whether `drop_remainder` or a filter leaves nothing of it."
        ),
    ),
    "stream of texts": (
        lambda: compiled().fit(tf.data.Dataset.from_tensors([["a", "b"]])),
        ValueError,
        ("A batch of points of 'residual' must hold numbers. Received: texts"),
    ),
    "validation by three": (
        lambda: compiled().fit(validation_data=(POINTS, VALUES, POINTS[:, 0])),
        ValueError,
        (
            "`validation_data` must be (points, values), as "
            "`problem.test_data(100)` returns them, points alone, or a dataset "
            "or generator of batches. Received: a tuple of 3. Leave weights of "
            "samples out: errors are relative to the whole."
        ),
    ),
    "validation by none": (
        lambda: compiled().fit(validation_data=()),
        ValueError,
        (
            "`validation_data` must be (points, values), as "
            "`problem.test_data(100)` returns them, points alone, or a dataset "
            "or generator of batches. Received: a tuple of 0. Leave weights of "
            "samples out: errors are relative to the whole."
        ),
    ),
    "validation by terms": (
        lambda: compiled().fit(validation_data={"residual": POINTS}),
        TypeError,
        (
            "`validation_data` must be (points, values), as "
            "`problem.test_data(100)` returns them, points alone, or a dataset "
            "or generator of batches. Received: an object of type dict"
        ),
    ),
    "validation of terms": (
        lambda: compiled().fit(validation_data=({"walls": POINTS}, VALUES)),
        TypeError,
        (
            "`validation_data` must be (points, values), as "
            "`problem.test_data(100)` returns them, points alone, or a dataset "
            "or generator of batches. Received: an object of type dict"
        ),
    ),
    "validation on nothing": (
        lambda: compiled().fit(validation_data=stream(POINTS[:0])),
        ValueError,
        (
            "`validation_data` received a dataset without batches. Check what "
            "it reads, and whether `drop_remainder` or a filter leaves nothing "
            "of it."
        ),
    ),
    "validation batch of zero": (
        lambda: compiled().fit(validation_batch_size=0),
        ValueError,
        ("`validation_batch_size` must be a positive integer or None. Received: 0"),
    ),
    "validation steps of zero": (
        lambda: compiled().fit(validation_steps=0),
        ValueError,
        ("`validation_steps` must be a positive integer or None. Received: 0"),
    ),
    "validation never": (
        lambda: compiled().fit(validation_freq=0),
        ValueError,
        ("`validation_freq` must be a positive integer. Received: 0"),
    ),
    "step on text": (
        lambda: compiled().train_on_batch("a"),
        TypeError,
        (
            "`train_on_batch` takes points as an array (n, d), or a dict from "
            "term names to such arrays; `train_on_batch()` draws them. "
            "Received: an object of type str"
        ),
    ),
    "step on a pair": (
        lambda: compiled().train_on_batch((POINTS, POINTS)),
        TypeError,
        (
            "`train_on_batch` takes points as an array (n, d), or a dict from "
            "term names to such arrays; `train_on_batch()` draws them. "
            "Received: an object of type tuple"
        ),
    ),
    "step with targets": (
        lambda: compiled().train_on_batch(POINTS, POINTS),
        ValueError,
        (
            "`train_on_batch` takes no `y`: the equations say what holds at the"
            " points. Declare measurements as a keraspinn.Data condition."
        ),
    ),
    "step with weights": (
        lambda: compiled().train_on_batch(POINTS, sample_weight=POINTS[:, 0]),
        ValueError,
        (
            "`train_on_batch` takes no `sample_weight`: the problem says what "
            "counts. Weigh its terms with `Condition(..., weight=)`."
        ),
    ),
    "step on nothing": (
        lambda: compiled().train_on_batch(POINTS[:0]),
        ValueError,
        (
            "A batch of points of 'residual' must have shape (n, 2), a column "
            "for each of ['x', 'y']. Received: shape (0, 2). Of single points "
            "make batches with `dataset.batch(n)`."
        ),
    ),
    "test on nothing": (
        lambda: compiled().test_on_batch(None),
        TypeError,
        (
            "`test_on_batch` takes points as an array (n, d), and values apart:"
            " `test_on_batch(*problem.test_data(100))`. Received: None"
        ),
    ),
    "test on terms": (
        lambda: compiled().test_on_batch({"residual": POINTS}),
        TypeError,
        (
            "`test_on_batch` takes points as an array (n, d), and values apart:"
            " `test_on_batch(*problem.test_data(100))`. Received: an object of "
            "type dict"
        ),
    ),
    "test on one coordinate": (
        lambda: compiled().test_on_batch(POINTS[:, :1]),
        ValueError,
        (
            "A batch of points of 'evaluation' must have shape (n, 2), a column"
            " for each of ['x', 'y']. Received: shape (4, 1). Of single points "
            "make batches with `dataset.batch(n)`."
        ),
    ),
    "test on another field": (
        lambda: compiled().test_on_batch(POINTS, {"v": POINTS[:, 0]}),
        ValueError,
        (
            "Reference values must be a dict with the keys ['u'], as "
            "`test_data` returns it. Received: ['v']"
        ),
    ),
    "prediction of a batch of none": (
        lambda: compiled().predict_on_batch(None),
        TypeError,
        ("`predict_on_batch` takes points as an array (n, d). Received: None"),
    ),
    "prediction of a narrow batch": (
        lambda: compiled().predict_on_batch(POINTS[:, :1]),
        ValueError,
        (
            "A batch of points of 'evaluation' must have shape (n, 2), a column"
            " for each of ['x', 'y']. Received: shape (4, 1). Of single points "
            "make batches with `dataset.batch(n)`."
        ),
    ),
    "prediction of nothing": (
        lambda: compiled().predict(None),
        TypeError,
        (
            "`predict` takes points as an array (n, d), or a dataset or "
            "generator of batches. Received: None"
        ),
    ),
    "prediction by terms": (
        lambda: compiled().predict({"residual": POINTS}),
        TypeError,
        (
            "`predict` takes points as an array (n, d), or a dataset or "
            "generator of batches. Received: an object of type dict"
        ),
    ),
    "prediction of test data": (
        lambda: compiled().predict(PROBLEM.test_data(5)),
        TypeError,
        (
            "`predict` takes points as an array (n, d), or a dataset or "
            "generator of batches. Received: an object of type tuple"
        ),
    ),
    "prediction of no rows": (
        lambda: compiled().predict(POINTS[:0]),
        ValueError,
        (
            "The points of 'evaluation' must have shape (n, 2), a column for "
            "each of ['x', 'y']. Received: shape (0, 2)"
        ),
    ),
    "prediction of no batches": (
        lambda: compiled().predict(stream(POINTS[:0])),
        ValueError,
        (
            "`predict` received a dataset without batches. Check what it reads,"
            " and whether `drop_remainder` or a filter leaves nothing of it."
        ),
    ),
    "prediction after a filter": (
        lambda: compiled().predict(unseen(), verbose=0),
        ValueError,
        (
            "`predict` received a dataset without batches. Check what it reads,"
            " and whether `drop_remainder` or a filter leaves nothing of it."
        ),
    ),
    "prediction of a narrow stream": (
        lambda: compiled().predict(stream(POINTS[:, :1]), verbose=0),
        ValueError,
        (
            "A batch of points of 'evaluation' must have shape (n, 2), a column"
            " for each of ['x', 'y']. Received: shape (2, 1). Of single points "
            "make batches with `dataset.batch(n)`."
        ),
    ),
    "prediction of texts": (
        lambda: compiled().predict([["a", "b"]]),
        ValueError,
        (
            "The points of 'evaluation' must be an array of numbers. Received: "
            "[['a', 'b']]"
        ),
    ),
    "prediction in batches of zero": (
        lambda: compiled().predict(POINTS, batch_size=0),
        ValueError,
        ("`batch_size` must be a positive integer or None. Received: 0"),
    ),
    "prediction in no steps": (
        lambda: compiled().predict(POINTS, steps=0),
        ValueError,
        ("`steps` must be a positive integer or None. Received: 0"),
    ),
    "prediction with a name": (
        lambda: compiled().predict(POINTS, callbacks="CSVLogger"),
        TypeError,
        (
            "`callbacks` must be a list of keras.callbacks.Callback objects. "
            "Received: 'CSVLogger' of type str. Write, for example, "
            "`callbacks=[keraspinn.callbacks.LearningRateAnnealing()]`."
        ),
    ),
    "evaluation by terms": (
        lambda: compiled().evaluate({"residual": POINTS}),
        TypeError,
        (
            "`evaluate` takes points as an array (n, d), or a dataset or "
            "generator of batches, and values apart: "
            "`evaluate(*problem.test_data(100))`. Received: an object of type "
            "dict"
        ),
    ),
    "evaluation of test data": (
        lambda: compiled().evaluate(PROBLEM.test_data(5)),
        TypeError,
        (
            "`evaluate` takes points as an array (n, d), or a dataset or "
            "generator of batches, and values apart: "
            "`evaluate(*problem.test_data(100))`. Received: an object of type "
            "tuple"
        ),
    ),
    "evaluation of no rows": (
        lambda: compiled().evaluate(POINTS[:0]),
        ValueError,
        (
            "The points of 'evaluation' must have shape (n, 2), a column for "
            "each of ['x', 'y']. Received: shape (0, 2)"
        ),
    ),
    "evaluation of no batches": (
        lambda: compiled().evaluate(stream(POINTS[:0])),
        ValueError,
        (
            "`evaluate` received a dataset without batches. Check what it "
            "reads, and whether `drop_remainder` or a filter leaves nothing of "
            "it."
        ),
    ),
    "evaluation after a filter": (
        lambda: compiled().evaluate(unseen(), verbose=0),
        ValueError,
        (
            "`evaluate` received a dataset without batches. Check what it "
            "reads, and whether `drop_remainder` or a filter leaves nothing of "
            "it."
        ),
    ),
    "evaluation of a stream of terms": (
        lambda: compiled().evaluate(stream({"residual": POINTS})),
        TypeError,
        (
            "A batch of points of 'evaluation' must be an array (n, d). "
            "Received: an object of type dict"
        ),
    ),
    "evaluation of other streamed values": (
        lambda: compiled().evaluate(stream((POINTS, {"v": POINTS}))),
        ValueError,
        (
            "Reference values must be a dict with the keys ['u'], as "
            "`test_data` returns it. Received: ['v']"
        ),
    ),
    "evaluation in batches of terms": (
        lambda: compiled().evaluate(POINTS, batch_size={"residual": 3}),
        ValueError,
        ("`batch_size` must be a positive integer or None. Received: {'residual': 3}"),
    ),
    "evaluation by a part of a step": (
        lambda: compiled().evaluate(POINTS, steps=1.5),
        ValueError,
        ("`steps` must be a positive integer or None. Received: 1.5"),
    ),
    "evaluation with weights": (
        lambda: compiled().evaluate(POINTS, sample_weight=POINTS[:, 0]),
        ValueError,
        (
            "`evaluate` takes no `sample_weight`: the problem says what counts."
            " Weigh its terms with `Condition(..., weight=)`."
        ),
    ),
    # What else is declared, drawn and written
    "network of two outputs": (
        lambda: kp.PINNModel(PROBLEM, two_headed()),
        ValueError,
        (
            "The network must output one tensor, with a column for each field. "
            "Received: an object of type list. Join several tensors with "
            "keras.layers.Concatenate."
        ),
    ),
    "fields that are no list": (
        lambda: problem(fields=sp.Function("v")(X, Y)),
        ValueError,
        (
            "`fields` must list each field of the equations once: ['u']. "
            "Received: [v(x, y)]"
        ),
    ),
    "data of nothing": (
        lambda: kp.Data(None, {U: [1]}),
        ValueError,
        ("The points must be an array of numbers. Received: None"),
    ),
    "complex values": (
        lambda: kp.Data(POINTS, {U: 1j * POINTS[:, 0]}),
        ValueError,
        ("The values of u(x, y) must be real. Received: complex ones"),
    ),
    "wavenumber as text": (
        lambda: kp.problems.helmholtz(k="2"),
        ValueError,
        (
            "`k` must be a finite number, or a SymPy expression such as a "
            "keraspinn.Parameter. Received: '2'"
        ),
    ),
    "coefficient of NaN": (
        lambda: kp.problems.klein_gordon(beta=math.nan),
        ValueError,
        (
            "`beta` must be a finite number, or a SymPy expression such as a "
            "keraspinn.Parameter. Received: nan"
        ),
    ),
    "constant of nothing": (
        lambda: kp.problems.poisson(c=None),
        ValueError,
        (
            "`c` must be a finite number, or a SymPy expression such as a "
            "keraspinn.Parameter. Received: None"
        ),
    ),
    "Reynolds number as text": (
        lambda: kp.problems.lid_driven_cavity(reynolds="100"),
        ValueError,
        (
            "`reynolds` must be a finite number, or a SymPy expression such as "
            "a keraspinn.Parameter. Received: '100'"
        ),
    ),
    "corner as text": (
        lambda: kp.problems.lid_driven_cavity(corner_width="wide"),
        ValueError,
        (
            "`corner_width` must be a length, or 0 to leave the equations as "
            "they are. Received: 'wide'"
        ),
    ),
    "exclusion by None": (
        lambda: ANNEALING(exclude=None),
        ValueError,
        ('`exclude` must be a list of texts, such as ("bias",). Received: None'),
    ),
    "exclusion of everything": (
        lambda: compiled().fit(callbacks=[ANNEALING(exclude=("m/",))]),
        ValueError,
        ("`exclude` leaves no variable. Received: ('m/',)"),
    ),
    "backup nowhere": (
        lambda: kp.callbacks.BackupAndRestore(None),
        ValueError,
        ("`backup_dir` must be the path of a directory. Received: None"),
    ),
    "backup deleted by a word": (
        lambda: kp.callbacks.BackupAndRestore("x", "no"),
        TypeError,
        ("`delete_checkpoint` must be True or False. Received: 'no'"),
    ),
    "eigenvalues of no term": (
        lambda: kp.callbacks.HessianEigenvalue(terms=None),
        TypeError,
        (
            "`terms` must be the name of a loss term, or a list of such names. "
            "Received: None"
        ),
    ),
    "eigenvalues too exact": (
        lambda: kp.callbacks.HessianEigenvalue(tolerance=-1),
        ValueError,
        ("`tolerance` must be a finite number, zero or more. Received: -1"),
    ),
    "Hessians of a number": (
        lambda: kp.diagnostics.hessian_eigenvalues(model(), terms=3),
        TypeError,
        (
            "`terms` must be the name of a loss term, or a list of such names. "
            "Received: 3"
        ),
    ),
    "Hessians as exact as text": (
        lambda: kp.diagnostics.hessian_eigenvalues(model(), tolerance="a"),
        ValueError,
        ("`tolerance` must be a finite number, zero or more. Received: 'a'"),
    ),
    "gradients at text": (
        lambda: kp.diagnostics.gradient_statistics(model(), points="a"),
        ValueError,
        ("The points of 'residual' must be an array of numbers. Received: 'a'"),
    ),
    "figure of no training": (
        lambda: kp.plot.history(None),
        TypeError,
        ("`history` must be what `fit` returns. Received: None"),
    ),
    "figure of no model": (
        lambda: kp.plot.solution("helmholtz"),
        TypeError,
        ("`model` must be a keraspinn.PINNModel. Received: 'helmholtz'"),
    ),
    "snapshots of nothing": (
        lambda: kp.plot.snapshots(None),
        TypeError,
        ("`model` must be a keraspinn.PINNModel. Received: None"),
    ),
    "figure of no gradients": (
        lambda: kp.plot.gradient_histograms([]),
        TypeError,
        (
            "`statistics` must be "
            "keraspinn.diagnostics.gradient_statistics(model). Received: []"
        ),
    ),
    "figure of no spectra": (
        lambda: kp.plot.spectrum({}),
        TypeError,
        (
            "`spectra` must be keraspinn.diagnostics.hessian_spectrum(model). "
            "Received: {}"
        ),
    ),
    "figure of no traces": (
        lambda: kp.plot.traces({}),
        TypeError,
        ("`traces` must be a dict from names to pairs (steps, values). Received: {}"),
    ),
    "file without an ending": (
        lambda: compiled().save("model"),
        ValueError,
        (
            "A PINNModel is saved to a `.keras` file, or its weights alone to "
            "`.weights.h5` with `save_weights`: Keras cannot load it from "
            "another. Received: 'model'"
        ),
    ),
    "file in no directory": (
        lambda: compiled().save("nowhere/model.keras"),
        FileNotFoundError,
        ("There is no directory 'nowhere' to write 'model.keras' into. Make it first."),
    ),
    "weights in no directory": (
        lambda: compiled().save_weights("nowhere/model.weights.h5"),
        FileNotFoundError,
        (
            "There is no directory 'nowhere' to write 'model.weights.h5' into. "
            "Make it first."
        ),
    ),
    "file by a number": (
        lambda: kp.load_model(3),
        TypeError,
        ("`load_model` takes the path of a `.keras` file. Received: 3"),
    ),
    "generator of None": (
        lambda: compiled().fit((batch for batch in [None]), verbose=0),
        TypeError,
        (
            "A batch of points of 'residual' must be an array (n, d). Received:"
            " an object of type NoneType"
        ),
    ),
    "network of another problem": (
        lambda: kp.PINNModel(kp.problems.poisson(), model().network),
        ValueError,
        (
            "The network must take points (n, 1), a column for each of ['x']. "
            "Received: <MLP name=net, built=True>, which does not: the error "
            "above says why. A network is made for each problem anew."
        ),
    ),
    "evaluation of nothing": (
        lambda: compiled().evaluate(),
        TypeError,
        (
            "`evaluate` takes points as an array (n, d), or a dataset or "
            "generator of batches, and values apart: "
            "`evaluate(*problem.test_data(100))`. Received: None"
        ),
    ),
    "rule instead of a callback": (
        lambda: compiled().fit(callbacks=[ANNEALING().rule]),
        TypeError,
        (
            "`callbacks` must be a list of keras.callbacks.Callback objects. "
            "Received: GradientRatio(alpha=0.9, update_freq=10, "
            "rule='weighted', exclude=(), layers='pooled') of type "
            "GradientRatio. Write, for example, "
            "`callbacks=[keraspinn.callbacks.LearningRateAnnealing()]`."
        ),
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_is_refused_in_these_words(name):
    call, error, message = ROWS[name]
    with pytest.raises(error) as refusal:
        call()
    assert refusal.type is error
    assert str(refusal.value) == message


def test_there_are_many_and_each_says_its_own():
    assert len(ROWS) >= 60
    uses = [inspect.getsource(call) for call, _, _ in ROWS.values()]
    assert len(set(uses)) == len(ROWS)


if __name__ == "__main__":
    for name, (_, error, message) in ROWS.items():
        print(f"{name}\n    {error.__name__}: {message}")
    print(f"{len(ROWS)} wrong uses, each refused with these words")
