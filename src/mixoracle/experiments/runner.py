"""Runs a study: each run once, here or on other processes or machines, one line each.

Runs are handed out by number, and their results appended as they come in, by this process alone.
Whatever interrupts it, a second call does the runs that have no line yet, and no other: the file
ends up with the same lines, in another order and with other timings.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from mixoracle._checks import n_workers
from mixoracle.errors import InvalidInputError, MissingDependencyError, MixoracleError
from mixoracle.experiments.results import Result, open_results
from mixoracle.experiments.studies import Study
from mixoracle.experiments.trial import perform

logger = logging.getLogger(__name__)

# How long to wait for a scheduler that does not answer, in seconds.
_CONNECT_TIMEOUT = 10


def run_study(
    study: Study,
    folder: Path,
    *,
    jobs: int = 1,
    dask: str | None = None,
    on_start: Callable[[int, int], None] = lambda _done, _total: None,
    on_result: Callable[[Result], None] = lambda _result: None,
) -> int:
    """Do what is missing of a study in ``folder``, and return how many runs that was.

    The folder is made if need be, and continued if it holds the same study. ``jobs`` processes
    share the runs, as joblib counts them, or the workers of the Dask scheduler at ``dask``.
    ``on_start`` is called with how many runs are done already and how many there are, and
    ``on_result`` with each result after it is on the disk.
    """
    from joblib import Parallel, delayed

    if jobs == 0:
        raise InvalidInputError("jobs should be a number of processes, or -1 for all cores; got 0")
    with open_results(folder, study) as file:
        missing = file.missing
        on_start(study.n_runs - len(missing), study.n_runs)
        if not missing:
            return 0
        with workers(jobs, dask) as options:
            # One run a batch: a result is worth more on the disk than a saved message.
            parallel = Parallel(**options, batch_size=1, return_as="generator_unordered")
            results = parallel(delayed(perform)(study.task(number)) for number in missing)
            try:
                for result in results:
                    file.append(result)
                    on_result(result)
            except BrokenProcessPool as error:
                raise MixoracleError(
                    "a worker process was ended from outside, perhaps for want of memory; the "
                    "same command continues the study, fewer --jobs need less memory"
                ) from error
    return len(missing)


@contextmanager
def workers(jobs: int, dask: str | None) -> Iterator[dict[str, Any]]:
    """The settings of joblib, while the workers it needs are there."""
    if dask is None:
        yield {"n_jobs": n_workers(jobs)}
        return
    from joblib import parallel_config

    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise MissingDependencyError(
            "a Dask cluster needs the extra: pip install 'mixoracle[dask]'"
        ) from error
    try:
        client = distributed.Client(dask, timeout=_CONNECT_TIMEOUT)
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"no Dask scheduler answers at {dask!r} ({error}); "
            "start one with 'dask scheduler', and workers with 'dask worker ADDRESS'"
        ) from error
    with client, parallel_config(backend="dask"):
        logger.info("running on %s", client)
        yield {}
