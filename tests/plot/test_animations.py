import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
U = sp.Function("u")(X, T)
HEAT = kp.Problem(
    kp.geometry.Box({X: (0, 2)}, time={T: (0, 3)}), {"heat": U.diff(T) - U.diff(X, 2)}
)
W = sp.Function("w")(X, Y, T)
WAVE = kp.Problem(
    kp.geometry.Box({X: (0, 2), Y: (0, 1)}, time={T: (0, 3)}),
    {"wave": W.diff(T, 2) - W.diff(X, 2) - W.diff(Y, 2)},
)


def test_film_of_maps_has_one_colour_scale(trained, tmp_path):
    model, _ = trained(WAVE)
    film = kp.plot.animation(model, T + 0 * W, over=T, frames=3, n=4, fps=5)
    figure = film._fig
    for number, moment in enumerate((0, 1.5, 3)):
        film._func(number)
        panel, _ = figure.axes
        assert panel.get_title() == f"t = {moment:g}"
        image = panel.collections[0]
        np.testing.assert_allclose(image.get_array(), moment)
        assert image.get_clim() == (0, 3)
    film.save(tmp_path / "film.gif", writer="pillow")
    assert (tmp_path / "film.gif").stat().st_size > 1000


def test_film_of_curves(trained):
    model, _ = trained(HEAT)
    film = kp.plot.animation(model, U, over=T, frames=2, n=4, label="heat")
    film._func(1)
    (panel,) = film._fig.axes
    points = np.stack([np.linspace(0, 2, 4), np.full(4, 3.0)], axis=1)
    line = panel.lines[0].get_ydata()
    np.testing.assert_allclose(line, model.predict_expression(U, points), rtol=1e-5)
    assert panel.get_title() == "t = 3"
    limits = panel.get_ylim()
    film._func(0)
    assert film._fig.axes[0].get_ylim() == limits
    film._draw_was_started = True  # Matplotlib warns of animations that are not shown


def test_rejects_invalid_arguments(trained):
    model, _ = trained(HEAT)
    with pytest.raises(ValueError, match=r"`over` names .*\[x, t\]"):
        kp.plot.animation(model, U, over=Y)
    with pytest.raises(ValueError, match="`frames`"):
        kp.plot.animation(model, U, over=T, frames=0)
    with pytest.raises(ValueError, match="one to 2 axes"):
        kp.plot.animation(model, U, over=T, at={X: 0})
