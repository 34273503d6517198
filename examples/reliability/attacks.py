"""Model files made by hand to do harm."""

import io
import json
import zipfile

import h5py
from mutations import packed, unpacked, with_config, with_weights

CODE = "__import__('pathlib').Path({canary!r}).touch()"
X = {"symbol": "x"}


def nested(levels, wrap, core):
    """A core wrapped many times."""
    for _ in range(levels):
        core = wrap(core)
    return core


def attacks(file, canary, module):
    """Files that aim at one thing each, by name.

    Args:
        file: A whole file of the training `inverse`, as bytes.
        canary: Path of a file that must never appear.
        module: Name of a module that must never be imported; it can be.
    """
    code = CODE.format(canary=canary)
    parts = unpacked(file)
    found = {}

    def problem(name, change):
        def change_problem(config):
            change(config["config"]["problem"]["config"])

        found[name] = with_config(file, change_problem)

    def network(what, /, **changes):
        found[what] = with_config(
            file, lambda c: c["config"]["network"]["config"].update(changes)
        )

    def instead(name, made):
        found[name] = with_config(file, lambda c: c["config"].update(network=made))

    def equation(name, tree):
        problem(f"equation: {name}", lambda p: p["equations"].update(poisson=tree))

    # Code where a name or a number belongs
    equation("code", code)
    equation("a node that is code", [code, X])
    equation("a float that is code", {"float": code, "precision": 53})
    equation("a symbol that is code", {"symbol": code})
    equation("a field that is code", {"field": code, "of": [X]})
    equation("sympify", ["sympify", code])
    equation("a lambda", ["Lambda", X, X])
    problem(
        "an equation's name that is code", lambda p: p["equations"].update({code: 1})
    )
    problem("a condition's name", lambda p: p["conditions"].update({"../../x": None}))
    network("an activation that is code", activation=code)
    huge = {"value": ["a"], "dtype": "U150000000"}
    network(
        "an array of huge strings",
        activation={
            "module": "keras.activations",
            "class_name": "__numpy__",
            "config": huge,
        },
    )
    network("a name that is a path", name="../../../tmp/x")
    network("a name of five million letters", name="n" * 5_000_000)

    # Other classes in place of ours
    lambdas = {"module": "builtins", "class_name": "function", "config": "eval"}
    network("an activation that is eval", activation=lambdas)
    coded = {"class_name": "__lambda__", "config": {"value": "4wEAAAA="}}
    network("an activation that is byte code", activation=coded)

    def keras_object(name, package="keras.layers", /, **config):
        return {
            "module": package,
            "class_name": name,
            "config": config,
            "registered_name": None,
        }

    function = {
        "class_name": "__lambda__",
        "config": {"value": ["4wAAAA==", None, None]},
    }
    instead("a Lambda layer", keras_object("Lambda", function=function))
    instead(
        "a TFSMLayer", keras_object("TFSMLayer", filepath="/tmp", call_endpoint="x")
    )
    instead(
        "a TorchModuleWrapper", keras_object("TorchModuleWrapper", module="gAR9lC4=")
    )
    instead("a vocabulary", keras_object("StringLookup", vocabulary="/etc/passwd"))
    for package, name in (
        ("os", "system"),
        ("subprocess", "Popen"),
        ("builtins", "eval"),
        (module, "Layer"),
        ("keras.utils", "get_file"),
        ("keras.saving", "load_model"),
        ("keras.src.utils.file_utils", "get_file"),
        ("keras.src.legacy.backend", "function"),
        ("keras_hub", "Model"),
        ("keras.layers", "__class__"),
        ("keras.src.layers.core.lambda_layer", "Lambda"),
    ):
        instead(f"class {package}.{name}", keras_object(name, package))
    for name in (
        "keraspinn>Nobody",
        "other>Layer",
        "keraspinn>Problem",
        "keraspinn>Data",
    ):
        made = keras_object("Layer") | {"registered_name": name}
        instead(f"registered {name}", made)
        problem(f"domain {name}", lambda p, made=made: p.update(domain=made))
    found["a model in a model"] = with_config(
        file,
        lambda c: nested(
            50, lambda m: {**c, "config": {**c["config"], "network": m}}, c
        ),
    )
    found["an optimizer that is a layer"] = with_config(
        file,
        lambda c: c["compile_config"].update(optimizer=keras_object("Dense", units=9)),
    )
    found["nothing but null"] = packed({**parts, "config.json": "null"})
    found["a list"] = packed({**parts, "config.json": "[]"})

    # Size
    for units in (10**5, 10**9, 10**18, 1e300, -1, True, "9", [10**9]):
        network(f"units {units}", units=units)
    for depth in (10**5, 10**9, 1e300, -1, None):
        network(f"depth {depth}", depth=depth)
    network("outputs", outputs=10**9)
    found["a network for a billion coordinates"] = with_config(
        file,
        lambda c: c["config"]["network"].update(
            build_config={"input_shape": [None, 10**9]}
        ),
    )
    dense = keras_object("Dense", units=10**5)
    wide = keras_object("Sequential", "keras", name="s", layers=[dense] * 3)
    instead("a wide Sequential", wide)
    long = keras_object(
        "Sequential", "keras", name="s", layers=[keras_object("Dense", units=1)] * 10**4
    )
    instead("a long Sequential", long)
    constant = keras_object("RepeatVector", n=10**12)
    instead(
        "a repetition", keras_object("Sequential", "keras", name="s", layers=[constant])
    )
    equation("9**9**9**9", ["Pow", 9, ["Pow", 9, ["Pow", 9, 9]]])
    equation("an exponent", ["Pow", ["Mul", 2, X], 10**9])
    equation("an integer", 10**4000)
    equation("a rational", {"rational": [1, 10**4000]})
    equation("a float", {"float": "1e999999999", "precision": 10**9})
    equation("depth", nested(900, lambda e: ["sin", e], X))
    equation("width", ["Add", *[X] * 10**5])
    equation("order", {"derivative": {"field": "u", "of": [X]}, "by": [[X, 10**9]]})
    equation("constants", ["Add", *[["erfc", i] for i in range(4000)]])
    heavy = ["Add", *[["sin", ["Mul", i, X]] for i in range(2, 2000)]]
    problem(
        "many heavy equations",
        lambda p: p["equations"].update({f"e{i}": heavy for i in range(50)}),
    )
    problem(
        "many conditions",
        lambda p: p["conditions"].update(
            {f"c{i}": p["conditions"]["walls"] for i in range(3000)}
        ),
    )
    problem(
        "many coordinates",
        lambda p: p["domain"]["config"].update(
            space=[[{"symbol": f"x{i}"}, 0, 1] for i in range(10**5)]
        ),
    )
    problem(
        "an infinite interval",
        lambda p: p["domain"]["config"].update(space=[[X, 0, float("inf")]]),
    )
    problem(
        "a table",
        lambda p: p["conditions"]["sensors"]["config"].update(
            points=[[0.5, 0.5]] * 10**6
        ),
    )
    problem(
        "ragged points",
        lambda p: p["conditions"]["sensors"]["config"].update(
            points=[[0.5], [0.5, 0.5]]
        ),
    )
    problem(
        "a table of text",
        lambda p: p["conditions"]["sensors"]["config"].update(
            points=[["0.5", "x" * 10**6]]
        ),
    )
    problem(
        "on nothing", lambda p: p["conditions"]["walls"]["config"].update(on="nowhere")
    )
    problem(
        "on itself",
        lambda p: p["conditions"]["walls"]["config"].update(
            on=nested(900, lambda e: [e], "boundary")
        ),
    )
    problem("the future", lambda p: p.update(format=99, version="99.0"))
    problem("no such key", lambda p: p.update(code=code))
    problem("no equations", lambda p: p.pop("equations"))
    for depth in (10**3, 10**5):
        deep = "[" * depth + "]" * depth
        found[f"brackets {depth} deep"] = packed({**parts, "config.json": deep})
    found["millions of lists"] = packed(
        {**parts, "config.json": "[" + "[]," * 10**7 + "0]"}
    )
    found["a long number"] = packed({**parts, "config.json": "9" * 10**6})
    found["not UTF-8"] = packed({**parts, "config.json": b"\xff\xfe{"})
    found["keys that repeat"] = packed(
        {
            **parts,
            "config.json": parts["config.json"].replace(
                b'"units": 8', b'"units": 8, "units": 1000000000'
            ),
        }
    )

    # The archive
    bomb = parts["config.json"] + b" " * 3 * 10**8
    found["a bomb"] = packed({**parts, "config.json": bomb}, zipfile.ZIP_DEFLATED)
    found["a bomb of weights"] = packed(
        {**parts, "model.weights.h5": bytes(3 * 10**8)}, zipfile.ZIP_DEFLATED
    )
    found["a path"] = packed({**parts, "../../../../tmp/x": b"x"})
    found["an absolute path"] = packed({**parts, "/tmp/x": b"x"})
    found["assets"] = packed({**parts, "assets/../../x": b"x"})
    found["two configurations"] = packed([*parts.items(), ("config.json", b"{}")])
    found["a pickle"] = packed({**parts, "model.weights.npz": b"\x80\x04."})
    found["no archive"] = json.dumps({"class_name": "PINNModel"}).encode()
    found["empty"] = b""
    found["another archive"] = packed({"a": b""})

    # The weights
    def link(weights):
        weights["link"] = h5py.ExternalLink("/etc/passwd", "/")

    def soft(weights):
        weights["link"] = h5py.SoftLink("/link")

    def cycle(weights):
        weights["vars/again"] = weights["/"]

    def promised(weights):
        weights.create_dataset("promised", shape=(10**6, 10**6), dtype="float64")

    def squeezed(weights):
        weights.create_dataset("squeezed", data=bytearray(10**7), compression="gzip")

    def outside(weights):
        weights.create_dataset(
            "outside", shape=(10,), dtype="int8", external=[("/etc/passwd", 0, 10)]
        )

    def words(weights):
        weights["words"] = ["text"] * 10

    for change in (link, soft, cycle, promised, squeezed, outside, words):
        found[f"weights: {change.__name__}"] = with_weights(file, change)
    empty = io.BytesIO()
    h5py.File(empty, "w").close()
    found["weights: none"] = packed({**parts, "model.weights.h5": empty.getvalue()})
    found["weights: text"] = packed({**parts, "model.weights.h5": b"text"})
    return found
