"""Figures, drawn by name, with their numbers."""

import json

import matplotlib.image
import pytest


def test_figures_with_their_numbers(run_program, tmp_path):
    tiny = ("--quick", "--units", "5", "--depth", "2", "--steps", "80", "--seed", "3")
    names = {"helmholtz_m2", "helmholtz_gradients", "klein_gordon_weights", "spectra"}
    run_program("figures.py", "--directory", tmp_path, *tiny, *sorted(names))
    assert {path.stem for path in tmp_path.glob("*.png")} == names
    reports = {}
    for name in names:
        pixels = matplotlib.image.imread(tmp_path / f"{name}.png")
        assert pixels[..., :3].std() > 0.05  # more than an empty page
        reports[name] = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))
        assert reports[name]["options"]["seed"] == 3
        assert reports[name]["versions"]["keraspinn"]
        assert reports[name]["machine"]["cores"] > 0
    annealed = reports["helmholtz_m2"]["numbers"]
    assert annealed["boundary_weight"] > 1
    assert annealed["boundary_weighted_spread_ratio"] == pytest.approx(
        annealed["boundary_weight"] * annealed["boundary_spread_ratio"], rel=0.9
    )
    stiffness = reports["spectra"]["numbers"]
    assert stiffness["parameters"] == 15 + 30 + 6
    assert stiffness["residual_over_boundary"] > 10


def test_rejects_unknown_names(run_program, capsys):
    with pytest.raises(SystemExit) as stop:
        run_program("figures.py", "helmholtz_m9")
    assert stop.value.code
    message = "no figures ['helmholtz_m9']; there are helmholtz_m1"
    assert message in capsys.readouterr().err
