"""Causes that are seen only within the states of one that drives everything."""

import numpy as np
import pytest

from mixoracle.decoding import decode
from mixoracle.decoding.completion import complete
from mixoracle.decoding.decoding import improved
from mixoracle.decoding.explanation import Proposal
from mixoracle.decoding.within import within_states
from mixoracle.labels.association import Association
from mixoracle.model.joint_states import distinct_rows
from mixoracle.settings import Settings

# An outer cause of 3 states drives all six; of the two inner ones the first drives X1 and X2 (4
# states), the second X3 and X4 (3 states).
PARENTS = ((0, 1), (0, 1), (0, 2), (0, 2), (0,), (0,))
SIZES = (3, 4, 3)


def table(seed, n_rows=2_000):
    """Label tuples of rows; which label a configuration has is drawn, and 2 % are any."""
    rng = np.random.default_rng(seed)
    states = np.stack([rng.integers(size, size=n_rows) for size in SIZES], axis=1)
    labels = np.empty((n_rows, len(PARENTS)), dtype=np.int64)
    for i, parents in enumerate(PARENTS):
        sizes = [SIZES[j] for j in parents]
        code = np.ravel_multi_index(states[:, list(parents)].T, sizes)
        labels[:, i] = rng.permutation(int(np.prod(sizes)))[code]
        strays = rng.random(n_rows) < 0.02
        labels[strays, i] = rng.permutation(labels[strays, i])
    tuples, member, _ = distinct_rows(states)
    seen = [np.ravel_multi_index(tuples[:, list(p)].T, [SIZES[j] for j in p]) for p in PARENTS]
    return Association.of_labels(labels).table(np.stack(seen, axis=1), member), tuples


def best(table, settings):
    return decode(table, settings)[0]


@pytest.mark.parametrize("seed", range(2))
def test_inner_causes_are_found_from_the_outer_one(seed):
    held, tuples = table(seed)
    outer = complete(held, Proposal.of_all(tuples[:, :1]))
    found = within_states(held, [outer], best)
    right = max(found, key=lambda explanation: explanation.log_evidence)
    assert sorted(right.domain_sizes) == [3, 3, 4]
    assert sorted(map(tuple, right.adjacency.T.astype(int).tolist())) == [
        (0, 0, 1, 1, 0, 0),
        (1, 1, 0, 0, 0, 0),
        (1, 1, 1, 1, 1, 1),
    ]
    again = max(improved(held, [outer]), key=lambda explanation: explanation.log_evidence)
    assert again.log_evidence >= right.log_evidence


def test_without_a_cause_that_drives_everything_nothing_is_proposed():
    held, tuples = table(0)
    inner = complete(held, Proposal.of_all(tuples[:, 1:2]))
    assert within_states(held, [inner], best, Settings()) == []
