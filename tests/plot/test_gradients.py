import pytest

import keraspinn as kp


def statistics(units=9, depth=5):
    network = kp.networks.MLP(units, depth)
    model = kp.PINNModel(kp.problems.klein_gordon(), network, seed=0)
    model.loss_weights["initial"].assign(100.0)
    return kp.diagnostics.gradient_statistics(model, batch_size=8)


@pytest.mark.slow
def test_panel_for_each_layer_and_line_for_each_term():
    figure = kp.plot.gradient_histograms(statistics())
    layers = [f"hidden_{k}" for k in range(1, 6)] + ["head"]
    assert [panel.get_title() for panel in figure.axes] == layers
    for panel in figure.axes:
        assert len(panel.patches) == 3 and panel.get_xlabel() and panel.get_ylabel()
        assert len({patch.get_linestyle() for patch in panel.patches}) == 3
        left, right = panel.get_xlim()
        assert left == -right
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.texts]
    assert labels == ["∂L/∂θ, residual", "λ ∂L/∂θ, boundary", "λ ∂L/∂θ, initial"]


def test_densities_of_the_selected_gradients():
    measured = statistics()
    for weighted in (True, False):
        figure = kp.plot.gradient_histograms(measured, weighted, layers=["hidden_2"])
        (panel,) = figure.axes
        for term, patch in zip(measured.terms, panel.patches, strict=True):
            density, edges, _ = patch.get_data()
            expected = measured.counts(term, "hidden_2", edges, weighted) / 81
            assert density * (edges[1] - edges[0]) == pytest.approx(expected)
            assert 0.97 < expected.sum() <= 1


def test_rejects_invalid_arguments():
    with pytest.raises(ValueError, match="`layers` names .*gate_1"):
        kp.plot.gradient_histograms(statistics(), layers=["gate_1"])
