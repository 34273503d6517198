"""Parallel trainings, in processes with separate cores."""

import concurrent.futures
import dataclasses
import multiprocessing
import os

import keras

from examples.reproduction.training import train, train_together

# Number of trainings after which processes are replaced. They keep all programs that
# they compile, 60 MB a training.
TRAININGS_PER_PROCESS = 8

# Cores that this process may use, empty if the system does not list them.
AVAILABLE = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []

_shares = None


def run(missing, results, workers, together=False):
    """Run the missing trainings, and store each record as soon as its training ends.

    If a training fails, its error is printed and the others still run.

    Args:
        missing: List of trainings.
        results: The `Results` that keep their records.
        workers: Number of processes.
        together: Whether to train those that differ only in the seed as an ensemble.

    Returns:
        Number of trainings that failed.
    """
    bar = keras.utils.Progbar(len(missing), unit_name="training")
    done = failures = 0
    tasks = trials(missing) if together else [(training,) for training in missing]
    # With `max_tasks_per_child`, Python's executor can hang.
    many = workers * TRAININGS_PER_PROCESS
    for first in range(0, len(tasks), many):
        for trainings, outcome in _run(tasks[first : first + many], workers):
            if isinstance(outcome, Exception):
                outcome = [outcome] * len(trainings)
            for training, record in zip(trainings, outcome, strict=True):
                if isinstance(record, Exception):
                    message = f"{type(record).__name__}: {record}"
                    failures += 1
                else:
                    results.append(record)
                    message = record["errors"]
                name = f"{training.problem} {training.model}"
                size = f"{training.units}x{training.depth} seed {training.seed}"
                print(f"\n{name} {size}: {message}", flush=True)
            done += len(trainings)
            bar.update(done)
    return failures


def trials(trainings):
    """Group trainings that differ only in their seeds, which are consecutive.

    Trainings with eigenvalues of the Hessian or with a second stage are separate.
    """
    tasks = {}
    for training in sorted(trainings, key=lambda training: training.seed):
        group = dataclasses.replace(training, seed=0), training.seed
        alone = training.hessian_every or training.second_steps
        earlier = None if alone else tasks.pop(group, None)
        tasks[group[0], training.seed + 1] = (*(earlier or ()), training)
    return list(tasks.values())


def _run(trainings, workers):
    """Yield tuples of trainings with their records, or with the error of one."""
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
            # Otherwise each worker would finish its training and one in the queue.
            for worker in multiprocessing.active_children():
                worker.terminate()
            raise


def shares(cores, workers):
    """Divide the cores among workers; each has at least one, which others may share."""
    return [
        cores[k::workers] or cores[k % max(1, len(cores)) :][:1] for k in range(workers)
    ]


def _keep(queue):
    global _shares
    _shares = queue


def _trained(trainings):
    """Return records of trainings on cores that no other worker uses.

    Two trainings that share two cores are slower.
    """
    share = _shares.get()
    try:
        if share:
            os.sched_setaffinity(0, share)
        return [train(*trainings)] if len(trainings) == 1 else train_together(trainings)
    finally:
        _shares.put(share)
