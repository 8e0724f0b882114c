import pickle
import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem
from mixoracle.errors import AssumptionWarning, InvalidInputError
from mixoracle.metrics import compare_states
from mixoracle.trust.aligning import align


@pytest.fixture(scope="module")
def problem():
    return paper_problem(2, 5, 3, n_samples=600, random_state=1, covariance="code")


@pytest.fixture(scope="module")
def learner(problem):
    return LatentGraphLearner(random_state=0).fit(problem.observations)


def same(one, two):
    return all(
        np.array_equal(value, getattr(two, name)) if isinstance(value, np.ndarray) else True
        for name, value in vars(one).items()
    )


def test_a_clear_answer_is_found_again(problem, learner):
    support = learner.bootstrap(6, random_state=0)
    assert support.n_resamples == 6
    assert support.n_latents == {2: 1.0}
    assert support.latents == pytest.approx(1.0)
    assert support.domain_sizes == pytest.approx(1.0)
    assert np.array_equal(support.bipartite == 1.0, learner.model_.bipartite)
    assert np.all(support.arrows <= support.adjacency)
    assert support.n_same == 6
    assert np.all(support.joint_low <= support.joint_high)
    # The true P(H), in the order of the answer, lies within or next to the intervals.
    matching = compare_states(learner.states_, problem.states).matching
    truth = align(
        learner.states_,
        learner.model_.domain_sizes,
        problem.states,
        problem.model.joint,
        problem.model.bipartite,
        problem.model.latent_graph,
    ).joint
    assert matching.states is not None
    assert np.abs(np.clip(truth, support.joint_low, support.joint_high) - truth).max() < 0.03


def test_effects_have_intervals_over_the_class_and_the_resamples(learner):
    support = learner.bootstrap(6, random_state=0)
    low, high = support.effect("H1", "H2")
    sizes = learner.model_.domain_sizes
    assert low.shape == high.shape == sizes
    assert np.all(low <= high)
    # Each resample is a point inside or a range over its class; so is the answer, nearly.
    found = [model.effect("H1", "H2") for model in support.resampled]
    assert len(found) == support.n_same
    assert np.all(np.min([held.lower for held in found], axis=0) <= low + 1e-12)
    assert np.all(np.max([held.upper for held in found], axis=0) >= high - 1e-12)
    whole = learner.model_.effect("H1", "H2")
    assert np.all(low <= whole.upper + 0.1)
    assert np.all(high >= whole.lower - 0.1)
    with pytest.raises(InvalidInputError, match="no interval of an effect"):
        replace(support, resampled=()).effect("H1", "H2")


def test_the_same_seed_gives_the_same_support_for_any_number_of_jobs(learner):
    one = learner.bootstrap(4, random_state=5)
    assert same(one, learner.bootstrap(4, n_jobs=2, random_state=5))
    assert not same(one, learner.bootstrap(4, random_state=6))


def test_an_interrupted_run_goes_on_where_it_stopped(learner, tmp_path):
    whole = learner.bootstrap(4, random_state=5)
    file = tmp_path / "done.jsonl"

    def stop(done, _total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learner.bootstrap(4, random_state=5, keep=file, progress=stop)
    with file.open("a") as stream:  # killed while a line was written
        stream.write('{"number": 2, "n_lat')
    told = []
    again = learner.bootstrap(
        4, random_state=5, keep=file, progress=lambda done, total: told.append((done, total))
    )
    assert told == [(3, 4), (4, 4)]
    assert same(whole, again)
    # Of another seed nothing is taken over.
    assert same(
        learner.bootstrap(2, random_state=9, keep=file), learner.bootstrap(2, random_state=9)
    )


def test_noise_supports_nothing():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 3))
    learner = LatentGraphLearner(random_state=0).fit(noise)
    support = learner.bootstrap(3, random_state=0)
    assert support.latents.shape == (learner.model_.n_latent,)
    assert sum(support.n_latents.values()) == pytest.approx(1.0)


def test_it_needs_a_fit_the_rows_and_enough_of_them(learner):
    with pytest.raises(NotFittedError):
        LatentGraphLearner().bootstrap()
    copy = pickle.loads(pickle.dumps(learner))
    with pytest.raises(InvalidInputError, match="call fit again"):
        copy.bootstrap(2)
    with pytest.raises(InvalidInputError, match="n_resamples"):
        learner.bootstrap(0)
    few = LatentGraphLearner(random_state=0).fit(np.random.default_rng(0).normal(size=(15, 2)))
    with pytest.raises(InvalidInputError, match="at least 20 of them"):
        few.bootstrap(2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n_jobs": 0}, "n_jobs should be a number of jobs"),
        ({"n_jobs": "a"}, "n_jobs should be a number of jobs"),
        ({"random_state": -1}, "random_state should be a non-negative int"),
        ({"progress": "yes"}, "progress should be True, False or a function"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(learner, given, said):
    with pytest.raises(InvalidInputError, match=said):
        learner.bootstrap(1, **given)


def test_no_more_parts_than_rows(learner):
    with pytest.raises(InvalidInputError, match="n_splits should be at most 600"):
        learner.held_out(100_000)


def test_a_report_takes_the_support_of_its_model_only(learner, tmp_path):
    with pytest.raises(InvalidInputError, match=r"what learner\.bootstrap\(\) returned; got int"):
        learner.report(tmp_path / "out", support=5)
    other = LatentGraphLearner(random_state=0).fit(np.random.default_rng(0).normal(size=(60, 3)))
    with pytest.raises(InvalidInputError, match="support should be of this model"):
        learner.report(tmp_path / "out", support=other.bootstrap(1, random_state=0))
    assert not (tmp_path / "out").exists()


def test_progress_is_that_of_the_learner_unless_asked(learner, capsys, monkeypatch):
    told = []
    learner.set_params(progress=told.append)
    learner.bootstrap(2, random_state=0)
    assert [line[-6:] for line in told] == ["e rows", "1 of 2", "2 of 2"]
    learner.bootstrap(1, random_state=0, progress=False)
    assert len(told) == 3
    learner.set_params(progress=False)
    monkeypatch.setenv("FORCE_COLOR", "1")  # a spinner needs a terminal
    learner.bootstrap(1, random_state=0, progress=True)
    assert "halves of the rows" in capsys.readouterr().err


def test_it_runs_where_joblib_is_told_to(learner, monkeypatch):
    from joblib import parallel_config

    threads = []
    sight = type(learner._resampler).sight

    def noted(self, number, seed):
        threads.append(threading.current_thread())
        return sight(self, number, seed)

    monkeypatch.setattr(type(learner._resampler), "sight", noted)
    with parallel_config(backend="threading", n_jobs=2):
        learner.bootstrap(2, random_state=0)
    assert threading.main_thread() not in threads
    learner.bootstrap(1, random_state=0)
    assert threads[-1] is threading.main_thread()


@pytest.mark.parametrize("seed", range(3))
def test_a_clear_answer_comes_back_from_parts_of_few_rows(seed):
    problem = paper_problem(2, 5, 3, n_samples=120, random_state=seed, covariance="code")
    learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    assert learner._resampler.comes_back()


def test_what_chance_looks_like_does_not_come_back():
    rows = np.random.default_rng(3).lognormal(size=(50, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner = LatentGraphLearner(random_state=0).fit(rows)
    assert learner.model_.n_latent > 0
    assert not learner._resampler.comes_back()
