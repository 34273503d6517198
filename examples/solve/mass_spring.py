"""Stiffness and damping of a mass on a spring, from measurements of its motion."""

import pathlib

import numpy as np
import sympy as sp

import keraspinn as kp

table = pathlib.Path(__file__).parents[1] / "gallery" / "mass_spring.csv"
times, measured = np.loadtxt(table, delimiter=",", skiprows=1).T  # s, m
t = sp.Symbol("t")
q = sp.Function("q")(t)
k, d = kp.Parameter("k", initial=30.0), kp.Parameter("d", initial=1.0)  # N/m, N s/m
motion = sp.Eq(2.0 * q.diff(t, 2) + d * q.diff(t) + k * q, 0)  # 2 kg
released = kp.Condition([sp.Eq(q, 0.05), q.diff(t)], on="initial")
conditions = {"released": released, "sensor": kp.Data(times[:, None], {q: measured})}
problem = kp.Problem(kp.geometry.Box(time={t: (0, 5)}), {"motion": motion}, conditions)
solution = kp.solve(problem, tolerance=2e-2, max_time=300)
