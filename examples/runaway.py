"""Comparison of two rules for a loss weight λ, without a network.

python examples/runaway.py --figure docs/theory/runaway.png

The losses L_r = Σ a_k (θ_k − p_k)² and L = Σ b_k (θ_k − q_k)² are quadratic in fifty
parameters. Before each update of λ, θ moves to the minimum of L_r + λ L.
"""

import argparse

import numpy as np

rng = np.random.default_rng(0)
a, b = 10 ** rng.uniform(-1, 1, (2, 50))
p, q = rng.normal(size=(2, 50))


def weights(rule, alpha, updates=40):
    """Return λ after each update, from an initial value of 1."""
    values = [1.0]
    for _ in range(updates):
        weight = values[-1]
        theta = (a * p + weight * b * q) / (a + weight * b)
        residual, condition = 2 * a * (theta - p), 2 * b * (theta - q)
        estimate = abs(residual).max() / abs(condition).mean()
        if rule == "weighted":
            estimate /= weight
        values.append((1 - alpha) * weight + alpha * estimate)
    return np.array(values)


def figure():
    """Draw λ by the two rules, for two values of α."""
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
    arguments = parser.parse_args()
    for rule in ("literal", "weighted"):
        for alpha in (0.1, 0.9):
            print(f"{rule}, α = {alpha}: λ after 40 updates", weights(rule, alpha)[-1])
    if arguments.figure:
        figure().savefig(arguments.figure, dpi=110)
