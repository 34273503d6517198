"""Interfaces of materials without enough conditions."""

import itertools
import warnings

import pytest
import sympy as sp

import keraspinn as kp

x, y, t = sp.symbols("x y t")
Box = kp.geometry.Box


def warnings_of(*arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kp.Problem(*arguments)
    return [str(w.message) for w in caught]


def wall(jumps, time=None):
    """Return arguments for three layers, with the conditions at two interfaces."""
    edges = [0, 0.1, 0.15, 0.4]
    layers = [Box({x: pair}) for pair in itertools.pairwise(edges)]
    variables = (x,) if time is None else (x, time)
    fields = [sp.Function(name)(*variables) for name in "abc"]
    rate = 0 if time is None else 1
    pairs = list(zip(fields, layers, strict=True))
    equations = {
        f"{field.func}": kp.Equation(
            field.diff(x, 2) - (field.diff(time) if rate else 0), on=layer
        )
        for field, layer in pairs
    }
    a, _, c = fields
    conditions = {
        "in": kp.Condition(sp.Eq(-a.diff(x), 8 * (293 - a)), on={x: 0}),
        "out": kp.Condition(sp.Eq(c, 263), on={x: 0.4}),
    }
    if rate:
        for field, layer in pairs:
            start = kp.Condition(sp.Eq(field, 293), on="initial", where=layer)
            conditions[f"{field.func}0"] = start
    for number in jumps:
        (u, A), (v, B) = pairs[number : number + 2]
        flux = [-u.diff(x)], [-v.diff(x)]
        meet = kp.interface_condition(A, B, values=(u, v), flux=flux)
        conditions[f"meet{number}"] = meet
    domain = Box({x: (0, 0.4)}, time=None if time is None else {time: (0, 1)})
    return domain, equations, conditions


@pytest.mark.parametrize("time", [None, t])
@pytest.mark.parametrize(("jumps", "missing"), [([0, 1], 0), ([0], 1), ([], 1)])
def test_an_interface_between_layers_without_conditions_warns(time, jumps, missing):
    texts = warnings_of(*wall(jumps, time))
    assert sum("missing on the interface" in text for text in texts) == missing
    assert missing or not texts


def test_an_interface_that_lacks_the_flux_names_both_materials():
    u, v = (sp.Function(name)(x, y) for name in "uv")
    A, B = Box({x: (0, 1), y: (0, 1)}), Box({x: (1, 3), y: (0, 1)})
    equations = {
        name: kp.Equation(f.diff(x, 2) + f.diff(y, 2), on=part)
        for name, f, part in (("A", u, A), ("B", v, B))
    }
    faces = {
        "left": kp.Condition(u - 1, on={x: 0}),
        "right": kp.Condition(v, on={x: 3}),
        "walls": kp.Condition(u.diff(y), on=[{y: 0}, {y: 1}], where=A),
        "walls2": kp.Condition(v.diff(y), on=[{y: 0}, {y: 1}], where=B),
    }
    domain = Box({x: (0, 3), y: (0, 1)})
    for jumps, missing in (([u - v], 1), ([u - v, u.diff(x) - 2 * v.diff(x)], 0)):
        meet = kp.Condition(jumps, on=kp.geometry.Interface(A, B))
        texts = warnings_of(domain, equations, faces | {"meet": meet})
        assert len(texts) == missing
        assert all("need 2" in text and str(A) in text for text in texts)


def test_insulated_layers_need_no_interface_condition():
    domain, equations, conditions = wall([1])
    a, b = (sp.Function(name)(x) for name in "ab")
    apart = {"a1": kp.Condition(a.diff(x), on={x: 0.1})}
    apart["b1"] = kp.Condition(b.diff(x), on={x: 0.1})
    assert not warnings_of(domain, equations, conditions | apart)


def test_a_field_on_both_sides_needs_no_condition_between():
    u = sp.Function("u")(x)
    halves = Box({x: (0, 1)}), Box({x: (1, 2)})
    sources = zip("AB", (1, 2), halves, strict=True)
    equations = {n: kp.Equation(u.diff(x, 2) + q, on=part) for n, q, part in sources}
    ends = {"ends": kp.Condition(u, on="boundary")}
    assert not warnings_of(Box({x: (0, 2)}), equations, ends)


def test_overlapping_regions_need_the_condition_of_one_side():
    u, v = (sp.Function(name)(x, y) for name in "uv")
    A, B = (Box({x: pair, y: (0, 1)}) for pair in ((0, 1.2), (0.8, 2)))
    equations = {
        name: kp.Equation(f.diff(x, 2) + f.diff(y, 2), on=part)
        for name, f, part in (("A", u, A), ("B", v, B))
    }
    conditions = {
        "left": kp.Condition(u - 1, on={x: 0}),
        "right": kp.Condition(v, on={x: 2}),
        "u": kp.Condition(u - v, on={x: 1.2}),
        "v": kp.Condition(u - v, on={x: 0.8}),
        "walls": kp.Condition(u, on=[{y: 0}, {y: 1}], where=x < 1),
        "walls2": kp.Condition(v, on=[{y: 0}, {y: 1}], where=x > 1),
    }
    domain = Box({x: (0, 2), y: (0, 1)})
    texts = warnings_of(domain, equations, conditions)
    assert not any("interface" in text for text in texts)


def test_two_gases_need_velocity_and_pressure_between():
    A, B = Box({x: (0, 1)}), Box({x: (1, 2)})
    gases = [[sp.Function(f"{n}{k}")(x, t) for n in "rupe"] for k in (1, 2)]
    equations, conditions = {}, {}
    for (r, u, p, e), part in zip(gases, (A, B), strict=True):
        balances = (
            r.diff(t) + (r * u).diff(x),
            (r * u).diff(t) + (r * u * u + p).diff(x),
            e.diff(t) + (u * (e + p)).diff(x),
            p - 0.4 * (e - r * u**2 / 2),
        )
        for number, balance in enumerate(balances):
            equations[f"{u.func}{number}"] = kp.Equation(balance, on=part)
        start = kp.Condition([r - 1, u, e - 1], on="initial", where=part)
        conditions[f"{r.func} starts"] = start
    (_, u1, p1, _), (_, u2, p2, _) = gases
    conditions |= {
        "left": kp.Condition(u1, on={x: 0}),
        "right": kp.Condition(u2, on={x: 2}),
        "meet": kp.Condition([u1 - u2, p1 - p2], on=kp.geometry.Interface(A, B)),
    }
    domain = Box({x: (0, 2)}, time={t: (0, 1)})
    texts = warnings_of(domain, equations, conditions)
    assert not any("interface" in text for text in texts)


def test_regions_that_are_written_anew_are_the_same():
    u, v, q, r = (sp.Function(name)(x, y) for name in "uvqr")
    s, w = (sp.Function(name)(x, y) for name in "sw")
    equations = {}
    for low, (f, a, b) in enumerate(((u, q, s), (v, r, w))):
        system = a + f.diff(x), b + f.diff(y), a.diff(x) + b.diff(y)
        for number, expression in enumerate(system):
            part = Box({x: (low, low + 1), y: (0, 1)})
            equations[f"{f.func}{number}"] = kp.Equation(expression, on=part)
    conditions = {
        "left": kp.Condition(u - 1, on={x: 0}),
        "right": kp.Condition(v, on={x: 2}),
        "walls": kp.Condition(s, on=[{y: 0}, {y: 1}], where=x < 1),
        "walls2": kp.Condition(w, on=[{y: 0}, {y: 1}], where=x > 1),
        "meet": kp.Condition(u - v, on={x: 1}),
    }
    texts = warnings_of(Box({x: (0, 2), y: (0, 1)}), equations, conditions)
    assert any("need 2" in text for text in texts)


def test_cauchy_data_of_both_sides_need_no_condition_between():
    domain, equations, conditions = wall([1], t)
    a, _, c = (sp.Function(name)(x, t) for name in "abc")
    conditions |= {
        "in": kp.Condition([a - 1, a.diff(x)], on={x: 0}),
        "out": kp.Condition([c - 1, c.diff(x)], on={x: 0.4}),
    }
    texts = warnings_of(domain, equations, conditions)
    assert not any("interface" in text for text in texts)
