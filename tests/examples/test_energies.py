"""Study of energies: references in closed form, declarations, and its table."""

import json
import warnings

import numpy as np
import pytest

skfem = pytest.importorskip("skfem")

from examples.energies import finite_elements as fem  # noqa: E402
from examples.energies import other  # noqa: E402
from examples.energies.__main__ import CASES  # noqa: E402
from examples.energies.table import PAGE, RESULTS, page  # noqa: E402


def test_bars_in_tension_have_their_closed_form():
    """Stretch a bar of ν = 0: u = t L / E, and the energy is -t² L H / 2E."""
    mesh = fem.boxes(((0, 2), (0, 1)), size=0.5)
    ends = fem.facets(mesh, 0, 0.0), fem.facets(mesh, 0, 2.0)
    element = skfem.ElementTriP2()
    tip, energy = fem.elasticity(mesh, element, 4.0, 0.0, *ends, (0.1, 0), (2, 0.5))
    np.testing.assert_allclose(tip, [0.05, 0], atol=1e-12)
    assert energy == pytest.approx(-0.1 * 0.05 / 2)


@pytest.mark.parametrize("layers", [other.slab_exact, other.layers_exact])
def test_temperatures_of_layers_are_continuous_and_have_one_flux(layers):
    exact = layers()
    k = (other.copper, other.glass)
    if layers is other.layers_exact:
        k = (other.warm, other.cool)
    (left, _), (right, _) = exact.args
    x = other.x
    sides = [left.subs(x, 0.5), right.subs(x, 0.5)]
    assert float(sides[0]) == pytest.approx(float(sides[1]), abs=1e-9)
    fluxes = [
        float((conductivity(side) * side.diff(x)).subs(x, at))
        for conductivity, side, at in ((k[0], left, 0.2), (k[1], right, 0.8))
    ]
    assert fluxes[0] == pytest.approx(fluxes[1], rel=1e-9)


def test_a_linear_solid_is_the_limit_of_a_small_stretch():
    mesh = skfem.MeshQuad().refined(2)
    small = fem.hyperelasticity(mesh, 1.0, 1.0, 1e-4, steps=1)
    smaller = fem.hyperelasticity(mesh, 1.0, 1.0, 5e-5, steps=1)
    assert small["energy"] / smaller["energy"] == pytest.approx(4, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_all_forms_can_be_declared(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for form in CASES[name].forms.values():
            assert form.problem().fields


def test_the_page_shows_the_record():
    text = PAGE.read_text("utf-8")
    assert page(text, json.loads(RESULTS.read_text("utf-8"))) == text
