"""Times of the diagnostics for Helmholtz networks.

python examples/benchmarks/diagnostics.py --spectrum --histograms
"""

import argparse
import statistics
import time

import keras

import keraspinn as kp

NETWORKS = {"M1": kp.networks.MLP, "M3": kp.networks.ModifiedMLP}


def model(name, units, depth):
    keras.utils.set_random_seed(0)
    return kp.PINNModel(kp.problems.helmholtz(), NETWORKS[name](units, depth), seed=0)


def timed(function, *arguments, **keywords):
    began = time.perf_counter()
    function(*arguments, **keywords)
    return time.perf_counter() - began


class TimedHistogram(kp.callbacks.GradientHistogram):
    """`GradientHistogram` that records the times of its calls."""

    def __init__(self):
        super().__init__()
        self.seconds = []

    def set_model(self, model):
        self.seconds.append(timed(super().set_model, model))

    def on_epoch_end(self, epoch, logs=None):
        self.seconds.append(timed(super().on_epoch_end, epoch, logs))


def histograms(name, units, depth, steps):
    """Print the share of `GradientHistogram` in the time of an annealed training."""
    trained = model(name, units, depth)
    trained.compile(keras.optimizers.Adam())
    watch = TimedHistogram()
    callbacks = [kp.callbacks.LearningRateAnnealing(), watch]
    per_epoch = min(1000, steps)
    seconds = timed(
        trained.fit,
        steps_per_epoch=per_epoch,
        epochs=steps // per_epoch,
        callbacks=callbacks,
        verbose=0,
    )
    spent, (made, first, *others) = sum(watch.seconds), watch.seconds
    print(
        f"{name} annealed, {units} × {depth}, {steps} steps: {len(others) + 1} "
        f"measurements in {spent:.2f} s of {seconds:.1f} s, "
        f"{100 * spent / seconds:.1f} %: "
        f"the first {made + first:.2f} s, the others a median of "
        f"{1000 * statistics.median(others or [first]):.1f} ms"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--units", type=int, default=50, help="units a layer")
    parser.add_argument("--depth", type=int, default=5, help="hidden layers")
    parser.add_argument(
        "--spectrum",
        action="store_true",
        help="every eigenvalue of both terms as well, of a plain network of 3 layers",
    )
    parser.add_argument(
        "--histograms",
        action="store_true",
        help="what GradientHistogram takes of an annealed training as well",
    )
    parser.add_argument("--steps", type=int, default=40_000, help="of that training")
    options = parser.parse_args()
    for name in NETWORKS:
        network = model(name, options.units, options.depth)
        seconds = timed(kp.diagnostics.hessian_eigenvalues, network)
        print(
            f"{name}, {options.units} × {options.depth}, "
            f"{network.network.count_params()} parameters: λ_max in {seconds:.1f} s"
        )
    if options.spectrum:
        network = model("M1", options.units, 3)
        seconds = timed(kp.diagnostics.hessian_spectrum, network, verbose=0)
        print(
            f"M1, {options.units} × 3, {network.network.count_params()} parameters: "
            f"both terms' spectra in {seconds:.0f} s"
        )
    if options.histograms:
        for name in NETWORKS:
            histograms(name, options.units, options.depth, options.steps)


if __name__ == "__main__":
    main()
