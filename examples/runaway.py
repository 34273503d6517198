"""Compare two rules for a loss weight λ, without a network.

python examples/runaway.py --figure docs/theory/runaway.png

Two quadratic losses in fifty parameters, Σ a_k (θ_k − p_k)² and Σ b_k (θ_k − q_k)², are
descended to a stationary point of L_r + λ L between two updates of λ.
"""

import argparse

import numpy as np

rng = np.random.default_rng(0)
a, b = 10 ** rng.uniform(-1, 1, (2, 50))
p, q = rng.normal(size=(2, 50))


def weights(rule, alpha, updates=40):
    """λ after each update, starting with 1."""
    found = [1.0]
    for _ in range(updates):
        weight = found[-1]
        theta = (a * p + weight * b * q) / (a + weight * b)
        residual, condition = 2 * a * (theta - p), 2 * b * (theta - q)
        estimate = abs(residual).max() / abs(condition).mean()
        if rule == "weighted":
            estimate /= weight
        found.append((1 - alpha) * weight + alpha * estimate)
    return np.array(found)


def figure():
    """λ by the two rules, for two values of α."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(6, 3.5), layout="constrained")
    axes = drawn.subplots()
    for rule, style in (("literal", "--"), ("weighted", "-")):
        for alpha in (0.1, 0.9):
            label = f"{rule}, α = {alpha}"
            axes.semilogy(weights(rule, alpha), style, label=label)
    axes.set(xlabel="updates", ylabel="λ", ylim=(0.5, 1e8))
    axes.legend()
    return drawn


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", help="file to draw it to")
    given = parser.parse_args()
    for rule in ("literal", "weighted"):
        for alpha in (0.1, 0.9):
            print(f"{rule}, α = {alpha}: λ after 40 updates", weights(rule, alpha)[-1])
    if given.figure:
        figure().savefig(given.figure, dpi=110)
