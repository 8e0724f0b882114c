"""A small part of ``benchmarks/bench_invariance.py``: the answer stays the same, up to names."""

import numpy as np
import pytest

# Processes and threads are the benchmark's, and test_seeds.py's.
CHANGES = (
    *("order of rows", "order of columns", "order of variables", "shift", "scale"),
    *("a constant more", "noise more", "every row twice"),
)


@pytest.fixture(scope="module")
def blocks(invariance):
    return invariance.problem(0, 300)


@pytest.fixture(scope="module")
def before(invariance, blocks):
    return invariance.learned(blocks)


@pytest.mark.parametrize("change", CHANGES)
def test_the_answer_stays_the_same(invariance, blocks, before, change):
    after = invariance.CHANGES[change](blocks, np.random.default_rng(1))
    assert after.structure == before.structure
    assert after.states == before.states
