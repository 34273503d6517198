"""Time the Hessian's largest eigenvalue, and all of them, for Helmholtz networks.

python examples/benchmarks/hessian.py --spectrum
"""

import argparse
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


if __name__ == "__main__":
    main()
