"""Noise, single causes, and tables that are odd: each gets an answer or a reason."""

import numpy as np
import pytest

from mixoracle import (
    LatentGraphLearner,
    Observations,
)
from mixoracle.errors import (
    InvalidInputError,
)
from mixoracle.metrics import compare_states

# Small samples miss joint states now and then, which is told by a warning; tests about warnings
# ask for them by name.
pytestmark = pytest.mark.filterwarnings("ignore::mixoracle.errors.AssumptionWarning")


class TestLimitCases:
    def test_noise_has_no_latents(self, fitted):
        found = 0
        for seed in range(12):
            rng = np.random.default_rng(seed)
            n, width = int(rng.integers(1, 5)), int(rng.integers(1, 5))
            n_samples = int(rng.choice([30, 100, 200, 400]))
            blocks = [
                rng.normal(size=(n_samples, width)) @ rng.normal(size=(width, width))
                for _ in range(n)
            ]
            learner = fitted(np.hstack(blocks), groups=width)
            found += learner.model_.n_latent > 0
        assert found == 0

    def test_without_latents_everything_can_still_be_asked(self, fitted):
        noise = np.random.default_rng(0).normal(size=(200, 4))
        learner = fitted(noise, groups=2)
        assert learner.model_.domain_sizes == ()
        assert learner.states_.shape == learner.predict(noise).shape == (200, 0)
        assert learner.predict_proba(noise) == []
        assert np.isfinite(learner.score(noise))
        assert learner.sample(5)[0].n_samples == 5
        assert learner.counts_[{0, 1}] == 1

    @pytest.mark.parametrize("seed", range(5))
    def test_one_latent_is_a_plain_mixture(self, seed, fitted):
        rng = np.random.default_rng(seed)
        n_states = int(rng.integers(2, 6))
        states = rng.integers(n_states, size=600)
        array = 10.0 * rng.permutation(n_states)[states][:, None] + rng.normal(size=(600, 3))
        learner = fitted(array)
        assert learner.model_.domain_sizes == (n_states,)
        assert learner.model_.bipartite.all()
        assert compare_states(states[:, None], learner.states_).accuracy[0] > 0.995

    def test_a_single_variable_is_enough(self, fitted):
        rng = np.random.default_rng(0)
        states = rng.integers(3, size=300)
        learner = fitted(6.0 * states[:, None] + rng.normal(size=(300, 1)))
        assert learner.model_.domain_sizes == (3,)


def cases():
    """Data of shapes that make sense, though little can be learned from most, by name."""
    rng = np.random.default_rng(7)
    states = rng.integers(3, size=300)
    clusters = 5.0 * states[:, None] + rng.normal(size=(300, 4))
    with_outlier = clusters.copy()
    with_outlier[0] = 1e9
    return {
        "two rows": (rng.normal(size=(2, 3)), None),
        "five rows": (rng.normal(size=(5, 3)), None),
        "constant": (np.full((50, 3), 0.1), None),
        "zeros": (np.zeros((50, 3)), None),
        "one constant column": (np.column_stack([np.ones(300), clusters]), None),
        "a constant inside a variable": (np.insert(clusters, 1, 2.0, axis=1), [[0, 1, 2], [3, 4]]),
        "integers": (rng.integers(0, 5, size=(300, 4)), None),
        "zeros and ones": (rng.integers(0, 2, size=(300, 4)), None),
        "truth values": (rng.random((300, 4)) < 0.5, None),
        "words": (np.array(["low", "mid", "high"])[rng.integers(3, size=(300, 4))], 2),
        "as many words as rows": (np.array([[f"w{i}", f"v{i % 7}"] for i in range(60)]), None),
        "two words": (np.array([["a", "b"], ["c", "d"]]), None),
        "mostly missing": (
            np.where(np.arange(4) == rng.integers(4, size=(300, 1)), clusters, np.nan),
            2,
        ),
        "copies": (np.repeat(states[:, None], 4, axis=1), None),
        "duplicated columns": (clusters[:, [0, 0, 1, 1]], 2),
        "rare ones": ((rng.random((300, 5)) < 0.02).astype(float), None),
        "huge": (clusters * 1e12, 2),
        "tiny": (clusters * 1e-12, 2),
        "far from zero": (clusters + 1e12, 2),
        "huge outlier": (with_outlier, 2),
        "heavy tails": (rng.standard_cauchy((210, 4)), None),
        "heavy tails in blocks": (rng.standard_cauchy((210, 10)), 5),
        "skewed": (np.exp(2.0 * rng.normal(size=(210, 4))), None),
        "uniform": (rng.random((300, 4)), None),
        "fewer rows than columns": (rng.normal(size=(20, 60)), 30),
        "clusters of fewer rows than columns": (np.tile(clusters[:20], (1, 15)), 30),
        "twenty columns of one cause": (
            states[:30, None] * rng.normal(4, 1, size=20) + rng.normal(size=(30, 20)),
            None,
        ),
        "twenty columns of noise": (rng.normal(size=(100, 20)), None),
        "twenty columns of integers": (rng.integers(0, 4, size=(60, 20)), None),
        "twenty skewed columns": (rng.exponential(size=(24, 20)), None),
        "twenty heavy tails": (rng.standard_cauchy((24, 20)), None),
    }


@pytest.mark.parametrize(
    ("X", "match"),
    [
        (np.ones((1, 3)), "at least 2 rows; got 1"),
        (np.array([[0.0, 1e200], [1.0, 2e200]]), "X2 .*rescale"),
        (np.array([[0.0, 1e-200], [1.0, 2e-200]]), "X2 .*rescale"),
        (np.array([[0.0, np.nan], [1.0, np.nan]]), "X2 has no value in any row: drop it"),
    ],
    ids=["one row", "beyond squares", "below squares", "nothing in a column"],
)
def test_what_cannot_be_learned_from_is_refused_with_a_reason(X, match, fitted):
    with pytest.raises(InvalidInputError, match=match):
        fitted(X)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", cases())
def test_any_table_gets_an_answer(name, fitted):
    X, groups = cases()[name]
    learner = fitted(X, groups)
    again = X if groups is None else Observations.from_array(X, groups)
    assert learner.states_.shape == (len(X), learner.model_.n_latent)
    np.testing.assert_array_equal(learner.predict(again), learner.states_)
    assert np.isfinite(learner.score(again))
    for held in learner.predict_proba(again):
        np.testing.assert_allclose(held.sum(axis=1), 1.0)
    assert learner.sample(3, random_state=0)[0].n_samples == 3


@pytest.mark.parametrize("shift", [1e13, 1e15])
def test_clusters_beside_a_large_constant_are_found(shift):
    rng = np.random.default_rng(0)
    states = rng.integers(0, 2, 400)
    values = 8.0 * states[:, None] + rng.normal(size=(400, 3))
    learner = LatentGraphLearner(random_state=0).fit(values + shift)
    assert learner.model_.domain_sizes == (2,)
    assert len(np.unique(learner.states_[:, 0] * 2 + states)) == 2
