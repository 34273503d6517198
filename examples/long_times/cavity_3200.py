"""Lid-driven cavity at Re = 3200."""

from examples.long_times.cavity import case

# The last value is trained three times as long.
CASE = case([100, 400, 1000, 1400, 2000, 2500, 3200, 3200, 3200], 5e-2)
