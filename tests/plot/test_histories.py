import numpy as np
import pytest
import sympy as sp

import keraspinn as kp


def test_history(trained):
    _, history = trained(kp.problems.helmholtz())
    losses, weights = kp.plot.history(history).axes
    assert list(losses.lines[0].get_xdata()) == [3, 6]
    assert [line.get_label() for line in losses.lines] == [
        "boundary_loss",
        "helmholtz_loss",
        "residual_loss",
    ]
    assert losses.lines[0].get_linestyle() != losses.lines[1].get_linestyle()
    assert weights.get_xlabel() == "Training step"


@pytest.mark.slow
def test_legend_shows_names_of_any_text(trained, tmp_path):
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    left = {
        r"$\fra$": kp.Condition(u, on={x: 0}),
        "_hidden": kp.Condition(u, on={x: 1}),
    }
    box = kp.geometry.Box({x: (0, 1)})
    model, history = trained(kp.Problem(box, {"e": u.diff(x, 2) + 1}, left))
    figure = kp.plot.history(history)
    figure.savefig(tmp_path / "history.png")
    shown = [text.get_text() for text in figure.axes[0].get_legend().texts]
    assert " _hidden_loss" in shown and r"\$\fra\$_loss" in shown
    measured = kp.diagnostics.gradient_statistics(model, batch_size=4)
    kp.plot.gradient_histograms(measured).savefig(tmp_path / "gradients.png")
    spectra = kp.diagnostics.hessian_spectrum(model)
    kp.plot.spectrum(spectra).savefig(tmp_path / "spectra.png")


@pytest.mark.slow
def test_history_of_a_stream_of_unknown_length(trained):
    model, _ = trained(kp.problems.helmholtz())
    stream = (np.zeros((4, 2), "float32") for _ in range(3))
    losses, weights = kp.plot.history(model.fit(stream, verbose=0)).axes
    assert list(losses.lines[0].get_xdata()) == [1]
    assert losses.get_xlabel() == weights.get_xlabel() == "Epoch"


def test_history_without_conditions(trained):
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    _, history = trained(kp.Problem(kp.geometry.Box({x: (0, 1)}), {"e": u.diff(x) - u}))
    assert len(kp.plot.history(history).axes) == 1


@pytest.mark.slow
def test_history_of_second_order_and_alignment():
    network = kp.networks.MLP(4, 1, dtype="float64")
    model = kp.PINNModel(kp.problems.helmholtz(), network, seed=0, dtype="float64")
    model.compile(kp.optimizers.GaussNewton(), jit_compile=False)
    aligned = kp.callbacks.GradientHistogram(every=2, batch_size=8)
    history = model.fit(
        batch_size=16, steps_per_epoch=2, epochs=2, verbose=0, callbacks=[aligned]
    )
    _, _, optimizer, cosines = kp.plot.history(history).axes
    assert optimizer.get_ylabel() == "GaussNewton"
    labels = [line.get_label() for line in optimizer.lines]
    assert labels == ["step_size", "damping", "gain_ratio", "effective_rank"]
    (line,) = cosines.lines
    assert line.get_label() == "residual_boundary"
    assert list(line.get_ydata()) == [
        s.cosines["residual", "boundary"] for s in aligned.statistics
    ]
    assert cosines.get_yscale() == "linear" and list(line.get_xdata()) == [2, 4]
    # Measured less often than each epoch, they have no known abscissas.
    history.history["residual_boundary_gradient_cosine"].pop()
    assert len(kp.plot.history(history).axes) == 3


def test_traces_differ_without_colour():
    traces = {f"run {k}": ([1, 2, 3], [1.0, 10.0**k, 5.0]) for k in range(4)}
    (panel,) = kp.plot.traces(traces, label="λ").axes
    assert len({line.get_linestyle() for line in panel.lines}) == 4
    assert len({line.get_color() for line in panel.lines}) == 4
    assert panel.get_yscale() == "log" and panel.get_ylabel() == "λ"
    assert [text.get_text() for text in panel.get_legend().texts] == list(traces)


def test_traces_of_any_name(tmp_path):
    figure = kp.plot.traces({"_hidden": ([1], [1.0]), r"$\fra$": ([1], [2.0])})
    figure.savefig(tmp_path / "traces.png")
    shown = [text.get_text() for text in figure.axes[0].get_legend().texts]
    assert shown == [" _hidden", r"\$\fra\$"]
