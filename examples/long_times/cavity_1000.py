"""Lid-driven cavity at Re = 1000."""

from examples.long_times.cavity import case

CASE = case([100, 400, 1000], 2e-2)
