"""Settings for all tests."""

import gc
import importlib
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from mixoracle.errors import MissingDependencyError

# A deadline for each example measures how busy the machine is; pytest-timeout stops what hangs.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")


def pytest_collection_finish():
    """Thousands of collected tests stay: no garbage collection need walk over them again."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Without pyAgrum (see constraints-lowest.txt), tests that ask for it are skipped."""
    try:
        return (yield)
    except MissingDependencyError as error:
        if importlib.util.find_spec("pyagrum") is None and "pyAgrum" in str(error):
            pytest.skip(str(error))
        raise


@pytest.fixture(scope="session")
def no_latents():
    """A model of two measurements without any cause."""
    from mixoracle import CPDAG, JointTable, LatentModel
    from mixoracle.families.gaussian import GaussianComponents

    return LatentModel(
        observed_names=["X1", "X2"],
        latent_names=[],
        bipartite=np.zeros((2, 0)),
        domain_sizes=(),
        joint=JointTable(np.array(1.0)),
        latent_graph=CPDAG(0),
        components=[GaussianComponents(np.zeros((1, 1)), np.ones((1, 1, 1)))] * 2,
    )


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
