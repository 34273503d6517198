import numpy as np
import pytest

from keraspinn.diagnostics.verdicts.correction import total_norm
from keraspinn.diagnostics.verdicts.extents import without_largest


def test_more_residuals_of_an_equation_do_not_outweigh_conditions():
    norms = {"residual": [2.0], "initial": [0.5]}
    few = {"residual": [np.array([3.0, 4.0])], "initial": [np.array([1.0])]}
    rows = {n: [(r, np.zeros((len(r), 1))) for r in part] for n, part in few.items()}
    many = few | {"residual": [np.tile(few["residual"][0], 8)]}
    assert total_norm(few, norms) == pytest.approx(np.sqrt(25 / 4 + 4))
    assert total_norm(many, norms, rows) == pytest.approx(total_norm(few, norms))
    assert total_norm(many, norms) > 2 * total_norm(few, norms)


def test_rare_residuals_do_not_count():
    values = np.array([-9.0, 1.0, 2.0, 3.0])
    assert sorted(without_largest(values, 0.25)) == [1, 2, 3]
    assert without_largest(values, 0.2).size == 4
    norms, rows = {"e": [1.0]}, {"e": [(np.zeros(4), None)]}
    norm = total_norm({"e": [values]}, norms, rows, rare=0.25)
    assert norm == pytest.approx(np.sqrt(4 * 14 / 3))


def test_nonfinite_residuals_are_never_rare():
    values = np.array([1.0, np.nan, 2.0, 3.0])
    assert np.isnan(without_largest(values, 0.5)).any()
    assert np.isnan(total_norm({"e": [values]}, {"e": [1.0]}, rare=0.5))
