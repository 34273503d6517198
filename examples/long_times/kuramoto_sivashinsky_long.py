"""Kuramoto–Sivashinsky equation to t = 1."""

from examples.long_times.kuramoto_sivashinsky import case

CASE = case(1, 6e-4, 15, steps=300)
