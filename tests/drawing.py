"""Random points on a part of a domain, and a test of uniformity."""

import numpy as np
from scipy import stats


def drawn(domain, part, count=20_000, seed=0):
    uniform = np.random.default_rng(seed).random((count, domain.draws(part)))
    return domain.sample(part, uniform)


def uniform_in(values, start, end):
    return stats.kstest(values, "uniform", (start, end - start)).pvalue > 1e-3
