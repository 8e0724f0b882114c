"""Arrays that are made and dropped again and again pay for their pages once."""

import os
import subprocess
import sys

import pytest

from mixoracle._memory import _glibc, freed_memory_kept

_PROGRAM = """
import resource
import numpy as np
from mixoracle._memory import freed_memory_kept

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(250_000)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

first = faults()
with freed_memory_kept():
    within = faults()
print(first, within, faults())
"""
# Of an array of 2 MB, in pages of 4 kB.
_PAGES = 488

glibc_only = pytest.mark.skipif(_glibc() is None, reason="another C library")


def faults(**environment):
    env = {name: held for name, held in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env=env | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(count) / (100 * _PAGES) for count in done.stdout.split()]


@glibc_only
def test_where_nobody_says_otherwise_freed_memory_stays_from_then_on():
    _, within, after = faults()
    assert within < 0.1
    assert after < 0.1


@glibc_only
@pytest.mark.parametrize("mapped", [{}, {"MALLOC_MMAP_THRESHOLD_": "262144"}])
def test_what_the_environment_asks_for_holds_again_afterwards(mapped):
    """As the workers of Dask are started."""
    before, within, after = faults(MALLOC_TRIM_THRESHOLD_="65536", **mapped)
    assert before > 0.9
    assert within < 0.1
    assert after > 0.9


def test_an_error_within_leaves_as_it_came(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    with pytest.raises(KeyError), freed_memory_kept():
        raise KeyError("any")
