"""Several trainings at a time, each in a process on a core of its own."""

import concurrent.futures
import multiprocessing
import os

import keras

from keraspinn.reproduce.training import train


def run(missing, results, workers):
    """Train what is missing, and keep each record as soon as it is there."""
    bar = keras.utils.Progbar(len(missing), unit_name="training")
    context = multiprocessing.get_context("spawn")
    cores = context.Queue()
    for core in range(workers):
        cores.put(core)
    pool = concurrent.futures.ProcessPoolExecutor(
        workers, mp_context=context, initializer=_take_core, initargs=(cores,)
    )
    with pool:
        futures = {pool.submit(train, training): training for training in missing}
        try:
            bar.update(0)
            for done, future in enumerate(
                concurrent.futures.as_completed(futures), start=1
            ):
                results.append(future.result())
                training = futures[future]
                print(
                    f"\n{training.problem} {training.model} "
                    f"{training.units}x{training.depth} seed {training.seed}: "
                    f"{future.result()['errors']}",
                    flush=True,
                )
                bar.update(done)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _take_core(cores):
    """Give a worker a core of its own: two trainings that share two are slower."""
    core = cores.get()
    if hasattr(os, "sched_setaffinity"):
        available = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {available[core % len(available)]})
