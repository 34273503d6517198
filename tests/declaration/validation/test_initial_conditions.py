"""Detection of missing initial conditions, by the equations' order in time."""

import warnings

import pytest
import sympy as sp

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
SQUARE = kp.geometry.Box({X: (0, 1), Y: (0, 1)}, time={T: (0, 2)})
ROD = kp.geometry.Box({X: (0, 1)}, time={T: (0, 2)})
TIME = kp.geometry.Box(time={T: (0, 2)})
U, V, P = (sp.Function(name)(X, Y, T) for name in "uvp")
Q, R = (sp.Function(name)(X, T) for name in "qr")
A, B = (sp.Function(name)(T) for name in "ab")
WALLS, ENDS = kp.Condition(U, on="boundary"), kp.Condition(Q, on="boundary")
WAVE = U.diff(T, 2) - U.diff(X, 2) - U.diff(Y, 2)
HEAT = U.diff(T) - U.diff(X, 2) - U.diff(Y, 2)
PENDULUM = A.diff(T, 2) + sp.sin(A)


def on(moment, *equations, **options):
    return kp.Condition(list(equations), on=moment, **options)


def start(*equations, **options):
    return on("initial", *equations, **options)


def warned(domain, equations, *conditions):
    equations = equations if isinstance(equations, list) else [equations]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        problem = kp.Problem(
            domain,
            {f"e{k}": equation for k, equation in enumerate(equations)},
            {f"c{k}": condition for k, condition in enumerate(conditions)},
        )
    text = " ".join(str(warning.message) for warning in caught)
    assert bool(problem.underdetermined) == ("missing" in text)
    return text


def flow(*equations):
    velocities = ((U, P.diff(X)), (V, P.diff(Y)))
    momentum = [
        velocity.diff(T)
        + U * velocity.diff(X)
        + slope
        - velocity.diff(X, 2)
        - velocity.diff(Y, 2)
        for velocity, slope in velocities
    ]
    return [*momentum, U.diff(X) + V.diff(Y)]


C, D, L, M = (sp.Function(name)(T) for name in "cdlm")


def chain():
    """Return a double pendulum in Cartesian coordinates, a system of order four."""
    return [
        A.diff(T, 2) + L * A - M * (C - A),
        B.diff(T, 2) + L * B - M * (D - B) + 9.81,
        A**2 + B**2 - 1,
        C.diff(T, 2) + M * (C - A),
        D.diff(T, 2) + M * (D - B) + 9.81,
        (C - A) ** 2 + (D - B) ** 2 - 1,
    ]


@pytest.mark.parametrize(
    ("domain", "equations", "conditions", "order"),
    [
        (SQUARE, HEAT, [WALLS], 1),
        (SQUARE, WAVE, [WALLS, start(U - X * Y)], 2),
        (SQUARE, WAVE + U**3, [WALLS, start(U - X * Y, hard=True)], 2),
        (ROD, Q.diff(T) + Q * Q.diff(X) - Q.diff(X, 2), [ENDS], 1),
        (ROD, [Q.diff(T) - R, R.diff(T) - Q.diff(X, 2)], [ENDS, start(Q - X)], 2),
        (ROD, Q.diff(T) - Q**2, [on("interior", Q.diff(X))], 1),
        (TIME, PENDULUM, [start(A - 1)], 2),
        (TIME, [A.diff(T) - A * B, B.diff(T) + A * B], [start(A - 1)], 2),
        (SQUARE, flow(), [kp.Condition([U, V, P], on="boundary")], 1),
        (TIME, [(A - B) * A.diff(T) - 1, B.diff(T) - A], [start(B)], 2),
        (TIME, A.diff(T, 2) - kp.Parameter("k", 1.0) * A, [start(A), on({T: 1}, A)], 2),
    ],
)
def test_a_missing_initial_condition_warns(domain, equations, conditions, order):
    text = warned(domain, equations, *conditions)
    assert f"order {order} in t" in text and '"initial"' in text


@pytest.mark.parametrize(
    ("domain", "equations", "conditions"),
    [
        (SQUARE, HEAT, [WALLS, start(U - X * Y)]),
        (SQUARE, HEAT, [WALLS, on({T: 2}, U - X * Y)]),  # backwards
        (SQUARE, WAVE, [WALLS, start(U - X, U.diff(T), hard=True)]),
        (SQUARE, WAVE, [WALLS, start(U - X), on({T: 2}, U)]),
        (ROD, Q.diff(X, T) - Q, [start(Q - 1), kp.Condition(Q - 1, on={X: 0})]),
        (ROD, [Q.diff(T) - R, R.diff(T) - Q.diff(X, 2)], [ENDS, start(Q, R)]),
        (ROD, Q.diff(X, 2) + T, [ENDS]),  # a steady state at each moment
        (TIME, PENDULUM, [start(A - 1), on({T: 1}, A)]),
        (TIME, PENDULUM, [kp.Data([[0.5], [1.0]], {A: [1.0, 0.5]})]),
        (TIME, [A.diff(T) - B, A + B - 1], [start(A - 1)]),  # B is algebraic
        (TIME, T * A.diff(T, 2) + 2 * A.diff(T) + T * A**3, [start(A - 1)]),  # smooth
        (TIME, A.diff(T, 2) - 1 + 0 * A, [start(A), kp.Condition(kp.integral(A) - 1)]),
        (ROD, Q.diff(T) - Q**2, [on("interior", Q - X, where=T < 1)]),
        (TIME, chain(), [start(A - 1, B.diff(T), C - 2, D.diff(T))]),
        (
            SQUARE,
            flow(),
            [kp.Condition([U, V, P], on="boundary"), start(U, V)],
        ),
    ],
)
def test_sufficient_initial_conditions_do_not_warn(domain, equations, conditions):
    assert warned(domain, equations, *conditions) == ""


@pytest.mark.parametrize(
    ("domain", "equations", "conditions", "wanted"),
    [
        (SQUARE, HEAT, [WALLS], "[u - ...]"),
        (SQUARE, WAVE, [WALLS, start(U - X)], "[u_t - ...]"),
        (TIME, [A.diff(T) - A * B, B.diff(T) + A * B], [start(A - 1)], "[b - ...]"),
    ],
)
def test_the_missing_initial_value_is_named(domain, equations, conditions, wanted):
    assert f"keraspinn.Condition({wanted}, on=" in warned(
        domain, equations, *conditions
    )


def test_an_initial_condition_in_a_part_of_the_domain_is_missing_elsewhere():
    half, wave = X < 0.5, Q.diff(T, 2) - Q.diff(X, 2)
    heat = Q.diff(T) - Q.diff(X, 2)
    words = warned(ROD, heat, ENDS, start(Q, where=half))
    assert "missing on 50% of t = 0" in words
    assert "missing on 50% of t = 0" in warned(
        SQUARE, HEAT, WALLS, start(U, where=half)
    )
    speed = start(Q.diff(T), where=half)
    assert "missing on 50% of t = 0" in warned(ROD, wave, ENDS, start(Q), speed)
    halves = start(Q, where=half), start(Q - 1, where=X >= 0.5)
    assert not warned(ROD, heat, ENDS, *halves)
    assert not warned(ROD, heat, ENDS, on({T: 2}, Q), on({X: 0.5, T: 0}, Q))


def test_a_boundary_condition_at_some_times_is_missing_at_others():
    heat, first = Q.diff(T) - Q.diff(X, 2), T < 0.5
    early, right = on({X: 0}, Q, where=first), on({X: 1}, Q)
    assert "missing on 75% of x = 0" in warned(ROD, heat, start(Q), early, right)
    later = on({X: 0}, Q.diff(X), where=T >= 0.5)
    assert not warned(ROD, heat, start(Q), early, later, right)
