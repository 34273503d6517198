import numpy as np
import pytest
import sympy as sp
from keras.saving import register_keras_serializable

import keraspinn as kp

X = sp.Symbol("x")
U = sp.Function("u")(X)
POINTS = np.linspace(0, 1, 11)[:, None]


@register_keras_serializable("tests")
class Line(kp.ComputedReference):
    """Reference u = slope · x with gaps beyond x = 0.75; counts its computations."""

    computed = 0

    def __init__(self, slope, gaps=True):
        super().__init__(POINTS, [U, U.diff(X)], gaps=[U] if gaps else [])
        self.slope = slope

    def compute(self):
        type(self).computed += 1
        u = np.where(POINTS[:, 0] > 0.75, np.nan, self.slope * POINTS[:, 0])
        return {U.diff(X): np.full(11, self.slope), U: u}

    def get_config(self):
        return {"slope": self.slope}


@pytest.fixture(autouse=True)
def counted(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(Line, "computed", 0)


def problem(slope=2.0, **options):
    domain = kp.geometry.Box({X: (0, 1)})
    return kp.Problem(
        domain, {"e": U.diff(X) - slope}, reference=Line(slope, **options)
    )


def model(problem):
    return kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)


def test_reference_is_computed_once_on_first_use(tmp_path):
    trained = model(problem())
    trained.save(tmp_path / "line.keras")
    loaded = kp.load_model(tmp_path / "line.keras")
    assert Line.computed == 0
    _, values = loaded.problem.test_data()
    assert Line.computed == 1
    np.testing.assert_array_equal(values["u_x"], np.full(11, 2.0))
    assert list(values) == ["u", "u_x"] and np.isnan(values["u"]).sum() == 3
    trained.problem.test_data()
    assert Line.computed == 1  # from disk
    problem(3.0).test_data()
    assert Line.computed == 2  # of another configuration


def test_reference_of_another_revision_is_computed_again(monkeypatch):
    problem().test_data()
    monkeypatch.setattr(Line, "revision", 2)
    problem().test_data()
    assert Line.computed == 2


def test_gaps_of_the_reference_are_left_out_of_the_error():
    declared = problem()
    compared = model(declared)
    compared.compile("adam", jit_compile=False)
    points, values = declared.test_data()
    logs = compared.evaluate(points, values, verbose=0, return_dict=True)
    is_known = ~np.isnan(values["u"])
    predicted = compared.predict(points, verbose=0)[:, 0]
    # Compare deviations from the mean: u is determined up to a constant.
    error = np.std((predicted - values["u"])[is_known]) / np.std(values["u"][is_known])
    assert logs["u_relative_l2"] == pytest.approx(error, rel=1e-5)
    with pytest.raises(ValueError, match="must be finite"):
        compared.evaluate(points, values | {"u_x": values["u"]}, verbose=0)


def test_nan_outside_of_gaps_of_the_reference_raises():
    with pytest.raises(ValueError, match=r"u\(x\) must be finite"):
        problem(gaps=False).test_data()


def test_subclass_contract():
    bare = kp.ComputedReference(POINTS, [U])
    for needed in ("compute", "get_config"):
        with pytest.raises(NotImplementedError):
            getattr(bare, needed)()
