"""The second oracle answers as the first, also where single variables show nothing."""

from itertools import combinations
from math import prod

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mixoracle import SignatureOracle
from mixoracle.datasets import item_problem, kind_problem, paper_problem
from mixoracle.errors import InvalidInputError
from mixoracle.mixtures import mixture
from mixoracle.mixtures.preparation import prepare
from mixoracle.observations import Observations
from mixoracle.oracles import MixtureOracle
from mixoracle.oracles import projection as projection_module
from mixoracle.oracles.projection import ProjectionOracle
from mixoracle.oracles.run import Run, Stage
from mixoracle.settings import Budget, Settings


def fitted(observations, **settings):
    return ProjectionOracle(random_state=0, **settings).fit(observations)


def subsets(n):
    return [s for size in range(3) for s in combinations(range(n), size)]


def assigned(candidate):
    return candidate.assign(candidate.graph).rows


@pytest.fixture
def mixtures(monkeypatch):
    """The mixtures that were fitted, in order."""
    found = []

    def recorded(*arguments):
        found.append(mixture.fit_mixture(*arguments))
        return found[-1]

    monkeypatch.setattr(projection_module, "fit_mixture", recorded)
    return found


def is_right(candidate, model):
    def key(adjacency, sizes):
        return sorted(
            (column.tolist(), size) for column, size in zip(adjacency.T, sizes, strict=True)
        )

    found = key(candidate.graph.adjacency, candidate.graph.domain_sizes)
    return found == key(model.bipartite, model.domain_sizes)


@pytest.mark.parametrize("seed", range(2))
def test_it_agrees_with_the_signature_oracle_where_both_can_see(seed):
    problem = paper_problem(2, 5, 2, 500, random_state=seed, covariance="code")
    ours = fitted(problem.observations, max_starts=1)
    other = SignatureOracle(random_state=0).fit(problem.observations)
    for subset in subsets(5):
        assert ours.count(subset) == other.count(subset)


@pytest.mark.parametrize(("kind", "seed"), [("categorical", 0), ("categorical", 1), ("mixed", 0)])
def test_blocks_of_other_kinds_are_decoded(kind, seed):
    problem = kind_problem(2, 5, 2, 600, random_state=seed, kind=kind)
    oracle = fitted(problem.observations, max_starts=1)
    assert is_right(oracle.candidates_[0], problem.model)


@pytest.mark.parametrize("seed", range(2))
def test_the_answer_is_consistent_with_itself(seed, mixtures):
    problem = item_problem(2, 8, 600, random_state=seed)
    oracle = fitted(problem.observations)
    assert isinstance(oracle, MixtureOracle)
    assert oracle.n_observed == 8
    for candidate in oracle.candidates_:
        counts, rows = candidate.counts, assigned(candidate)
        assert counts.seen.shape[1] == 8
        found = counts.projection()
        assert found.n_components == prod(candidate.graph.domain_sizes)
        assert rows.shape == (600,)
        assert rows.max() < found.n_components
        for subset in subsets(8):
            chosen = found.labels[:, list(subset)]
            assert counts.count(subset) == len(np.unique(chosen, axis=0))
    for subset in subsets(8):
        count = oracle.count(subset)
        assert count == oracle.candidates_[0].counts.count(subset)
        assert 0.0 <= count.confidence <= 1.0
    np.testing.assert_array_equal(
        oracle.projection().labels, oracle.candidates_[0].counts.projection().labels
    )
    evidence = [candidate.log_evidence for candidate in oracle.candidates_]
    assert evidence == sorted(evidence, reverse=True)
    (fitted_mixture,) = mixtures
    assert fitted_mixture.n_components >= len(oracle.candidates_[0].counts.seen)
    assert 1 <= fitted_mixture.n_agreed <= fitted_mixture.n_starts


@pytest.mark.parametrize("seed", range(2))
def test_rows_are_assigned_to_their_joint_states(seed):
    problem = item_problem(2, 16, 800, random_state=seed)
    candidate = fitted(problem.observations, max_starts=1).candidates_[0]
    cells = np.ravel_multi_index(problem.states.T, problem.model.domain_sizes)
    pairs, counts = np.unique(np.stack([cells, assigned(candidate)]), axis=1, return_counts=True)
    best = np.zeros(cells.max() + 1)
    np.maximum.at(best, pairs[0], counts)
    # What the true model itself reaches with so many items of 0.1 and 0.9 is about 97 %.
    assert best.sum() >= 0.9 * len(cells)


def test_components_show_in_a_part_of_the_rows(mixtures):
    problem = item_problem(2, 12, 1500, random_state=1)
    run = Run(
        np.random.default_rng(0), settings=Settings(Budget(mixture_rows=800, mixture_starts=1))
    )
    candidates = ProjectionOracle().candidates(prepare(problem.observations), run)
    assert [found.n_components for found in mixtures] == [4]
    assert mixtures[0].responsibilities.shape == (800, 4)
    assert assigned(candidates[0]).shape == (1500,)


def test_the_same_seed_and_any_order_give_the_same_answer():
    problem = item_problem(2, 10, 500, random_state=2)
    observations, rng = problem.observations, np.random.default_rng(0)
    order, rows = rng.permutation(10), rng.permutation(500)
    moved = Observations.from_array(
        observations.values[rows][:, order], names=[observations.names[i] for i in order]
    )
    first, again, other = fitted(observations), fitted(observations), fitted(moved)
    mine = assigned(first.candidates_[0])
    np.testing.assert_array_equal(mine, assigned(again.candidates_[0]))
    np.testing.assert_array_equal(mine[rows], assigned(other.candidates_[0]))
    for one, two in combinations(range(10), 2):
        assert first.count([order[one], order[two]]) == other.count([one, two])


def test_it_tells_what_it_is_doing():
    stages = []
    observations = item_problem(1, 5, 200, random_state=0).observations
    ProjectionOracle(random_state=0).fit(observations, progress=stages.append)
    assert stages == [Stage.PREPARING, Stage.MIXTURE, Stage.DECODING]


@pytest.mark.parametrize("question", [lambda o: o.count([0]), lambda o: o.projection()])
def test_it_answers_only_after_it_has_seen_data(question):
    with pytest.raises(NotFittedError, match="call fit"):
        question(ProjectionOracle())


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"max_starts": 0}, "max_starts.*at least 1; got 0"),
        ({"max_starts": 1.5}, "max_starts.*1.5"),
        ({"max_components": 0}, "at least 1; got 0"),
        ({"max_components": 10**6}, "use at most"),
        ({"families": "magic"}, "magic"),
    ],
)
def test_wrong_settings_are_named(settings, match):
    observations = item_problem(1, 5, 200, random_state=0).observations
    with pytest.raises(InvalidInputError, match=match):
        fitted(observations, **settings)


@pytest.mark.parametrize("member", [-1, 5, 99])
def test_only_observed_variables_can_be_asked_about(member):
    oracle = fitted(item_problem(1, 5, 200, random_state=0).observations)
    with pytest.raises(InvalidInputError, match=str(member)):
        oracle.count([member])


def test_it_shows_its_settings():
    shown = repr(ProjectionOracle(max_components=7, max_starts=2))
    assert shown == "ProjectionOracle(max_components=7, max_starts=2)"


def test_where_it_starts_is_for_its_own_seed_to_say():
    prepared = prepare(item_problem(2, 8, n_samples=300, random_state=3).observations)

    def found(learners_seed, own_seed=None, start=0):
        run = Run(np.random.default_rng(learners_seed), start=start)
        oracle = ProjectionOracle(max_starts=1, random_state=own_seed)
        return oracle.candidates(prepared, run)[0].log_evidence

    assert found(0) == found(1)
    assert len({found(0), found(0, own_seed=7), found(0, start=1)}) == 3
