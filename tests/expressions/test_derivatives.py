import pytest
import sympy as sp

from keraspinn.expressions import fields_of, required_derivatives

x, y = sp.symbols("x y")
u, p = sp.Function("u")(x, y), sp.Function("p")(x, y)


def test_fields_are_sorted_and_unique():
    assert fields_of([u.diff(x) * sp.sin(p), u, p.diff(y)]) == ("p", "u")
    assert fields_of(u) == ("u",)
    assert fields_of([x, sp.Integer(3)]) == ()
    assert fields_of([sp.Piecewise((1, u > 0), (p, True))]) == ("p", "u")


def test_multi_indices_follow_the_coordinates():
    expressions = [u.diff(x, 2) + u, p.diff(x, y, y)]
    assert required_derivatives(expressions, (x, y)) == {
        "p": {(1, 2)},
        "u": {(0, 0), (2, 0)},
    }
    assert required_derivatives(expressions, (y, x))["p"] == {(2, 1)}


def test_accepts_an_iterator():
    assert required_derivatives(iter([u]), iter([x, y])) == {"u": {(0, 0)}}


def test_a_shared_subexpression_is_visited_once():
    # As a tree this has 2**60 leaves.
    tower = u
    for _ in range(60):
        tower = sp.Add(tower, sp.Mul(tower, tower, evaluate=False), evaluate=False)
    assert required_derivatives(tower, (x, y)) == {"u": {(0, 0)}}


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (sp.Derivative(u * p, x), "plain fields.*normalize"),
        (sp.Derivative(sp.sign(u), x), "plain fields"),
        (sp.Function("u")(sp.Symbol("t"), x).diff("t"), "not a coordinate.*are x, y"),
    ],
)
def test_rejects_invalid_derivatives(expression, message):
    with pytest.raises(ValueError, match=message):
        required_derivatives(expression, (x, y))
