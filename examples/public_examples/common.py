"""Operators and helpers of the declarations."""

import ast
import contextlib
import pathlib

import numpy as np
import sympy as sp

REPOSITORY = pathlib.Path(__file__).parents[2]
GALLERY = {
    path.stem for path in (REPOSITORY / "examples" / "gallery").glob("[a-z]*.py")
}


def function(name, *coordinates):
    return sp.Function(name)(*coordinates)


def laplacian(u, *coordinates):
    return sum(u.diff(c, 2) for c in coordinates)


def momentum(pressure, velocities, viscosity, *coordinates, time=None, inertia=1):
    """Yield left-hand sides of the Navier–Stokes equations, one for each velocity."""
    for w, axis in zip(velocities, coordinates, strict=True):
        carried = sum(
            v * w.diff(c) for v, c in zip(velocities, coordinates, strict=True)
        )
        rate = 0 if time is None else w.diff(time)
        viscous = viscosity * laplacian(w, *coordinates)
        yield rate + inertia * carried + pressure.diff(axis) - viscous


def lattice(*axes):
    """Return all points of a grid with these axes, `(n, d)`."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes))


def declared_by(program):
    """Return a function that runs a program as far as its problem, and returns this."""

    def declare():
        path = REPOSITORY / program
        body = ast.parse(path.read_text("utf-8")).body
        texts = [ast.unparse(node) for node in body]
        (end,) = [k for k, text in enumerate(texts) if text.startswith("problem = ")]
        names = {}
        with contextlib.chdir(path.parent):  # programs read tables in their folder
            exec("\n".join(texts[: end + 1]), names)
        return names["problem"]

    return declare
