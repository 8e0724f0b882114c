"""What a fit may take at most, from the number of rows and columns alone.

The work of a fit is bounded (:class:`~mixoracle.settings.Budget`): structure is searched in a
bounded number of rows, every column is looked at a bounded number of times, and all rows are gone
through a bounded number of times. So time and memory have a bound that grows with rows × columns.
The numbers below were measured and made larger; ``benchmarks/bench_cost.py`` holds them against
fits of many kinds.

The bound on time is CPU time. When it is reached, whatever the answer can do without is left out
(:mod:`~mixoracle._clock`). The bound on memory is compared with a limit before any work.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mixoracle._checks import n_workers
from mixoracle.errors import InvalidInputError
from mixoracle.settings import Settings

# Seconds of CPU: of any fit, of a column, of a value that structure is searched in, and of a value.
_SECONDS = 60.0
_SECONDS_A_COLUMN = 4.0
_SECONDS_A_SEARCHED_VALUE = 2e-3
_SECONDS_A_VALUE = 5e-5
# And of a value of a table that does not fit into memory, each time that it is read.
_SECONDS_A_VALUE_READ = 1e-6
# Once for the sample, once to see where EM starts, once for the states; all others are of EM.
_FURTHER_PASSES = 3
# Bytes: of each process with all it loads, and of a value with all that is computed from it.
_MEMORY = 500e6
_MEMORY_A_VALUE = 800.0
_GIGABYTE = 1e9


@dataclass(frozen=True)
class Cost:
    """The most that a fit may take: seconds of one core, and bytes of memory.

    Examples
    --------
    >>> print(Cost(90.0, 7e8))
    at most 1.5 min and 0.7 GB
    """

    seconds: float
    memory: float

    def __str__(self) -> str:
        units = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))
        size, unit = next((each for each in units if self.seconds >= each[0]), (1.0, "s"))
        return f"at most {self.seconds / size:.2g} {unit} and {self.memory / _GIGABYTE:.2g} GB"

    def with_workers(self, n_jobs: int, n_tasks: int) -> Cost:
        """The same with the processes that ``n_jobs`` starts for so many tasks.

        Examples
        --------
        >>> print(Cost(90.0, 7e8).with_workers(2, 10))
        at most 1.5 min and 1.7 GB
        """
        further = 0 if n_jobs == 1 else n_workers(n_jobs, n_tasks)
        return replace(self, memory=self.memory + further * _MEMORY)

    def check_memory(self, limit: float | None) -> None:
        """Refuse a fit that may need more bytes than ``limit``."""
        if limit is None:
            return
        if isinstance(limit, bool | str) or not limit > 0:
            raise InvalidInputError(
                f"memory_limit should be bytes above 0, or None for no limit; got {limit!r}"
            )
        if self.memory > limit:
            raise InvalidInputError(
                f"this fit may need up to {self.memory / _GIGABYTE:.2g} GB, more than the "
                f"memory_limit of {limit / _GIGABYTE:.2g} GB: learn from fewer rows or columns, "
                "give the rows in chunks, or raise the limit"
            )


def cost_of(n_rows: int, n_columns: int, settings: Settings = Settings()) -> Cost:
    """The most that a fit of such a table may take.

    Examples
    --------
    >>> cost_of(2000, 10).seconds < cost_of(4000, 10).seconds < cost_of(4000, 20).seconds
    True
    """
    searched = min(n_rows, settings.budget.search_rows)
    seconds = (
        _SECONDS
        + _SECONDS_A_COLUMN * n_columns
        + _SECONDS_A_SEARCHED_VALUE * searched * n_columns
        + _SECONDS_A_VALUE * n_rows * n_columns
    )
    return Cost(seconds, _MEMORY + _MEMORY_A_VALUE * n_rows * n_columns)


def cost_in_chunks(n_rows: int, n_columns: int, settings: Settings = Settings()) -> Cost:
    """The most that a fit of a table may take that is read chunk by chunk.

    Examples
    --------
    >>> cost_in_chunks(10**9, 10).memory == cost_in_chunks(10**6, 10).memory
    True
    """
    sample = cost_of(min(n_rows, settings.sample_of(n_columns)), n_columns, settings)
    n_read = (settings.budget.passes + _FURTHER_PASSES) * n_rows * n_columns
    return Cost(sample.seconds + _SECONDS_A_VALUE_READ * n_read, sample.memory)
