"""Arrays that are made and dropped again and again pay for their pages once."""

import os
import subprocess
import sys

import pytest

from mixoracle._memory import _glibc

_BEGIN = """
import resource, threading
import numpy as np
from mixoracle._memory import freed_memory_kept

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(250_000)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
# Of an array of 2 MB, in pages of 4 kB.
_PAGES = 488
_AS_DASK = {"MALLOC_TRIM_THRESHOLD_": "65536"}

pytestmark = pytest.mark.skipif(_glibc() is None, reason="another C library")


def faults(program, **environment):
    """Whether the pages of arrays were fresh ones, each time that the program asks."""
    env = {name: held for name, held in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, "-c", _BEGIN + program],
        env=env | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    shares = [int(count) / (100 * _PAGES) for count in done.stdout.split()]
    assert all(share < 0.1 or share > 0.9 for share in shares)
    return [share > 0.9 for share in shares]


_WITHIN = """
faults()
with freed_memory_kept():
    faults()
faults()
"""


def test_where_nobody_says_otherwise_freed_memory_stays_from_then_on():
    assert faults(_WITHIN)[1:] == [False, False]


@pytest.mark.parametrize("mapped", [{}, {"MALLOC_MMAP_THRESHOLD_": "262144"}])
def test_what_the_environment_asks_for_holds_again_afterwards(mapped):
    assert faults(_WITHIN, **_AS_DASK, **mapped) == [True, False, True]


@pytest.mark.parametrize("limit", ["4294967296", "99999999999999999999", "268435456"])
def test_who_wants_to_keep_more_does_so_afterwards(limit):
    usual = {"MALLOC_MMAP_THRESHOLD_": "33554432"}
    assert faults(_WITHIN, MALLOC_TRIM_THRESHOLD_=limit, **usual) == [False, False, False]


def test_after_an_error_it_is_as_before():
    program = """
try:
    with freed_memory_kept():
        raise KeyError
except KeyError:
    faults()
"""
    assert faults(program, **_AS_DASK) == [True]


def test_the_last_of_several_puts_it_back():
    program = """
with freed_memory_kept():
    with freed_memory_kept():
        pass
    faults()
    held = freed_memory_kept()
    other = threading.Thread(target=held.__enter__)
    other.start()
    other.join()
faults()
"""
    assert faults(program, **_AS_DASK) == [False, False]


def test_a_fit_keeps_it():
    program = """
from mixoracle import LatentGraphLearner
rows = {"a": np.zeros((20, 1)), "b": np.arange(20.0)[:, None]}
LatentGraphLearner(progress=lambda told: faults()).fit(rows)
"""
    assert not any(faults(program, **_AS_DASK))
