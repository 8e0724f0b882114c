"""Explanations with as many latents and states as were asked for."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_mutual_info_score

from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem
from mixoracle.decoding.wanted import Wanted
from mixoracle.errors import AssumptionWarning, InvalidInputError
from mixoracle.trust.asked import ASKED_LABEL


def asked(learner):
    (verdict,) = [v for v in learner.assumptions_ if v.label == ASKED_LABEL]
    return verdict


@pytest.mark.parametrize(
    ("sizes", "found", "distance"),
    [((3, 2), (2, 3), 0), ((3, 2), (3,), 1), ((2,), (4, 4), 5), ((), (), 0), ((), (2,), 1)],
)
def test_the_distance_counts_states_whatever_their_order(sizes, found, distance):
    assert Wanted(domain_sizes=sizes).distance(found) == distance


def test_nothing_asked_for_is_near_to_everything():
    assert not Wanted()
    assert Wanted().distance((5, 2)) == 0
    assert Wanted(n_latents=0)


@pytest.fixture(scope="module")
def problem():
    return paper_problem(2, 5, 3, n_samples=600, random_state=2, covariance="code")


@pytest.mark.filterwarnings("ignore::mixoracle.errors.AssumptionWarning")
@pytest.mark.parametrize("n_latents", [0, 1, 2])
def test_as_many_latents_as_asked_for(problem, n_latents):
    free = LatentGraphLearner(random_state=0).fit(problem.observations)
    assert free.model_.n_latent == 2
    assert not any(verdict.label == ASKED_LABEL for verdict in free.assumptions_)
    learner = LatentGraphLearner(random_state=0, n_latents=n_latents).fit(problem.observations)
    assert learner.model_.n_latent == n_latents
    assert asked(learner).holds is True
    assert learner.bic_ <= free.bic_
    better = "fits better by" in asked(learner).message
    assert better is (n_latents < 2)
    # The same figure and the reason stand in the verdict on the whole answer.
    reasons = " ".join(learner.verdict_.reasons)
    why = "but it does not have the number of causes or states that was asked for"
    assert (why in reasons) is better
    figure = asked(learner).message.partition("fits better by ")[2]
    assert figure in reasons


def test_such_states_as_asked_for_in_any_order(problem):
    sizes = problem.model.domain_sizes
    learner = LatentGraphLearner(random_state=0, domain_sizes=sizes[::-1])
    learner.fit(problem.observations)
    assert sorted(learner.model_.domain_sizes) == sorted(sizes)
    coarser = LatentGraphLearner(random_state=0, domain_sizes=[2, 2]).fit(problem.observations)
    assert coarser.model_.domain_sizes == (2, 2)
    assert asked(coarser).holds is True


@pytest.mark.filterwarnings("ignore::mixoracle.errors.AssumptionWarning")
@pytest.mark.parametrize("seed", range(4))
def test_more_states_than_single_columns_show_are_found_in_all_of_them_together(seed):
    """Three states one standard deviation apart in each column, and far apart in all eight."""
    rng = np.random.default_rng(seed)
    states = rng.integers(3, size=400)
    rows = np.array([-1.0, 0.0, 1.0])[states][:, None] * 1.2 + rng.normal(size=(400, 8))
    learner = LatentGraphLearner(random_state=0, domain_sizes=[3]).fit(rows)
    assert learner.model_.domain_sizes == (3,)
    assert asked(learner).holds is True


@pytest.mark.filterwarnings("ignore::mixoracle.errors.AssumptionWarning")
def test_the_three_species_of_iris_are_found_where_three_states_are_asked_for():
    measured, species = load_iris(return_X_y=True)
    learner = LatentGraphLearner(random_state=0, domain_sizes=[3]).fit(measured)
    assert learner.model_.domain_sizes == (3,)
    assert adjusted_mutual_info_score(species, learner.states_[:, 0]) > 0.75


def test_what_the_data_do_not_show_is_said(problem):
    learner = LatentGraphLearner(random_state=0, n_latents=5)
    with pytest.warns(AssumptionWarning, match="5 latents were asked for, and no such answer"):
        learner.fit(problem.observations)
    assert asked(learner).holds is False
    assert any("no such answer was found" in reason for reason in learner.verdict_.reasons)


@pytest.mark.parametrize(
    "settings",
    [{"n_latents": -1}, {"n_latents": 1.5}, {"domain_sizes": (3, 1)}, {"domain_sizes": (2.5,)}],
)
def test_no_numbers_are_refused_before_any_work(settings):
    with pytest.raises(InvalidInputError, match="should be a whole number of at least"):
        LatentGraphLearner(**settings).fit(np.random.default_rng(0).normal(size=(50, 3)))


def test_numbers_that_contradict_each_other_are_refused():
    with pytest.raises(InvalidInputError, match="leave one of the two out"):
        Wanted(2, (3,))
