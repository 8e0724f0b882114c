"""Settings for all tests."""

import gc
import importlib
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# A deadline for each example measures how busy the machine is; pytest-timeout stops what hangs.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")


def pytest_collection_finish():
    """Thousands of collected tests stay: no garbage collection need walk over them again."""
    gc.freeze()


_BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def _benchmark(name):
    """A module that lies among the benchmarks and not on the import path."""
    sys.path.insert(0, str(_BENCHMARKS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(_BENCHMARKS))


@pytest.fixture(scope="session")
def damage():
    """What damages documents."""
    return _benchmark("hostile_documents")


@pytest.fixture(scope="session")
def fuzz():
    """Hostile input for everything."""
    return _benchmark("fuzz")


@pytest.fixture(scope="session")
def invariance():
    """Changes that should not matter."""
    return _benchmark("bench_invariance")
