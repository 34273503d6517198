"""Writer of the reference flows of `keraspinn.problems`.

python -m examples.cavity_solver.store
"""

import numpy as np

from examples.cavity_solver import lid_driven_cavity
from keraspinn.problems.cavity_reference import CORNER, PATH, SIDE

REYNOLDS = (100, 400, 1000)
# Number of cells a side of the solver's grid.
CELLS = 256
# Largest magnitude of the 16-bit integers in the file.
LARGEST = 32_000


def stored(flow):
    """Return u, v and p of a flow as integers, `(3, SIDE, SIDE)`, and their units."""
    side = np.linspace(0, 1, SIDE)
    x, y = (c.ravel() for c in np.meshgrid(side, side, indexing="ij"))
    values = flow.at(np.stack([x, y], axis=-1))
    is_corner = np.hypot(np.minimum(x, 1 - x), 1 - y) < CORNER
    pressure = np.where(is_corner, 0.0, values["pressure"])
    fields = np.stack([values["u"], values["v"], pressure]).reshape(3, SIDE, SIDE)
    units = np.abs(fields).max(axis=(1, 2)) / LARGEST
    return np.round(fields / units[:, None, None]).astype("int16"), units


def main():
    pairs = [stored(lid_driven_cavity(reynolds, CELLS)) for reynolds in REYNOLDS]
    flows, scales = zip(*pairs, strict=True)
    # Differences wrap around in 16 bits, and so do the sums that invert them.
    changes = np.diff(np.diff(flows, axis=-1, prepend=0), axis=-2, prepend=0)
    changes = changes.astype("int16")
    np.savez_compressed(PATH, reynolds=REYNOLDS, flows=changes, scales=scales)


if __name__ == "__main__":
    main()
