"""Energy that changes on cells would save, which the network may not express."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn import backend
from keraspinn.diagnostics.verdicts import cells
from keraspinn.training.tangent import Tangent

X, Y = sp.symbols("x y")
U, V = sp.Function("u")(X), sp.Function("v")(X, Y)


def bar(stiffness=1, load=1, conditions=None, length=2):
    density = stiffness * U.diff(X) ** 2 / 2 - load * U
    ends = {"ends": kp.Condition(U, on=[{X: 0}, {X: length}], hard=True)}
    domain = kp.geometry.Box({X: (0, length)})
    conditions = ends | (conditions or {})
    return kp.Problem(domain, energy=kp.integral(density), conditions=conditions)


def at_rest(problem):
    """Return a model whose fields are zero."""
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1, outputs=len(problem.fields)))
    model.set_weights([np.zeros_like(weight) for weight in model.get_weights()])
    return model.astype("float64")


def savings(model):
    (size,) = model.problem.scales.sizes(model.problem.terms["residual"])
    with backend.double_precision():
        saved, *_ = cells.savings_on_cells(Tangent(model, 100, 10))
    return size * saved


def integral(polynomial):
    return polynomial.integ()(1) - polynomial.integ()(-1)


# Energy saved by one bubble under a load, for a cell of half width one.
ONE = integral(cells.EVEN) ** 2 / integral(cells.EVEN.deriv() ** 2) / 2


def test_savings_of_a_loaded_bar_are_those_of_bubbles():
    # h³ for a cell of half width h, of which there are 2 / (2 h).
    expected = sum(ONE * 4.0**-level for level in cells.LEVELS)
    assert savings(at_rest(bar())) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("stiffness", "load", "factor"),
    [(10, 1, 0.1), (1e11, 1e6, 10.0), (1 + sp.Float(0) * X, 2, 4.0)],
)
def test_savings_are_in_the_users_units(stiffness, load, factor):
    problem = bar(stiffness, load)
    assert savings(at_rest(problem)) == pytest.approx(
        factor * savings(at_rest(bar())), rel=1e-6
    )


def test_savings_of_a_part_with_a_load():
    def loaded(where):
        density = kp.integral((V.diff(X) ** 2 + V.diff(Y) ** 2) / 2)
        domain = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
        edge = {"edge": kp.Condition(V, on="boundary", hard=True)}
        load = kp.integral(V, over=where) if where else kp.integral(V)
        return kp.Problem(domain, energy=density - load, conditions=edge)

    whole = savings(at_rest(loaded(None)))
    half = savings(at_rest(loaded(kp.geometry.Box({X: (0, 0.5), Y: (0, 1)}))))
    assert half == pytest.approx(whole / 2, rel=0.1)


def test_changes_along_a_parameter_end_abruptly():
    w = sp.Function("w")(X, Y)
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 2), Y: (0, 3)}),
        energy=kp.integral(w.diff(X) ** 2 / 2 - w),
        conditions={"ends": kp.Condition(w, on=[{X: 0}, {X: 2}], hard=True)},
    )
    expected = 3 * savings(at_rest(bar()))
    assert savings(at_rest(problem)) == pytest.approx(expected, rel=1e-6)


def test_savings_of_a_fit_without_derivatives():
    energy = kp.integral((U - sp.sin(X)) ** 2 / 2)
    problem = kp.Problem(kp.geometry.Box({X: (0, 2)}), energy=energy, conditions={})
    assert savings(at_rest(problem)) > 0


def test_changes_do_not_end_at_a_free_face():
    def saved(*changes):
        slopes = [integral(change) for change in changes]
        rates = [change.deriv() for change in changes]
        matrix = [[integral(a * b) for a in rates] for b in rates]
        return slopes @ np.linalg.solve(matrix, slopes) / 2

    more = saved(cells.EVEN, cells.ODD, cells.HIGH) - ONE
    expected = savings(at_rest(bar()))
    # The last cell of each half width h adds to h³ of the others.
    expected += sum(more * 8.0**-level for level in cells.LEVELS)
    for length in (2, -2):
        density = U.diff(X) ** 2 / 2 - U
        problem = kp.Problem(
            kp.geometry.Box({X: (min(length, 0), max(length, 0))}),
            energy=kp.integral(density),
            conditions={"end": kp.Condition(U, on={X: 0}, hard=True)},
        )
        assert savings(at_rest(problem)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("boundary", ["pulled", "sprung", "soft", "periodic", "round"])
def test_changes_end_at_faces_that_are_not_free(boundary):
    density = (V.diff(X) ** 2 + V.diff(Y) ** 2) / 2 - V
    energy, periodic = kp.integral(density), [Y] if boundary == "periodic" else []
    domain = kp.geometry.Box({X: (0, 1), Y: (0, 1)}, periodic=periodic)
    held = [{X: 0}, {X: 1}]
    if boundary == "round":
        domain, held = kp.geometry.Ball([0, 0], 1, coordinates=(X, Y)), "boundary"
    conditions = {"held": kp.Condition(V, on=held, hard=True)}
    if boundary in ("pulled", "sprung"):
        end = V if boundary == "pulled" else V**2
        energy += sum(kp.integral(end, over={Y: k}) for k in (0, 1))
    if boundary == "soft":
        conditions["soft"] = kp.Condition(V, on=[{Y: 0}, {Y: 1}], weight=9)
    model = at_rest(kp.Problem(domain, energy=energy, conditions=conditions))
    with backend.double_precision():
        _, points = cells._parts(model.problem)
    assert cells._held_faces(domain, points).all()


def test_no_cell_contains_another_condition():
    held = {"middle": kp.Condition(U, on={X: 1.03}, weight=9)}
    less = savings(at_rest(bar())) - savings(at_rest(bar(conditions=held)))
    assert 0 < less < 0.5 * savings(at_rest(bar()))


def test_no_cell_contains_a_hard_condition():
    held = {"middle": kp.Condition(U, on={X: 1.03}, hard=True)}
    less = savings(at_rest(bar())) - savings(at_rest(bar(conditions=held)))
    assert 0 < less < 0.5 * savings(at_rest(bar()))


def test_pressure_on_a_boundary_along_the_diagonal_is_no_integral_inside():
    domain = kp.geometry.Polygon([(0, 0), (1, 1), (0, 1)], coordinates=(X, Y))
    density = (V.diff(X) ** 2 + V.diff(Y) ** 2) / 2
    pressure = kp.integral(V * domain.normal[0], over="boundary")
    clamp = {"clamp": kp.Condition(V, on={Y: 1}, hard=True)}
    energy = kp.integral(density) - pressure
    problem = kp.Problem(domain, energy=energy, conditions=clamp)
    assert savings(at_rest(problem)) == 0.0  # its gradient is zero


def test_energies_beside_an_equation_or_on_a_face_have_no_cells():
    control = {"control": kp.Condition(U.diff(X, 2) + 1, on="interior", weight=9)}
    assert savings(at_rest(bar(conditions=control))) == 0.0
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 2)}),
        energy=kp.integral((U - 1) ** 2 / 2, over={X: 2}),
        conditions={"line": kp.Condition(U.diff(X, 2), on="interior")},
    )
    assert savings(at_rest(problem)) == 0.0


def test_a_mean_that_is_prescribed_leaves_the_cells():
    mean = {"mean": kp.Condition(kp.integral(U) - 1)}
    expected = savings(at_rest(bar()))
    assert savings(at_rest(bar(conditions=mean))) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("added", [0, 10])
def test_gap_is_relative_to_the_change_of_the_energy(added):
    density = U.diff(X) ** 2 / 2 - U + added
    ends = {"ends": kp.Condition(U - 300, on="boundary", hard=True)}
    domain = kp.geometry.Box({X: (0, 2)})
    problem = kp.Problem(domain, energy=kp.integral(density), conditions=ends)
    gap = kp.diagnostics.energy_gap(at_rest(problem), 100)
    assert gap.size == pytest.approx(1 / 3, rel=0.1)  # of x (2 - x) / 2
    assert gap.relative == gap.gap / gap.size


WAVES = 1 + 0.9 * sp.sin(120 * sp.pi * X)


def shares_of_parabolas(density, fields):
    """Return a problem, a model, and the shares that cells save, by field."""
    ends = {"ends": kp.Condition(fields, on="boundary", hard=True)}
    domain = kp.geometry.Box({X: (0, 1)})
    problem = kp.Problem(domain, energy=kp.integral(density), conditions=ends)
    with backend.double_precision():
        model = at_rest(problem)
        (bias,) = (v for v in model.network.weights if v.shape == (len(fields),))
        bias.assign(np.ones(len(fields)))  # exact for constant coefficients
        _, shares, _ = cells.savings_on_cells(Tangent(model, 100, 10))
    return problem, model, shares


@pytest.mark.parametrize("ratio", [1, 1e4, 1e8])
@pytest.mark.parametrize("is_wavy", [False, True])
def test_savings_in_a_weak_part_of_a_field(ratio, is_wavy):
    stiff, beyond = (ratio, X < 0.5), WAVES if is_wavy else 1
    density = sp.Piecewise(stiff, (beyond, True)) * U.diff(X) ** 2 / 2
    density -= sp.Piecewise(stiff, (1, True)) * U
    *_, (share,) = shares_of_parabolas(density, [U])
    assert (share > 0.2) == is_wavy
    assert is_wavy or share < 0.02


def block(poisson, walls, load=0):
    """Return a model of a block that is stretched, with nearly no displacement v."""
    u, v = (sp.Function(name)(X, Y) for name in "uv")
    strains = u.diff(X), v.diff(Y), (u.diff(Y) + v.diff(X)) / 2
    density = poisson / (1 - 2 * poisson) * (strains[0] + strains[1]) ** 2 / 2
    density += strains[0] ** 2 / 2 + strains[1] ** 2 / 2 + strains[2] ** 2
    work = kp.integral(load * v, over={Y: 1}) if load else 0
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1), Y: (0, 1)}),
        energy=kp.integral(density) - kp.integral(u, over={X: 1}) + work,
        conditions={
            "base": kp.Condition(u, on={X: 0}, hard=True),
            "walls": kp.Condition(v, on=walls, hard=True),
        },
    )
    with backend.double_precision():
        model = at_rest(problem)
        (bias,) = (w for w in model.network.weights if w.shape == (2,))
        bias.assign([1, 1e-9])
        size = float(np.ravel(model.predict(np.ones((1, 2)), verbose=0))[0])
        # Exact where v vanishes.
        bias.assign([(1 - 2 * poisson) / (1 - poisson) / size, 1e-9])
    return model


@pytest.mark.parametrize("poisson", [0, 0.3])
def test_a_displacement_that_vanishes_counts_beside_the_loads_on_it(poisson):
    """Between walls without friction."""
    model = block(poisson, [{Y: 0}, {Y: 1}])
    with backend.double_precision():
        _, shares, least = cells.savings_on_cells(Tangent(model, 100, 10))
    assert least[0] < 0.01
    assert (least[1] > 100) == (poisson > 0)
    assert poisson == 0 or shares[1] < 1e-3
    assert poisson == 0 or kp.diagnostics.energy_gap(model, 100).errors["v"] < 0.01


def test_a_displacement_that_should_not_vanish_is_wrong():
    """No cell sees it, as a small load acts on the other side."""
    gap = kp.diagnostics.energy_gap(block(0.1, {Y: 0}, 1e-6), 100)
    assert gap.errors["v"] > 0.9


@pytest.mark.parametrize("ratio", [1, 1e6, 1e11])
def test_savings_are_relative_to_the_energy_that_a_field_stores(ratio):
    """Fields in one energy that a factor separates, one of them unresolved."""
    w = sp.Function("w")(X)
    density = ratio * (U.diff(X) ** 2 / 2 - U) + WAVES * w.diff(X) ** 2 / 2 - w
    problem, model, shares = shares_of_parabolas(density, [U, w])
    # The mean of the coefficient in series is the root of 1 - 0.81.
    assert shares[problem.field_names.index("w")] > 0.3
    assert shares[problem.field_names.index("u")] < 0.3
    gap = kp.diagnostics.energy_gap(model, 100)
    assert min(gap.errors["w"], gap.left) >= shares.max()


def test_fast_waves_of_a_coefficient_count_where_cells_resolve_them():
    waves = 2 + sp.cos(200 * sp.pi * X)
    quiet, wavy = (savings(at_rest(bar(a))) for a in (2, waves))
    assert wavy == pytest.approx(quiet, rel=0.3)


def test_more_than_four_coordinates_have_no_cells():
    coordinates = sp.symbols("x:5")
    w = sp.Function("w")(*coordinates)
    density = sum(w.diff(c) ** 2 for c in coordinates) / 2 - w
    problem = kp.Problem(
        kp.geometry.Box(dict.fromkeys(coordinates, (0, 1))),
        energy=kp.integral(density),
        conditions={"edge": kp.Condition(w, on="boundary", hard=True)},
    )
    assert savings(at_rest(problem)) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(("waves", "is_trusted"), [(0, True), (40, False)])
def test_waves_that_the_network_does_not_express_are_not_trusted(waves, is_trusted):
    keras.utils.set_random_seed(0)
    stiffness = 2 + sp.cos(2 * sp.pi * waves * X)
    model = kp.PINNModel(bar(stiffness, length=1), kp.networks.MLP(20, 2), seed=0)
    model = model.astype("float64")
    model.compile(kp.optimizers.GaussNewton())
    model.fit(steps_per_epoch=40, verbose=0)
    verdict = kp.diagnostics.verdict(model)
    assert verdict.trusted == is_trusted
    assert verdict.decided == is_trusted
    if not is_trusted:
        # The mean of the stiffness is 2; that of waves in series 1 / mean(1 / a).
        error = 1 - np.sqrt(3) / 2
        assert error / 3 < verdict.error < 3 * error
        assert "SIREN" in str(verdict)
