"""Several trainings at a time, each in a process on cores of its own."""

import concurrent.futures
import dataclasses
import multiprocessing
import os

import keras

from examples.reproduction.training import train, train_together

TRAININGS_PER_PROCESS = 8
"""Then processes begin anew: each keeps the programs it compiled, 60 MB a training."""

AVAILABLE = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
"""Cores that this process may run on, where the system tells."""

_shares = None


def run(missing, results, workers, together=False):
    """Run the missing trainings, and keep each record as soon as it is there.

    A training that fails is told of, and does not keep others from being trained.

    Args:
        missing: Trainings.
        results: The `Results` that keep their records.
        workers: Number of processes.
        together: Whether trainings that differ in the seed alone are one ensemble.

    Returns:
        Number of trainings that failed.
    """
    bar = keras.utils.Progbar(len(missing), unit_name="training")
    done = failures = 0
    tasks = trials(missing) if together else [(training,) for training in missing]
    # Not `max_tasks_per_child`, with which Python's executor can wait for ever.
    many = workers * TRAININGS_PER_PROCESS
    for first in range(0, len(tasks), many):
        for trainings, outcome in _run(tasks[first : first + many], workers):
            if isinstance(outcome, Exception):
                outcome = [outcome] * len(trainings)
            for training, record in zip(trainings, outcome, strict=True):
                if isinstance(record, Exception):
                    told = f"{type(record).__name__}: {record}"
                    failures += 1
                else:
                    results.append(record)
                    told = record["errors"]
                name = f"{training.problem} {training.model}"
                size = f"{training.units}x{training.depth} seed {training.seed}"
                print(f"\n{name} {size}: {told}", flush=True)
            done += len(trainings)
            bar.update(done)
    return failures


def trials(trainings):
    """Tuples of trainings that differ in the seed alone, which counts up by one.

    Eigenvalues of the Hessian are those of a model, and so taken of one alone; and the
    second stage is of a model alone.
    """
    tasks = {}
    for training in sorted(trainings, key=lambda training: training.seed):
        begun = dataclasses.replace(training, seed=0), training.seed
        alone = training.hessian_every or training.second_steps
        earlier = None if alone else tasks.pop(begun, None)
        tasks[begun[0], training.seed + 1] = (*(earlier or ()), training)
    return list(tasks.values())


def _run(trainings, workers):
    """Tuples of trainings with their records, or the error that one ended in."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    for share in shares(AVAILABLE, workers):
        queue.put(share)
    pool = concurrent.futures.ProcessPoolExecutor(
        workers, mp_context=context, initializer=_keep, initargs=(queue,)
    )
    with pool:
        futures = {pool.submit(_trained, training): training for training in trainings}
        try:
            for future in concurrent.futures.as_completed(futures):
                yield futures[future], future.exception() or future.result()
        except (KeyboardInterrupt, GeneratorExit):
            pool.shutdown(wait=False, cancel_futures=True)
            # Or they would train to the end, and one more each that is queued.
            for worker in multiprocessing.active_children():
                worker.terminate()
            raise


def shares(cores, workers):
    """Each worker's cores: all of them in equal parts, or one where they are fewer."""
    return [
        cores[k::workers] or cores[k % max(1, len(cores)) :][:1] for k in range(workers)
    ]


def _keep(queue):
    global _shares
    _shares = queue


def _trained(trainings):
    """Records of trainings on cores of their own: two that share two are slower."""
    share = _shares.get()
    try:
        if share:
            os.sched_setaffinity(0, share)
        return [train(*trainings)] if len(trainings) == 1 else train_together(trainings)
    finally:
        _shares.put(share)
