"""Several trainings at a time, each in a process on a core of its own."""

import concurrent.futures
import multiprocessing
import os

import keras

from keraspinn.reproduce.training import train

TRAININGS_PER_PROCESS = 8
"""A process keeps the programs it compiled, some 60 MB a training."""

AVAILABLE = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
"""Cores that this process may run on, where the system tells."""

_cores = None


def run(missing, results, workers):
    """Train what is missing, and keep each record as soon as it is there.

    A training that fails is told of, and does not keep others from being trained.
    """
    bar = keras.utils.Progbar(len(missing), unit_name="training")
    context = multiprocessing.get_context("spawn")
    cores = context.Queue()
    for core in range(workers):
        cores.put(core)
    pool = concurrent.futures.ProcessPoolExecutor(
        workers,
        mp_context=context,
        initializer=_keep,
        initargs=(cores,),
        max_tasks_per_child=TRAININGS_PER_PROCESS,
    )
    with pool:
        futures = {pool.submit(_trained, training): training for training in missing}
        try:
            bar.update(0)
            for done, future in enumerate(
                concurrent.futures.as_completed(futures), start=1
            ):
                training = futures[future]
                if failure := future.exception():
                    outcome = f"{type(failure).__name__}: {failure}"
                else:
                    results.append(future.result())
                    outcome = future.result()["errors"]
                print(
                    f"\n{training.problem} {training.model} "
                    f"{training.units}x{training.depth} seed {training.seed}: "
                    f"{outcome}",
                    flush=True,
                )
                bar.update(done)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _keep(cores):
    global _cores
    _cores = cores


def _trained(training):
    """The record of a training on a core of its own: two that share two are slower."""
    core = _cores.get()
    try:
        if AVAILABLE:
            os.sched_setaffinity(0, {AVAILABLE[core % len(AVAILABLE)]})
        return train(training)
    finally:
        _cores.put(core)
