import numpy as np

import keraspinn as kp


def test_spectra_in_ascending_order():
    spectra = {"residual": np.array([1e5, -2.0, 0.0]), "boundary": np.array([3.0, 1.0])}
    (panel,) = kp.plot.spectrum(spectra).axes
    first, second = panel.lines
    np.testing.assert_array_equal(first.get_ydata(), [-2.0, 0.0, 1e5])
    np.testing.assert_array_equal(second.get_xdata(), [1, 2])
    assert first.get_linestyle() != second.get_linestyle()
    assert panel.get_yscale() == "symlog"
    low, high = panel.get_ylim()
    assert low < -2.0 and high > 1e5
    assert "residual, largest 1.0e+05" in panel.get_legend().texts[0].get_text()
    assert panel.get_xlabel() and panel.get_ylabel()
