import warnings

import numpy as np
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem
from mixoracle.errors import AssumptionWarning, InvalidInputError
from mixoracle.families import SubmixtureComponents
from mixoracle.trust.held_out import HeldOut
from mixoracle.trust.overall import overall


def test_a_true_answer_beats_every_rival():
    problem = paper_problem(2, 5, 3, n_samples=400, random_state=1, covariance="code")
    learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    found = learner.held_out(random_state=0)
    assert found.n_rows == 400
    assert found.than_no_latent > 1.0
    assert found.than_continuous > 1.0
    assert found.than_one_latent > 0.0
    assert found == learner.held_out(random_state=0)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_cause_in_noise_is_not_believed(seed):
    rows = np.random.default_rng(seed).uniform(size=(50, 8))
    learner = LatentGraphLearner(random_state=0).fit(rows)
    if learner.model_.n_latent:
        assert learner.verdict_.level == "doubt"
        assert "fit no worse without any hidden cause" in " ".join(learner.verdict_.reasons)


def test_a_continuous_cause_beats_states():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(150, 1)) @ rng.normal(size=(1, 4)) + 0.5 * rng.normal(size=(150, 4))
    learner = LatentGraphLearner(random_state=0, resolution=None)
    with pytest.warns(UserWarning, match="continuous"):
        learner.fit(rows)
    assert learner.held_out(random_state=0).than_continuous < 0


def test_means_are_weighted_by_rows_and_skip_what_is_missing():
    parts = [HeldOut(None, 1.0, 2.0, 10, 0.5), HeldOut(3.0, 4.0, None, 30, 0.9)]
    mean = HeldOut.mean(parts)
    assert mean.better == pytest.approx(0.8)
    assert (mean.than_one_latent, mean.than_no_latent, mean.than_continuous) == (3.0, 3.25, 2.0)
    assert mean.n_rows == 40


def test_large_samples_are_not_split_unasked():
    problem = paper_problem(1, 3, 3, n_samples=300, random_state=1, covariance="code")
    learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    assert learner._resampler.small_sample_check() is None
    with pytest.raises(InvalidInputError, match="n_splits"):
        learner.held_out(1)


def test_the_verdict_says_what_rows_not_seen_say():
    model = paper_problem(1, 3, 3, n_samples=50, random_state=1).model
    held = HeldOut(None, -0.25, None, 50, 0.36)
    found = overall(model, [], n_samples=50, held_out=held)
    assert found.level == "doubt"
    assert "Most cases that were not learned from (64%)" in found.reasons[0]


def test_a_few_rows_of_unseen_joint_states_do_not_outweigh_all_others():
    model = paper_problem(1, 3, 3, n_samples=50, random_state=1).model
    # Most rows fit better; the mean is that of a few that fit nowhere.
    found = overall(model, [], n_samples=50, held_out=HeldOut(None, -30.0, None, 50, 0.8))
    assert (found.level, found.reasons) == ("believe", ())


def test_components_of_another_shape_are_judged_as_they_were_learned():
    rng = np.random.default_rng(0)
    state = rng.integers(3, size=150)
    columns = [np.exp(state + 0.4 * rng.normal(size=150)) for _ in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner = LatentGraphLearner(random_state=0).fit(np.stack(columns, axis=1))
    assert any(isinstance(held, SubmixtureComponents) for held in learner.model_.components)
    found = learner.held_out(random_state=0)
    assert np.isfinite(found.than_no_latent)
