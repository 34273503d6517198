"""Several trainings at a time, each in a process on a core of its own."""

import concurrent.futures
import multiprocessing
import os
import time

from keraspinn.reproduce.training import train


def run(missing, results, workers):
    """Train what is missing, and keep each record as soon as it is there."""
    began, total = time.perf_counter(), len(missing)
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
            for done, future in enumerate(
                concurrent.futures.as_completed(futures), start=1
            ):
                results.append(future.result())
                elapsed = time.perf_counter() - began
                left = elapsed / done * (total - done)
                training = futures[future]
                print(
                    f"[{done}/{total}] {training.problem} {training.model} "
                    f"{training.units}x{training.depth} seed {training.seed}: "
                    f"{future.result()['errors']}  {left / 60:.0f} min left",
                    flush=True,
                )
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _take_core(cores):
    """Give a worker a core of its own: two trainings that share two are slower."""
    core = cores.get()
    if hasattr(os, "sched_setaffinity"):
        available = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {available[core % len(available)]})
