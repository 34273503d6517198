"""Output of `fit`, `evaluate` and `summary`."""

import re
from xml.etree import ElementTree

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.diagnostics import Verdict

x = sp.Symbol("x")
u = sp.Function("u")(x)
CONTROL = re.compile(r"\x1b\[[0-9;]*m|\x08")


def compiled(fields=1):
    rate = kp.Parameter("rate", 2.0)
    unknowns = [sp.Function(f"u{n}")(x) for n in range(fields)]
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {f"equation_{n}": f.diff(x) - rate for n, f in enumerate(unknowns)},
        {"left": kp.Condition(unknowns, on={x: 0})},
        dict.fromkeys(unknowns, 2 * x),
    )
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1, outputs=fields))
    model.compile(run_eagerly=True)
    return model


def printed(capsys, model, **options):
    capsys.readouterr()
    validation_data = model.problem.test_data(5)
    run = {"steps_per_epoch": 2, "batch_size": 4, "validation_data": validation_data}
    history = model.fit(**run | options)
    return CONTROL.sub("", capsys.readouterr().out), history.history


def test_progress_bar_has_losses_errors_and_coefficients(capsys):
    text, history = printed(capsys, compiled())
    for name in ("loss", "val_u0_relative_l2", "rate"):
        assert f" - {name}: " in text
    assert "left_loss" not in text and "left_loss" in history


def test_evaluate_bar_has_losses_and_errors(capsys):
    model = compiled(4)
    model.evaluate(*model.problem.test_data(5), batch_size=2)
    text = CONTROL.sub("", capsys.readouterr().out)
    assert "3/3 " in text and " - loss: " in text and "u0_relative_l2" in text
    assert "left_loss" not in text


@pytest.mark.parametrize("verbose", [0, 2])
def test_evaluate_without_bar(capsys, verbose):
    model = compiled()
    model.evaluate(*model.problem.test_data(5), verbose=verbose)
    assert ("left_loss" in capsys.readouterr().out) is (verbose == 2)


def test_keras_bar_shows_all_logs(capsys):
    bar = keras.callbacks.ProgbarLogger()
    text, _ = printed(capsys, compiled(), callbacks=[bar])
    assert "left_loss" in text


@pytest.mark.parametrize("verbose", [0, 2])
def test_fit_without_bar(capsys, verbose):
    text, _ = printed(capsys, compiled(), verbose=verbose)
    assert ("loss" in text) is (verbose == 2)


def test_compiling_is_announced_once(capsys):
    model = compiled()
    text, _ = printed(capsys, model, epochs=2)
    assert text.count("Compiling") == 1 and "New points" not in text
    assert len(re.findall(r"Compiled in \d+\.\d s", text)) == 1
    again, _ = printed(capsys, model)
    assert "Compil" not in again


def test_resampled_points_are_noted(capsys):
    text, _ = printed(capsys, compiled(), x=kp.sampling.Renewed(every=7))
    assert "New points every 7 steps" in text


def test_summary_names_terms_and_points(capsys):
    model = compiled()
    model.summary()
    text = capsys.readouterr().out
    for piece in ("equation_0:", "left:", "Trained in", "taylor", "rate = 2"):
        assert piece in text
    lines = []
    model.summary(print_fn=lambda line, **_: lines.append(line))
    assert "equation_0:" in "\n".join(lines)


def test_ensemble_summary_has_number_of_members(capsys):
    ensemble = kp.Ensemble(compiled().problem, kp.networks.MLP(4, 1), size=3)
    assert repr(ensemble) == "<Ensemble: 3 × MLP of 13 parameters>"
    shown = ensemble._repr_html_()
    assert "3 × MLP" in shown and "u_{0 x}" in shown
    ensemble.summary()
    text = capsys.readouterr().out
    for piece in ("equation_0:", "3 × MLP", "rate = 2 ± 0", "left_weight = 1 ± 0"):
        assert piece in text


def test_html_of_a_verdict_a_domain_and_a_problem_s_model():
    model = compiled()
    html = model._repr_html_()
    assert "PINNModel, 15 parameters" in html
    assert r"\mathit{rate} + u_{0 x} &amp;=" in html
    left = {"heat": 0.02, "a<b": 0.0}
    html = Verdict({"u": 0.8}, left, left, 0.05, ("heat",))._repr_html_()
    assert html.startswith("<p><b>Not to be trusted.</b></p>")
    assert "<td>heat</td><td>2 %</td>" in html and "<td>a&lt;b</td>" in html
    html = kp.geometry.Box({x: (0, 1)})._repr_html_()
    assert "<td>x</td><td>0.0</td><td>1.0</td>" in html and "<svg" not in html
    assert "Disk" in kp.geometry.Disk((0, 0), 1)._repr_html_()  # without coordinates


@pytest.mark.parametrize("is_time", [False, True])
def test_html_of_a_domain_in_the_plane(is_time):
    y = sp.Symbol("y")
    domain = kp.geometry.Box({x: (0, 1)}, time={y: (0, 4)})
    if not is_time:
        domain = kp.geometry.Box({x: (0, 1), y: (0, 4)})
        domain -= kp.geometry.Box({x: (0.5, 1), y: (0, 2)})
    html = domain._repr_html_()
    drawing = ElementTree.fromstring(html[html.index("<svg") :])
    width, height = (float(drawing.get(side)) for side in ("width", "height"))
    points = re.findall(r"M(\d+) (\d+)h0", drawing[0].get("d"))
    columns = np.array(points, float).T
    assert (width < height) is not is_time  # lengths have one scale
    assert columns.min() == 4 and columns[1].max() == height - 4
    in_corner = (columns[0] > 0.5 * width) & (columns[1] > 0.5 * height)
    assert len(points) > 200 and in_corner.any() is np.bool(is_time)  # y upwards


@pytest.mark.parametrize(
    ("declaration", "latex"),
    [
        (kp.Condition(u - 1, on={x: 0}), r"&= 0 \quad \text{on x = 0}"),
        (kp.Data(np.zeros((3, 1)), {u: np.ones(3)}), r"\text{measured at 3 points}"),
    ],
)
def test_latex_of_declarations(declaration, latex):
    assert latex in declaration._repr_latex_()


@pytest.mark.parametrize(
    ("described", "pieces"),
    [
        (kp.Condition(u - 1, on={x: 0}), ["Condition", "u - 1", "x: 0"]),
        (kp.Data(np.zeros((3, 1)), {u: np.ones(3)}), ["Data", "u", "3 points"]),
        (kp.geometry.Box({x: (0, 2)}), ["Box", "[0, 2]"]),
        (kp.geometry.Disk((0, 0), 1), ["Disk", "(0, 0)"]),
        (kp.optimizers.SSBroyden(), ["SSBroyden(", "resample_every=500"]),
        (kp.optimizers.SOAP(), ["SOAP(", "update_freq=10"]),
        (kp.callbacks.LearningRateAnnealing(), ["LearningRateAnnealing(alpha=0.1"]),
        (kp.callbacks.HessianEigenvalue(), ["HessianEigenvalue(every=1000)"]),
        (kp.callbacks.BackupAndRestore("b"), ["BackupAndRestore('b')"]),
        (kp.Scales({x: (1, 2)}, {"u": 3}), ["x = 1 + 2 ξ", "u = 3 û"]),
        (kp.problems.poisson(1), ["Problem in", "boundary"]),
    ],
)
def test_repr_of_public_objects(described, pieces):
    for piece in pieces:
        assert piece in repr(described)
