"""Published results for the lid-driven cavity, with which solvers are compared.

Quantities are nondimensional. The lid `y = 1` moves to the right with speed 1. A
profile is a pair of arrays: coordinate along the centreline, and value.

Reference:
    U. Ghia, K. N. Ghia, C. T. Shin, *High-Re solutions for incompressible flow using
    the Navier-Stokes equations and a multigrid method*, J. Comput. Phys. 48 (1982).
    O. Botella, R. Peyret, *Benchmark spectral results on the lid-driven cavity flow*,
    Comput. Fluids 27 (1998).
"""

import numpy as np


def _profile(steps, values_at_index):
    index, values = zip(*values_at_index.items(), strict=True)
    return np.array(index) / steps, np.array(values)


# Spectral results: value of an extremum on its centreline, and its y or x.
EXTREMA_RE100 = {
    "u_min": (-0.21404, 0.4581),
    "v_max": (0.17957, 0.2370),
    "v_min": (-0.25380, 0.8104),
}

# Ghia et al. on 129 x 129 nodes.
GHIA_U_RE100 = _profile(
    128,
    {
        0: 0.0,
        7: -0.03717,
        8: -0.04192,
        9: -0.04775,
        13: -0.06434,
        22: -0.10150,
        36: -0.15662,
        58: -0.21090,
        64: -0.20581,
        79: -0.13641,
        94: 0.00332,
        109: 0.23151,
        122: 0.68717,
        123: 0.73722,
        124: 0.78871,
        125: 0.84123,
        128: 1.0,
    },
)
GHIA_V_RE100 = _profile(
    128,
    {
        0: 0.0,
        8: 0.09233,
        9: 0.10091,
        10: 0.10890,
        12: 0.12317,
        20: 0.16077,
        29: 0.17507,
        30: 0.17527,
        64: 0.05454,
        103: -0.24533,
        110: -0.22445,
        116: -0.16914,
        121: -0.10313,
        122: -0.08864,
        123: -0.07391,
        124: -0.05906,
        128: 0.0,
    },
)
# Largest differences of these tables from later spectral results.
GHIA_ACCURACY = {"u": 0.006, "v": 0.010}

# Botella and Peyret's pressure at Re = 1000, zero at the centre.
PRESSURE_ON_X_HALF_RE1000 = _profile(
    128,
    {
        0: 0.110591,
        7: 0.109689,
        8: 0.109200,
        9: 0.108566,
        13: 0.104187,
        22: 0.081925,
        36: 0.040377,
        58: 0.004434,
        64: 0.0,
        79: -0.000827,
        94: 0.012122,
        109: 0.034910,
        122: 0.050329,
        123: 0.050949,
        124: 0.051514,
        125: 0.052009,
        128: 0.052987,
    },
)
PRESSURE_ON_Y_HALF_RE1000 = _profile(
    128,
    {
        0: 0.090477,
        8: 0.088445,
        9: 0.087653,
        10: 0.086716,
        12: 0.084386,
        20: 0.069511,
        29: 0.047260,
        30: 0.044848,
        64: 0.0,
        103: 0.034552,
        110: 0.049029,
        116: 0.065816,
        121: 0.077154,
        122: 0.078148,
        123: 0.078685,
        124: 0.078837,
        128: 0.077455,
    },
)
