"""True errors of four short programs that call `solve`.

python -m examples.solve

References are finite-element solutions by scikit-fem, and a least-squares fit of the
closed form. `docs/results/solve.json` keeps the first and the last run of each program.
The table of both is in `docs/exam.md`.
"""

import argparse
import json
import pathlib
import platform
import re
import runpy
import time

import keras
import numpy as np
import skfem
from scipy.optimize import curve_fit
from scipy.spatial import Delaunay
from skfem.helpers import dot, grad

import keraspinn as kp

PROGRAMS = pathlib.Path(__file__).parent
DOCS = PROGRAMS.parents[1] / "docs"
RECORDS, PAGE = DOCS / "results" / "solve.json", DOCS / "exam.md"
# Deflection of the bracket in m, by 145,300 triangles (see the gallery).
TIP = -2.2409e-4


def fin(solution):
    """Return the error of the temperature of the fin."""
    axes = np.linspace(0, 0.05, 101), np.linspace(0, 0.004, 17)
    mesh = skfem.MeshQuad.init_tensor(*axes)
    basis = skfem.Basis(mesh, skfem.ElementQuad2())
    cooled = mesh.facets_satisfying(lambda x: x[0] > 1e-9, boundaries_only=True)
    sides = skfem.FacetBasis(mesh, skfem.ElementQuad2(), facets=cooled)
    base = basis.get_dofs(lambda x: x[0] < 1e-9).all()
    air, conductivity, rate = 293.15, 15.0, 3e-3

    @skfem.LinearForm
    def heat(v, w):
        return conductivity * (1 + rate * w.T) * dot(grad(w.T), grad(v))

    @skfem.BilinearForm
    def tangent(u, v, w):
        change = (1 + rate * w.T) * grad(u) + rate * u * grad(w.T)
        return conductivity * dot(change, grad(v))

    loss = skfem.BilinearForm(lambda u, v, w: 100.0 * u * v).assemble(sides)
    above = basis.zeros()
    above[base] = 100.0
    for _ in range(10):
        known = basis.interpolate(above)
        missing = heat.assemble(basis, T=known) + loss @ above
        matrix = tangent.assemble(basis, T=known) + loss
        fixed = {"x": basis.zeros(), "D": base}
        above += skfem.solve(*skfem.condense(matrix, -missing, **fixed))
    return {"T": distance(solution, basis.doflocs, air + above)}


def plume(solution):
    """Return the error of the concentration around the obstacle."""
    size = 0.03
    axes = np.arange(-2, 3 + size / 2, size), np.linspace(-2, 2, round(4 / size) + 1)
    axes[0][-1] = 3.0
    points = np.stack(np.meshgrid(*axes, indexing="ij")).reshape(2, -1)
    points = points[:, np.hypot(*points) > 0.5 + 0.6 * size]
    angle = np.linspace(0, 2 * np.pi, round(np.pi / size) + 1)[:-1]
    rim = 0.5 * np.stack([np.cos(angle), np.sin(angle)])
    points = np.concatenate([points, rim], axis=1)
    triangles = Delaunay(points.T).simplices.T
    outside = np.hypot(*points[:, triangles].mean(axis=1)) > 0.5
    mesh = skfem.MeshTri(points, triangles[:, outside])
    basis = skfem.Basis(mesh, skfem.ElementTriP2(), intorder=5)

    @skfem.BilinearForm
    def transport(c, v, w):
        x, y = w.x
        r4 = (x**2 + y**2) ** 2
        across = -0.25 * x * y / r4
        along = 0.5 * (1 - (x**2 - y**2) / (4 * r4))
        gradient = grad(c)
        moved = (along * gradient[0] + across * gradient[1]) * v
        return moved + 0.05 * dot(gradient, grad(v))

    @skfem.LinearForm
    def source(v, w):
        return np.exp(-20 * ((w.x[0] + 1.2) ** 2 + w.x[1] ** 2)) * v

    inlet = basis.get_dofs(lambda x: x[0] < -2 + 1e-9).all()
    system = transport.assemble(basis), source.assemble(basis)
    values = skfem.solve(*skfem.condense(*system, D=inlet))
    return {"c": distance(solution, basis.doflocs, values)}


def mass_spring(solution):
    """Return the errors of stiffness and damping, from a fit of the closed form."""
    table = PROGRAMS.parent / "gallery" / "mass_spring.csv"
    times, measured = np.loadtxt(table, delimiter=",", skiprows=1).T

    def motion(t, k, d):
        rate = d / 4
        frequency = np.sqrt(k / 2 - rate**2)
        phase = frequency * t
        swing = np.cos(phase) + rate / frequency * np.sin(phase)
        return 0.05 * np.exp(-rate * t) * swing

    fitted, _ = curve_fit(motion, times, measured, p0=(50.0, 1.0))
    estimates = (solution.parameters[name][0] for name in ("k", "d"))
    return {n: abs(a / b - 1) for n, a, b in zip("kd", estimates, fitted, strict=True)}


def bracket(solution):
    """Return the error of the deflection of the bracket's tip."""
    v = next(f for f in solution.model.problem.fields if f.func.__name__ == "v")
    (tip,) = solution.model.predict_expression(v, np.array([[0.1, 0.02]]))
    return {"deflection": abs(tip / TIP - 1)}


def distance(solution, points, values):
    """Return the error relative to the field's RMS, or three deviations if less."""
    predicted = solution.model.predict(points.T, verbose=0, batch_size=4096)[:, 0]
    scale = min(np.sqrt(np.mean(values**2)), 3 * np.std(values))
    return float(np.sqrt(np.mean((predicted - values) ** 2)) / scale)


CASES = {case.__name__: case for case in (fin, plume, mass_spring, bracket)}


def lines_of(name):
    """Return the number of lines of a program, without its docstring and imports."""
    text = (PROGRAMS / f"{name}.py").read_text("utf-8")
    code = text.partition("import keraspinn as kp\n")[2]
    return len(code.strip().splitlines())


def run(name):
    """Run a program and return its record."""
    keras.config.set_floatx("float32")
    clock, cpu = time.perf_counter(), time.process_time()
    solution = runpy.run_path(str(PROGRAMS / f"{name}.py"))["solution"]
    record = {"solved": solution.solved, "said": str(solution).splitlines()[0]}
    record |= {"tolerance": solution.tolerance, "lines": lines_of(name)}
    record |= {"seconds": round(time.perf_counter() - clock)}
    record |= {"cpu_seconds": round(time.process_time() - cpu)}
    errors = {n: float(f"{e:.2g}") for n, e in CASES[name](solution).items()}
    record |= {"errors": errors, "version": kp.__version__}
    return record | {"machine": f"{platform.machine()}, shared"}


def table(records):
    """Return a row for each program, in Markdown."""
    rows = ["| Program | Lines | Tolerance | First run | Last run | True error | CPU |"]
    rows += ["|---|---|---|---|---|---|---|"]
    for name, runs in records.items():
        last = runs["last"]
        states = ["solved" if r["solved"] else "not solved" for r in runs.values()]
        errors = ", ".join(f"{n} {e:.1e}" for n, e in last["errors"].items())
        cells = [f"`{name}.py`", str(last["lines"]), f"{last['tolerance']:g}", *states]
        rows.append(f"| {' | '.join([*cells, errors])} | {last['cpu_seconds']} s |")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *CASES])
    records = json.loads(RECORDS.read_text("utf-8")) if RECORDS.exists() else {}
    for name in parser.parse_args().names or CASES:
        record = run(name)
        print(json.dumps(record))
        records[name] = {"first": record} | records.get(name, {}) | {"last": record}
        RECORDS.write_text(json.dumps(records, indent=1) + "\n", "utf-8")
    pattern = re.compile(r"\| Program \|.*?\n\n", re.DOTALL)
    rows = table(records) + "\n\n"
    page = pattern.sub(lambda _: rows, PAGE.read_text("utf-8"), count=1)
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
