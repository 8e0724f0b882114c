import numpy as np
import pytest

from mixoracle.decoding.completion import complete
from mixoracle.decoding.explanation import Proposal
from mixoracle.decoding.impossible import without_impossible
from mixoracle.labels.association import Association
from mixoracle.model.joint_states import distinct_rows
from mixoracle.settings import Priors, Settings

N_ROWS = 1_500


def explained(labels, states):
    """The table of labels (N, n), and the explanation by latents with these states (N, m)."""
    tuples, where, _ = distinct_rows(np.hstack([labels, states]))
    table = Association.of_labels(labels).table(tuples[:, : labels.shape[1]], where)
    return table, complete(table, Proposal.of_all(tuples[:, labels.shape[1] :]))


def seen_as(states, n_labels, n_variables, rng):
    """Labels (N, n) of variables that show one of so many in each state, and any at times."""
    shown = np.stack([rng.permutation(n_labels)[states] for _ in range(n_variables)], axis=1)
    return np.where(rng.random(shown.shape) < 0.02, rng.integers(n_labels, size=shown.shape), shown)


@pytest.mark.parametrize("seed", range(8))
def test_two_latents_that_exclude_each_other_are_one(seed):
    """Three states; twelve variables show one border each, so that evidence prefers two latents."""
    rng = np.random.default_rng(seed)
    state = rng.integers(3, size=N_ROWS)
    borders = np.stack([state > 0, state > 1], axis=1).astype(np.int64)
    parts = [seen_as(state, 3, 5, rng), *(seen_as(b, 2, 6, rng) for b in borders.T)]
    table, two = explained(np.hstack(parts), borders)
    assert two.domain_sizes == (2, 2)
    joined = without_impossible(table, two)
    assert joined.domain_sizes == (3,)
    assert joined.adjacency.all()
    assert joined.log_evidence < two.log_evidence
    assert joined.moves[-1].action == "joined two latents that exclude each other"


@pytest.mark.parametrize("seed", range(8))
def test_latents_of_which_all_combinations_occur_stay_two(seed):
    rng = np.random.default_rng(seed)
    first = rng.integers(2, size=N_ROWS)
    second = np.where(rng.random(N_ROWS) < 0.8, first, 1 - first)
    parts = [seen_as(first, 2, 3, rng), seen_as(second, 2, 3, rng)]
    table, two = explained(np.hstack(parts), np.stack([first, second], axis=1))
    assert without_impossible(table, two) is two


@pytest.mark.parametrize("seed", range(4))
def test_latents_that_exclude_each_other_stay_two_if_evidence_says_so_beyond_the_misfit(seed):
    rng = np.random.default_rng(seed)
    first = rng.integers(4, size=N_ROWS)
    second = np.where(first == 0, 0, rng.integers(4, size=N_ROWS))
    parts = [seen_as(first, 6, 3, rng), seen_as(second, 6, 3, rng)]
    table, two = explained(np.hstack(parts), np.stack([first, second], axis=1))
    assert without_impossible(table, two) is two
    believing_little = Settings(priors=Priors(coarsest_rows=1))
    assert len(without_impossible(table, two, believing_little).domain_sizes) == 1
