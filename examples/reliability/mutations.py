"""Model files, and random changes to them."""

import copy
import io
import json
import random
import zipfile

import h5py
import keras
import numpy as np
import sympy as sp
from trainings import annealed, inverse

import keraspinn as kp

PARTS = ("metadata.json", "config.json", "model.weights.h5")
EVIL = [
    *(None, True, False, 0, -1, 1, 2, 10**9, 10**30, -(10**9), 0.5, -1e308, 1e400),
    *("", "x", "keras", "float64", "__import__('os').system('true')", "x" * 10_000),
    *("lambda", "../../etc/passwd", "\x00", "NaN", "1e999", [], {}, [[]], [None]),
    *({"class_name": "Lambda"}, {"symbol": "x"}, ["Pow", 9, ["Pow", 9, 9**9]]),
    {"class_name": "__lambda__", "config": {"value": "e3A="}},
    {"module": "os", "class_name": "system", "config": {}, "registered_name": None},
]


def functional():
    """A network of Keras's functional API; equations with a Piecewise and a table."""
    x, y = sp.symbols("x y")
    u = sp.Function("u")(x, y)
    source = sp.Piecewise((sp.sin(x), x < y), (sp.exp(-(y**2)), True))
    points = np.random.default_rng(0).uniform(0, 1, (20, 2))
    problem = kp.Problem(
        domain=kp.geometry.Box({x: (0, 1)}, time={y: (0, 2)}),
        equations={"heat": sp.Eq(u.diff(y), u.diff(x, 2) + source)},
        conditions={"initial": kp.Condition([sp.Eq(u, x)], on="initial")},
        reference=kp.Reference(points, {u: points[:, 0], u.diff(x): points[:, 1]}),
    )
    points = keras.Input((2,))
    hidden = keras.ops.sin(keras.layers.Dense(3)(points))
    network = keras.Model(points, keras.layers.Dense(1, "tanh")(hidden))
    return problem, network, keras.optimizers.SGD(0.1, momentum=0.9), {}


def whole_files(folder):
    """Files as `save` writes them, as bytes."""
    files = []
    for make in (annealed, inverse, functional):
        keras.utils.set_random_seed(0)
        problem, network, optimizer, _ = make()
        model = kp.PINNModel(problem, network, seed=0)
        model.compile(optimizer)
        path = folder / f"{make.__name__}.keras"
        model.save(path)
        files.append(path.read_bytes())
    return files


def unpacked(file):
    """The parts of a file, by name."""
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        return {name: archive.read(name) for name in PARTS}


def packed(parts, compression=zipfile.ZIP_STORED):
    """A file of parts: a dict, or pairs of names and bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in parts.items() if isinstance(parts, dict) else parts:
            archive.writestr(name, content)
    return buffer.getvalue()


def with_config(file, change):
    """The file with its configuration, a dict, changed in place."""
    parts = unpacked(file)
    config = json.loads(parts["config.json"])
    config = change(config) or config
    return packed({**parts, "config.json": json.dumps(config)})


def with_weights(file, change):
    """The file with its weights, an open HDF5 file, changed in place."""
    parts = unpacked(file)
    buffer = io.BytesIO(parts["model.weights.h5"])
    with h5py.File(buffer, "r+") as weights:
        change(weights)
    return packed({**parts, "model.weights.h5": buffer.getvalue()})


def mutated(files, seed):
    """A random change of a random file: its kind, and the bytes."""
    generator = random.Random(seed)
    while True:
        kind = generator.choice([*MUTATIONS, tree, tree, tree])
        file = generator.choice(files)
        try:
            return kind.__name__, kind(file, generator)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            continue  # what was drawn cannot be done, such as half of a text


def places(tree):
    """All `(container, key)` of a nested configuration."""
    found, left = [], [tree]
    while left:
        part = left.pop()
        keys = part if isinstance(part, dict) else range(len(part))
        for key in keys:
            found.append((part, key))
            if isinstance(part[key], (dict, list)):
                left.append(part[key])
    return found


def tree(file, generator):
    """One to three values of the configuration replaced, removed, moved, nested."""

    def change(config):
        for _ in range(generator.randint(1, 3)):
            found = places(config)
            container, key = generator.choice(found)
            how = generator.randrange(6)
            if how <= 1:
                container[key] = copy.deepcopy(generator.choice(EVIL))
            elif how == 2:
                other, place = generator.choice(found)
                container[key] = copy.deepcopy(other[place])
            elif how == 3:
                del container[key]
            elif how == 4:
                for _ in range(generator.choice((1, 3, 300))):
                    container[key] = generator.choice(
                        ([container[key]], {"a": container[key]})
                    )
            elif isinstance(container, dict):
                container[generator.choice(("config", "of", "x", "depth"))] = (
                    container.pop(key)
                )
            else:
                container.extend(copy.deepcopy(container[:50]))

    return with_config(file, change)


def number(file, generator):
    """A number of the configuration changed, by a little or a lot."""

    def change(config):
        numbers = [(c, k) for c, k in places(config) if isinstance(c[k], (int, float))]
        container, key = generator.choice(numbers)
        factor = generator.choice((-1, 0, 0.5, 2, 10, 1e6, 10**18, float("inf")))
        container[key] = container[key] * factor + generator.choice((0, 1))

    return with_config(file, change)


def flipped(data, generator):
    """The same bytes with some of them changed, inserted or removed."""
    data = bytearray(data)
    for _ in range(generator.choice((1, 2, 10))):
        place = generator.randrange(len(data))
        how = generator.randrange(4)
        if how <= 1:
            data[place] ^= 1 << generator.randrange(8)
        elif how == 2:
            data[place : place + generator.randint(0, 9)] = generator.randbytes(3)
        else:
            data[place:place] = data[place : place + generator.randint(1, 99)]
    return bytes(data)


def text(file, generator):
    """Bytes of the configuration changed."""
    parts = unpacked(file)
    name = generator.choice(("config.json", "config.json", "metadata.json"))
    return packed({**parts, name: flipped(parts[name], generator)})


def weights(file, generator):
    """Bytes of the weights changed."""
    parts = unpacked(file)
    name = "model.weights.h5"
    return packed({**parts, name: flipped(parts[name], generator)})


def archive(file, generator):
    """Bytes of the archive changed."""
    return flipped(file, generator)


def cut(file, generator):
    """The beginning of a file, as a copy that was broken off leaves it."""
    return file[: generator.randrange(len(file))]


def arrays(file, generator):
    """An array of the weights removed, reshaped, renamed, or of another type."""

    def change(weights):
        names = []
        weights.visit(names.append)
        names = [name for name in names if isinstance(weights[name], h5py.Dataset)]
        name = generator.choice(names)
        value = weights[name][()]
        del weights[name]
        how = generator.randrange(5)
        if how == 0:
            weights[name] = np.append(value, value)
        elif how == 1:
            weights[name] = value.astype(generator.choice(("int8", "float64", "S4")))
        elif how == 2:
            weights[f"{name}x"] = value
        elif how == 3:
            weights.create_dataset(name, shape=(10**6, 10**6), dtype="float64")

    return with_weights(file, change)


def members(file, generator):
    """Parts of the archive swapped, renamed, repeated, added."""
    parts = list(unpacked(file).items())
    how = generator.randrange(4)
    if how == 0:
        parts.append(generator.choice(parts))
    elif how == 1:
        parts.append((generator.choice(("assets/x", "../../x", "/tmp/x", "x")), b"x"))
    elif how == 2:
        names = [name for name, _ in parts]
        generator.shuffle(names)
        parts = [
            (name, content) for name, (_, content) in zip(names, parts, strict=True)
        ]
    else:
        parts.pop(generator.randrange(3))
    return packed(parts)


MUTATIONS = (tree, number, text, weights, archive, cut, arrays, members)
