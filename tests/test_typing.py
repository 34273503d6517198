"""Type checkers see the package's annotations."""

import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

import keraspinn

pytest.importorskip("mypy")

PROGRAM = """
from typing import Any

import keras
import numpy as np
import sympy as sp

import keraspinn as kp

class Halve(kp.weighting.WeightingRule):
    def update(
        self, gradients: dict[str, Any], losses: dict[str, Any], state: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        return {name: w / 2 for name, w in state["weights"].items()}, {}


x, y = sp.symbols("x y")
u = sp.Function("u")(x, y)
hole = kp.geometry.Disk(center=(0, 0), radius=np.float32(0.2))
plate = kp.geometry.Box({x: (-1, 1), y: (-1, sp.pi)}, parameters=None) - hole
n_x, n_y = plate.normal
problem = kp.Problem(
    domain=plate,
    equations={"laplace": u.diff(x, 2) + u.diff(y, 2)},
    conditions={
        "sides": kp.Condition(sp.Eq(u, x), on=[{x: -1}, {x: 1}], weight=2),
        "rim": kp.Condition([kp.normal_derivative(u, plate)], on=hole),
        "sensors": kp.Data([[0.5, 0.5]], {u: np.array([0.5])}),
    },
    reference={u: x},
)
model = kp.PINNModel(problem, {u: kp.networks.MLP(units=20, activation="tanh")})
model.compile(keras.optimizers.Adam(1e-3), steps_per_execution=10)
annealing = kp.callbacks.LearningRateAnnealing(exclude=["bias"])
points = {"residual": kp.sampling.Renewed(every=5), "sides": [[-1.0, 0.0], [1.0, 0.0]]}
history = model.fit(points, batch_size={"rim": 8}, epochs=2, callbacks=[annealing])
model.set_weighting(Halve())
errors = model.evaluate(*problem.test_data(10), return_dict=True)
print(f"{errors['u_relative_l2']:.1e}")
values: np.ndarray = model.predict(np.zeros((4, 2)))
slope, _ = model.predict_expression([u.diff(x), u], [[0.5, 0.5]])
kp.plot.field(model, u.diff(x), at={y: 0.5}).savefig("slope.png")
print(kp.diagnostics.verdict(model.astype("float64")).trusted, problem.fields)
best = kp.Ensemble(problem, kp.networks.SIREN(), size=2).member(np.argmin([1, 0]))
spread = kp.diagnostics.hessian_eigenvalues(best, k=2)["loss"].max()

kp.geometry.Box("x")  # wrong: no intervals
kp.geometry.Box({x: 1})  # wrong: no interval
kp.geometry.Disk((0, 0), "1")  # wrong: no number
kp.Condition(u, onn="boundary")  # wrong: no such argument
kp.Problem(plate, {"laplace": u}, conditions=[])  # wrong: no dict
kp.Data([[0.5, 0.5]], [1.0])  # wrong: no dict
kp.networks.MLP(units="many")  # wrong: no number
kp.PINNModel(plate, kp.networks.MLP())  # wrong: no problem
model.predict()  # wrong: of what?
kp.plot.field(problem, u)  # wrong: no model
kp.sampling.Renewed(every=2.5)  # wrong: no whole number
problem.domian  # wrong: no such attribute
"""


def test_py_typed_marker_is_installed():
    assert resources.files(keraspinn).joinpath("py.typed").is_file()


def test_type_checker_checks_a_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    home = Path(keraspinn.__file__).parents[1]
    # An installed package is found without MYPYPATH.
    installed = home.name in ("site-packages", "dist-packages")
    options = ["--strict", "--ignore-missing-imports", "--config-file="]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *options, program.name],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": "" if installed else str(home)},
    )
    reported = {
        int(n)
        for n in re.findall(r"^program.py:(\d+): error", run.stdout, re.MULTILINE)
    }
    lines = enumerate(PROGRAM.splitlines(), start=1)
    wrong = {number for number, line in lines if "# wrong" in line}
    assert reported == wrong, run.stdout + run.stderr
