import matplotlib.pyplot as plt
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
U = sp.Function("u")(X, Y, T)
HEAT = kp.Problem(
    kp.geometry.Box({X: (0, 2), Y: (0, 1)}, time={T: (0, 3)}),
    {"heat": U.diff(T) - U.diff(X, 2) - U.diff(Y, 2)},
)


@pytest.mark.parametrize(("backend", "open_figures"), [("inline", 0), ("agg", 1)])
def test_notebook_shows_a_figure_once(trained, monkeypatch, backend, open_figures):
    model, _ = trained(HEAT)
    monkeypatch.setattr(plt, "get_backend", lambda: backend)
    assert kp.plot.field(model, U, at={T: 1}, n=5).axes
    assert len(plt.get_fignums()) == open_figures


def test_map_at_a_time(trained):
    model, _ = trained(HEAT)
    figure = kp.plot.field(model, U.diff(X), at={T: 1.5}, n=5)
    panel, bar = figure.axes
    assert panel.get_title() == "t = 1.5"
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("x", "y")
    assert bar.get_ylabel() == "u_x" and panel.get_aspect() == 1.0
    # Rows of the image are y, its columns x.
    points = [[0.5, 1.0, 1.5], [2.0, 0.0, 1.5]]
    shown = panel.collections[0].get_array().reshape(5, 5)[[4, 0], [1, 4]]
    np.testing.assert_allclose(
        shown, model.predict_expression(U.diff(X), points), rtol=1e-5
    )


@pytest.mark.slow
def test_names_of_any_text(trained, tmp_path):
    x, t = sp.Symbol(r"$\fra$"), sp.Symbol("t_$")
    u = sp.Function(r"$\u$")(x, t)
    box = kp.geometry.Box({x: (0, 1)}, time={t: (0, 1)})
    problem = kp.Problem(
        box,
        {"e": u.diff(t) - u.diff(x, 2)},
        {
            "initial": kp.Condition(u, on="initial"),
            "ends": kp.Condition(u, on="boundary"),
        },
        reference={u: sp.Integer(0)},
    )
    model, _ = trained(problem)
    curve = kp.plot.field(model, u, at={t: 0.5}, n=5)
    name, label = r"\$\u\$", r"\$\fra\$"
    assert curve.axes[0].get_title() == r"t_\$ = 0.5"
    assert curve.axes[0].get_xlabel() == label and curve.axes[0].get_ylabel() == name
    labelled = kp.plot.field(model, u, label=r"$\lambda$", n=5)  # the user's TeX is TeX
    assert labelled.axes[1].get_ylabel() == r"$\lambda$"
    figures = (
        curve,
        labelled,
        kp.plot.solution(model, n=5),
        kp.plot.snapshots(model, n=5),
    )
    for figure in figures:
        figure.savefig(tmp_path / "figure.png")


def test_curve_along_the_remaining_coordinate(trained):
    model, _ = trained(HEAT)
    figure = kp.plot.field(model, U, at={X: 1, Y: sp.Rational(1, 2)}, n=4, label="Heat")
    (panel,) = figure.axes
    np.testing.assert_allclose(panel.lines[0].get_xdata(), [0, 1, 2, 3])
    assert panel.get_title() == "x = 1, y = 0.5"
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("t", "Heat")


@pytest.mark.slow
def test_time_axis_is_not_scaled_as_length(trained):
    model, _ = trained(kp.problems.klein_gordon())
    (u,) = model.problem.fields
    assert kp.plot.field(model, u, n=5).axes[0].get_aspect() == "auto"


@pytest.mark.slow
def test_parameter_axis_is_not_scaled_as_length(trained):
    u = sp.Function("u")(X, Y)
    domain = kp.geometry.Box({X: (0, 1)}, parameters={Y: (1, 20)})
    model, _ = trained(kp.Problem(domain, {"flow": u.diff(X) - u.diff(X, 2) / Y}))
    assert kp.plot.field(model, u, n=5).axes[0].get_aspect() == "auto"


@pytest.mark.slow
def test_holes_are_left_out_and_not_predicted(trained, monkeypatch):
    model, _ = trained(HEAT)

    def hole(domain, part, points):
        x, y, _ = (points + domain.centre).T
        return np.hypot(x - 1, y - 0.5) > 0.3

    monkeypatch.setattr(kp.geometry.Box, "contains", hole)
    inverse = 1 / sp.Max(0, sp.sqrt((X - 1) ** 2 + (Y - 0.5) ** 2) - 0.2) + 0 * U
    figure = kp.plot.field(model, inverse + U, at={T: 0}, n=21)
    image = figure.axes[0].collections[0].get_array().reshape(21, 21)
    assert image.mask[10, 10] and not image.mask[0, 0]
    assert np.isfinite(image.compressed()).all()


def test_the_rim_of_a_hole_is_smooth(trained):
    u = sp.Function("u")(X, Y)
    square = kp.geometry.Box({X: (-1, 1), Y: (-1, 1)})
    plate = square - kp.geometry.Disk((0, 0), 0.3)
    model, _ = trained(kp.Problem(plate, {"heat": u.diff(X, 2) + u.diff(Y, 2)}))
    figure = kp.plot.field(model, u, n=101)  # cells of 0.02
    _, cover = figure.axes[0].collections
    (path,) = cover.get_paths()
    radii = np.linalg.norm(path.vertices, axis=1)
    assert 0.299 < radii.min() and radii.max() < 0.32 and np.ptp(radii) < 0.016


def test_a_removed_side_is_left_out(trained):
    u = sp.Function("u")(X, Y)
    square = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
    bracket = square - kp.geometry.Box({X: (0.5, 1), Y: (0.5, 1)})
    model, _ = trained(kp.Problem(bracket, {"heat": u.diff(X, 2) + u.diff(Y, 2)}))
    figure = kp.plot.field(model, u, n=5)
    shown = ~figure.axes[0].collections[0].get_array().reshape(5, 5).mask
    assert shown[:3].all() and shown[:, :3].all()  # with the rims of the corner
    assert not shown[3:, 3:].any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "colours", "limits"),
    [
        (sp.Integer(0) * U + X - 1, "RdBu_r", (-1, 1)),
        (X + 1 + 0 * U, "viridis", (1, 3)),
        (X - sp.Float(0.01), "viridis", (-0.01, 1.99)),  # an overshoot is no sign
    ],
)
def test_colours_show_signs(trained, value, colours, limits):
    model, _ = trained(HEAT)
    image = kp.plot.field(model, value, at={T: 0}, n=5).axes[0].collections[0]
    assert image.get_cmap().name == colours
    assert image.get_clim() == pytest.approx(limits)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "error", "message"),
    [
        (None, ValueError, r"one to 2 axes.*at=\{t: 0\}"),
        ({X: 0, Y: 0, T: 0}, ValueError, "one to 2 axes"),
        ({T: 4}, ValueError, "t lies between 0 and 3"),
        ({sp.Symbol("z"): 0}, ValueError, r"no coordinates of the problem.*\[x, y"),
        (0.5, TypeError, r"`at` must be a dict.*\{t: 0.5\}"),
    ],
)
def test_rejects_invalid_arguments(trained, at, error, message):
    model, _ = trained(HEAT)
    with pytest.raises(error, match=message):
        kp.plot.field(model, U, at=at)
    with pytest.raises(TypeError, match="must be a scalar SymPy expression"):
        kp.plot.field(model, "u", at={T: 0})


def test_ensemble_has_a_band():
    ensemble = kp.Ensemble(kp.problems.poisson(), kp.networks.MLP(4, 1), size=3)
    (u,) = ensemble.problem.fields
    (panel,) = kp.plot.field(ensemble, u, n=9).axes
    (mean,), (band,) = panel.lines, panel.collections
    points = mean.get_xdata()[:, None]
    expected = ensemble.predict(points)[:, 0]
    np.testing.assert_allclose(mean.get_ydata(), expected, atol=1e-6)
    top = band.get_paths()[0].vertices[:, 1].max()
    deviation = ensemble.predict_deviation(points)[:, 0]
    assert top == pytest.approx((mean.get_ydata() + 2 * deviation).max(), rel=1e-4)
    ensemble = kp.Ensemble(kp.problems.helmholtz(), kp.networks.MLP(4, 1), size=2)
    (u,) = ensemble.problem.fields
    labels = [axes.get_ylabel() for axes in kp.plot.field(ensemble, u, n=5).axes]
    assert labels[2:] == ["u", "Standard deviation of u"]
