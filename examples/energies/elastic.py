"""Linear elasticity: beams, brackets, a hole, two materials, a block in space."""

import functools

import numpy as np
import skfem
import sympy as sp

import keraspinn as kp
from examples.energies import finite_elements as fem
from examples.energies.case import Case, energy_form, strong_form

x, y, z = sp.symbols("x y z")
# Young's modulus of steel, Poisson's ratio, traction: Pa, 1, Pa.
STEEL, NU, LOAD = 210e9, 0.3, 1e6


def fields(coordinates):
    """Return the displacements as a column vector."""
    names = "uvw"[: len(coordinates)]
    return sp.Matrix([sp.Function(name)(*coordinates) for name in names])


def stress_of(displacements, coordinates, young=STEEL):
    """Return strain and stress, in plane stress or in space."""
    gradient = displacements.jacobian(coordinates)
    strain = (gradient + gradient.T) / 2
    dimension = len(coordinates)
    first, mu = fem.lame(1, NU, dimension)
    unit = first * strain.trace() * sp.eye(dimension) + 2 * mu * strain
    return strain, young * unit


class Body:
    """Clamped body under a traction, declared by its energy and in strong form.

    Args:
        domain: The geometry.
        clamp: `on=` of the clamp.
        loaded: `on=` of the load.
        traction: Components of the load, Pa.
        free: `on=` of the free boundary.
        tip: Point whose displacement along the load is compared.
        young: Expression for Young's modulus, Pa.
    """

    def __init__(self, domain, clamp, loaded, traction, free, tip, young=STEEL):
        self.domain, self.clamp, self.loaded, self.free = domain, clamp, loaded, free
        self.traction, self.tip = sp.Matrix(traction), np.array(tip, float)
        coordinates = domain.coordinates
        self.displacements = fields(coordinates)
        strain, self.stress = stress_of(self.displacements, coordinates, young)
        self.density = sum(self.stress.multiply_elementwise(strain)) / 2
        self.work = self.traction.dot(self.displacements)

    def hold(self):
        held = kp.Condition(list(self.displacements), on=self.clamp, hard=True)
        return {"clamp": held}

    def energy(self):
        total = kp.integral(self.density) - kp.integral(self.work, over=self.loaded)
        return kp.Problem(self.domain, energy=total, conditions=self.hold())

    def strong(self):
        coordinates = self.domain.coordinates
        equations = {
            symbol.name: sum(
                self.stress[row, column].diff(other)
                for column, other in enumerate(coordinates)
            )
            for row, symbol in enumerate(coordinates)
        }
        traction = self.stress * sp.Matrix(self.domain.normal)
        conditions = self.hold() | {
            "load": kp.Condition(list(traction - self.traction), on=self.loaded),
            "free": self.released(traction),
        }
        return kp.Problem(self.domain, equations, conditions)

    def released(self, traction):
        """Return the condition on the free boundary."""
        return kp.Condition(list(traction), on=self.free)

    def measure(self, model, reference):
        (axis,) = [k for k, t in enumerate(self.traction) if t]
        component = self.displacements[axis]
        (displacement,) = model.predict_expression(component, self.tip[None])
        energy = model.integrate(self.density)
        energy -= model.integrate(self.work, over=self.loaded)
        return {
            "tip": abs(float(displacement) / reference["tip"] - 1),
            "energy": abs(float(energy) / reference["energy"] - 1),
        }

    def solved(self, mesh, element, clamp, load, young=STEEL):
        traction = [float(t) for t in self.traction]
        (axis,) = [k for k, t in enumerate(traction) if t]
        tip, energy = fem.elasticity(
            mesh, element, young, NU, clamp, load, traction, self.tip
        )
        return {"tip": tip[axis], "energy": energy}


def case(body, reference, steps, aims, **settings):
    """Return the row of a body; `settings` are arguments of `Case`."""
    forms = {
        "energy": energy_form(body.energy, steps),
        "strong form": strong_form(body.strong),
    }
    return Case(forms, reference, body.measure, aims, **settings)


# Largest accepted relative errors.
BOTH = {"tip": 0.02, "energy": 0.02}
TRIANGLE = skfem.ElementTriP2()


def beam(length, depth):
    """Return a cantilever with a width of 1 m."""
    return Body(
        kp.geometry.Box({x: (0, length), y: (0, depth)}),
        {x: 0},
        {x: length},
        (0, -LOAD),
        [{y: 0}, {y: depth}],
        (length, depth / 2),
    )


def beam_reference(body, modulus=STEEL, sizes=(4, 8, 16)):
    (length, depth) = body.domain.upper

    def solve(number):
        mesh = fem.boxes(((0, length), (0, depth)), size=depth / number)
        mesh = fem.graded(mesh, [(0, 0), (0, depth)])
        ends = (fem.facets(mesh, 0, end) for end in (0, length))
        return body.solved(mesh, TRIANGLE, *ends, young=modulus)

    return fem.converged(solve, sizes)


BOX, SLENDER = beam(0.12, 0.03), beam(1.0, 0.05)
POLYMER = STEEL / 10


def layered_modulus(points):
    return np.where(points[1] < 0.015, POLYMER, STEEL)


class Layers(Body):
    """Two layers; the strong form has separate fields and an interface."""

    def strong(self):
        length, depth = self.domain.upper
        boxes, pairs = [], []
        for number, (low, high, young) in enumerate(
            ((0, depth / 2, POLYMER), (depth / 2, depth, STEEL)), 1
        ):
            boxes.append(kp.geometry.Box({x: (0, length), y: (low, high)}))
            names = [sp.Function(f"{name}{number}")(x, y) for name in "uv"]
            pairs.append((names, stress_of(sp.Matrix(names), (x, y), young)[1]))
        equations, conditions = {}, {}
        for number, (box, (names, stress)) in enumerate(
            zip(boxes, pairs, strict=True), 1
        ):
            for row, symbol in enumerate((x, y)):
                balance = stress[row, 0].diff(x) + stress[row, 1].diff(y)
                equations[f"{symbol}{number}"] = kp.Equation(balance, on=box)
            side = {y: 0} if number == 1 else {y: depth}
            end = [stress[0, 0], stress[0, 1] + LOAD]
            conditions |= {
                f"clamp{number}": kp.Condition(names, on={x: 0}, where=box, weight=100),
                f"load{number}": kp.Condition(end, on={x: length}, where=box),
                f"free{number}": kp.Condition([stress[0, 1], stress[1, 1]], on=side),
            }
        (lower, low_stress), (upper, high_stress) = pairs
        joint = [a - b for a, b in zip(lower, upper, strict=True)]
        joint += [low_stress[k, 1] - high_stress[k, 1] for k in (0, 1)]
        interface = kp.geometry.Interface(*boxes)
        conditions["interface"] = kp.Condition(joint, on=interface)
        return kp.Problem(self.domain, equations, conditions)

    def measure(self, model, reference):
        if len(model.problem.fields) == 2:
            return super().measure(model, reference)
        v = sp.Function("v2")(x, y)
        displacement = model.predict_expression(v, self.tip[None] + [0, 1e-9])[0]
        return {"tip": abs(float(displacement) / reference["tip"] - 1), "energy": None}


# Length and width of the legs of the bracket, m.
L_LEG, L_WIDTH = 0.1, 0.04
BRACKET = Body(
    kp.geometry.Box({x: (0, L_LEG), y: (0, L_LEG)})
    - kp.geometry.Box({x: (L_WIDTH, L_LEG), y: (L_WIDTH, L_LEG)}),
    {y: L_LEG},
    {x: L_LEG},
    (0, -LOAD),
    [{x: 0}, {y: 0}, {x: L_WIDTH}, {y: L_WIDTH}],
    (L_LEG, L_WIDTH / 2),
)
TEE = Body(
    kp.geometry.Polygon(
        1e-2
        * np.array(
            [(4, 0), (6, 0), (6, 8), (10, 8), (10, 10), (0, 10), (0, 8), (4, 8)], float
        ),
        coordinates=(x, y),
    ),
    {y: 0},
    {x: 0.1},
    (0, -LOAD),
    [{x: 0}, {y: 0.1}, {x: 0.04}, {x: 0.06}, {y: 0.08}],
    (0.1, 0.09),
)


def bracket_reference():
    def solve(number):
        size = 0.02 / number
        mesh = fem.boxes(
            ((0, L_WIDTH), (0, L_LEG)), ((0, L_LEG), (0, L_WIDTH)), size=size
        )
        mesh = fem.graded(mesh, [(L_WIDTH, L_WIDTH), (0, L_LEG), (L_WIDTH, L_LEG)])
        ends = fem.facets(mesh, 1, L_LEG), fem.facets(mesh, 0, L_LEG)
        return BRACKET.solved(mesh, TRIANGLE, *ends)

    return fem.converged(solve, (2, 4, 8))


def tee_reference():
    def solve(number):
        mesh = fem.boxes(
            ((0.04, 0.06), (0, 0.1)), ((0, 0.1), (0.08, 0.1)), size=0.01 / number
        )
        corners = [(0.04, 0.08), (0.06, 0.08), (0.04, 0.0), (0.06, 0.0)]
        mesh = fem.graded(mesh, corners)
        ends = fem.facets(mesh, 1, 0.0), fem.facets(mesh, 0, 0.1)
        return TEE.solved(mesh, TRIANGLE, *ends)

    return fem.converged(solve, (1, 2, 4))


# Radii of the hook and length of its shank, m; number of chords of half a circle.
INNER, OUTER, SHANK, CHORDS = 0.02, 0.04, 0.06, 24


def hook_rings():
    """Return inner and outer corners of the hook, a shank and half a ring of chords."""
    angles = np.linspace(np.pi, 2 * np.pi, CHORDS + 1)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    tops = np.array([[-1.0, SHANK / INNER]]), np.array([[-1.0, SHANK / OUTER]])
    inner, outer = (np.concatenate([top, around]) for top in tops)
    return INNER * inner, OUTER * outer


class Hook(Body):
    """Hook with a load on its end, y = 0 with x > 0."""

    def __init__(self):
        inner, outer = hook_rings()
        polygon = kp.geometry.Polygon(
            np.concatenate([outer, inner[::-1]]), coordinates=(x, y)
        )
        tip = ((INNER + OUTER) / 2, 0.0)
        super().__init__(polygon, {y: SHANK}, {y: 0}, (0, -LOAD), "boundary", tip)

    def released(self, traction):
        free = sp.And(y < SHANK * 0.999, sp.Or(x < 0, y < -1e-5))
        return kp.Condition(list(traction), on="boundary", where=free)


HOOK = Hook()


def hook_reference():
    inner, outer = hook_rings()

    def solve(number):
        points = np.concatenate([inner, outer]).T
        count = len(inner)
        first = np.arange(count - 1)
        cells = np.stack([first, first + count, first + count + 1, first + 1])
        mesh = skfem.MeshQuad(points, cells).refined(number).to_meshtri()
        ends = fem.facets(mesh, 1, SHANK), fem.facets(mesh, 1, 0.0)
        return HOOK.solved(mesh, TRIANGLE, *ends)

    return fem.converged(solve, (2, 3, 4))


BLOCK = Body(
    kp.geometry.Box({x: (0, 0.12), y: (0, 0.03), z: (0, 0.03)}),
    {x: 0},
    {x: 0.12},
    (0, -LOAD, 0),
    [{y: 0}, {y: 0.03}, {z: 0}, {z: 0.03}],
    (0.12, 0.015, 0.015),
)


def block_reference():
    def solve(number):
        axes = [np.linspace(0, 0.12, 4 * number + 1)]
        axes += [np.linspace(0, 0.03, number + 1)] * 2
        mesh = skfem.MeshHex.init_tensor(*axes)
        ends = fem.facets(mesh, 0, 0.0), fem.facets(mesh, 0, 0.12)
        return BLOCK.solved(mesh, skfem.ElementHex2(), *ends)

    return fem.converged(solve, (2, 3, 4))


# Radius of the hole and half side of the plate, m.
HOLE, SIDE = 0.02, 0.08
# Numbers of cells from the hole to the side, and around a quarter of the hole.
RINGS, SPOKES = 8, 48


def quarter():
    """Return a mesh of a quarter plate with a hole, finer near the hole."""
    angles = np.linspace(0, np.pi / 2, SPOKES + 1)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    around[[0, -1]] = (1, 0), (0, 1)
    inner, outer = HOLE * around, SIDE * (around / abs(around).max(axis=1)[:, None])
    share = np.linspace(0, 1, RINGS + 1)[:, None, None] ** 1.3
    nodes = np.arange((RINGS + 1) * (SPOKES + 1)).reshape(RINGS + 1, -1)
    a, b, c, d = nodes[:-1, :-1], nodes[1:, :-1], nodes[1:, 1:], nodes[:-1, 1:]
    cells = np.reshape([[a, b, c], [a, c, d]], (2, 3, -1)).swapaxes(1, 2)
    return kp.geometry.Mesh(
        np.round(inner + (outer - inner) * share, 15).reshape(-1, 2),
        cells.reshape(-1, 3),
        named={"hole": np.stack([nodes[0, :-1], nodes[0, 1:]], axis=1)},
        coordinates=(x, y),
    )


class Plate(Body):
    """Quarter of a plate with Kirsch's tractions on its outer sides.

    Args:
        domain: The geometry.
        hole: The part of its boundary at the hole.
        pulled: Dict from names to pairs of an outer side and its normal.
        held: The parts at x = 0 and y = 0.
    """

    def __init__(self, domain, hole, pulled, held=({x: 0}, {y: 0})):
        super().__init__(domain, held[0], {x: SIDE}, (LOAD, 0), hole, (0.0, HOLE))
        self.pulled = pulled
        self.left, self.below = held
        r2 = x**2 + y**2
        q, cos2, sin2 = HOLE**2 / r2, (x**2 - y**2) / r2, 2 * x * y / r2
        radial = LOAD / 2 * ((1 - q) + (1 - 4 * q + 3 * q**2) * cos2)
        hoop = LOAD / 2 * ((1 + q) - (1 + 3 * q**2) * cos2)
        shear = -LOAD / 2 * (1 + 2 * q - 3 * q**2) * sin2
        mean, half = (radial + hoop) / 2, (radial - hoop) / 2
        across = half * sin2 + shear * cos2
        self.exact = sp.Matrix(
            [
                [mean + half * cos2 - shear * sin2, across],
                [across, mean - half * cos2 + shear * sin2],
            ]
        )

    def hold(self):
        u, v = self.displacements
        return {
            "left": kp.Condition(u, on=self.left, hard=True),
            "below": kp.Condition(v, on=self.below, hard=True),
        }

    def energy(self):
        energy = kp.integral(self.density)
        for side, normal in self.pulled.values():
            work = (self.exact * sp.Matrix(normal)).dot(self.displacements)
            energy -= kp.integral(work, over=side)
        return kp.Problem(self.domain, energy=energy, conditions=self.hold())

    def strong(self):
        problem = super().strong()
        conditions = self.hold() | {
            "left shear": kp.Condition(self.stress[0, 1], on=self.left),
            "below shear": kp.Condition(self.stress[0, 1], on=self.below),
            "hole": problem.conditions["free"],
        }
        for name, (side, normal) in self.pulled.items():
            difference = (self.stress - self.exact) * sp.Matrix(normal)
            conditions[name] = kp.Condition(list(difference), on=side)
        return kp.Problem(self.domain, dict(problem.equations), conditions)

    def measure(self, model, reference):
        top = model.predict_expression(self.stress[0, 0], self.tip[None])[0]
        return {"factor": abs(float(top) / LOAD / reference["factor"] - 1)}


DISK = kp.geometry.Disk((0, 0), HOLE)
SIDES = {"x pulled": ({x: SIDE}, (1, 0)), "y pulled": ({y: SIDE}, (0, 1))}
PLATE = Plate(kp.geometry.Box({x: (0, SIDE), y: (0, SIDE)}) - DISK, DISK, SIDES)
MESHED = Plate(quarter(), "hole", SIDES)
RING = Plate(
    kp.geometry.Sector((0, 0), SIDE, (0, np.pi / 2), HOLE, (x, y)),
    "inner",
    {"pulled": ("outer", (x / sp.sqrt(x**2 + y**2), y / sp.sqrt(x**2 + y**2)))},
    held=("end", "start"),
)
MODULUS = sp.Piecewise((POLYMER, y < 0.015), (STEEL, True))
TWO = Layers(BOX.domain, {x: 0}, {x: 0.12}, (0, -LOAD), BOX.free, BOX.tip, MODULUS)

CASES = {
    "box cantilever": case(
        BOX, functools.partial(beam_reference, BOX), 60, {"tip": 0.005}, depth=2
    ),
    "plate with a hole": case(PLATE, lambda: {"factor": 3.0}, 120, {"factor": 0.01}),
    "plate with a hole, mesh": case(
        MESHED, lambda: {"factor": 3.0}, 120, {"factor": 0.01}
    ),
    "plate with a hole, sector": case(
        RING, lambda: {"factor": 3.0}, 120, {"factor": 0.01}
    ),
    "L-bracket": case(BRACKET, bracket_reference, 200, BOTH),
    "T": case(TEE, tee_reference, 360, BOTH),
    "hook": case(HOOK, hook_reference, 120, BOTH),
    "beam 20 : 1": case(
        SLENDER,
        functools.partial(beam_reference, SLENDER, sizes=(2, 4)),
        120,
        BOTH,
        depth=2,
    ),
    "cantilever in 3-D": case(BLOCK, block_reference, 150, BOTH),
    "two-layer cantilever": case(
        TWO,
        functools.partial(beam_reference, TWO, layered_modulus),
        60,
        BOTH,
    ),
}
