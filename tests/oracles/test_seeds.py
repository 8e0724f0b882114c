"""The learner's random_state reaches every step that draws; starts are the same for all."""

import warnings
from copy import deepcopy

import numpy as np
import pytest

from mixoracle import (
    Background,
    KnownLatent,
    LatentGraphLearner,
    SignatureOracle,
    bipartite,
)
from mixoracle.datasets import item_problem, paper_problem
from mixoracle.errors import AssumptionWarning
from mixoracle.inference import start
from mixoracle.mixtures import isolation, mixture, segmentation
from mixoracle.oracles.kmeans import tasks


def fit(observations, random_state, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return LatentGraphLearner(random_state=random_state, **settings).fit(observations)


def assert_seeds_follow(drawn):
    """``drawn(random_state)`` lists what was drawn: the same for one seed, not for two."""
    first, again, other = drawn(1), drawn(1), drawn(2)
    assert first
    assert first == again
    assert first != other
    assert drawn(np.random.default_rng(1)) == first


@pytest.fixture
def seeds_of_cuts(monkeypatch):
    """The seeds that k-means got in a module."""

    def spy(module):
        found, cut = [], segmentation.cut

        def recorded(block, n_pieces, seed, *rest):
            found.append(seed)
            return cut(block, n_pieces, seed, *rest)

        monkeypatch.setattr(module, "cut", recorded)
        return found

    return spy


def test_the_start_of_a_graph_that_is_known(seeds_of_cuts):
    # Fewer rows would be learned from again, to look at the answer on others.
    problem = item_problem(2, 6, 220, random_state=0)
    latents = [
        KnownLatent(name, np.flatnonzero(column).tolist(), exactly=True, domain_size=size)
        for name, column, size in zip(
            problem.model.latent_names,
            problem.model.bipartite.T,
            problem.model.domain_sizes,
            strict=True,
        )
    ]
    knowledge = Background(latents, complete=True)
    found = seeds_of_cuts(start)

    def drawn(random_state):
        found.clear()
        fit(problem.observations, random_state, knowledge=knowledge, n_init=1)
        return list(found)

    assert_seeds_follow(drawn)
    assert len(found) == 2


@pytest.mark.parametrize("oracle", ["projection", "signature"])
def test_the_starts_of_the_mixture_over_all_variables(seeds_of_cuts, oracle):
    observations = item_problem(1, 5, 210, random_state=0).observations
    found = seeds_of_cuts(mixture)

    def drawn(random_state):
        found.clear()
        fit(observations, random_state, oracle=oracle)
        return list(found)

    first, other = drawn(1), drawn(2)
    assert first == other
    # Several starts, and no two of them alike.
    assert len(set(first)) > 1


def test_the_pieces_that_single_variables_are_cut_into(seeds_of_cuts):
    observations = paper_problem(2, 5, 2, 300, random_state=0, covariance="code").observations
    found = seeds_of_cuts(segmentation)

    def drawn(random_state, **more):
        found.clear()
        fit(observations, random_state, **more)
        # Values that stand alone are looked for with the same seed in every fit.
        return [seed for seed in found if seed != isolation._SEED]

    first = drawn(1)
    assert first
    assert drawn(2) == first
    assert drawn(2, oracle=SignatureOracle(random_state=7)) != first
    # Further starts are other ones.
    assert len(set(drawn(1, n_init=2))) == 2 * len(set(first))


def test_the_recovery_of_the_graph(monkeypatch):
    problem = paper_problem(2, 5, 2, 300, random_state=0, covariance="code")
    found, recover = [], bipartite.recover

    def recorded(oracle, method, *, tolerance, random_state):
        found.append(int(deepcopy(random_state).integers(2**62)))
        return recover(oracle, method, tolerance=tolerance, random_state=random_state)

    monkeypatch.setattr(bipartite, "recover", recorded)

    def drawn(random_state):
        found.clear()
        fit(problem.observations, random_state, bipartite="jennrich")
        return list(found)

    assert_seeds_follow(drawn)


def test_the_papers_oracle(monkeypatch):
    problem = paper_problem(1, 3, 2, 210, random_state=0, covariance="code")
    found, prepare = [], tasks.Workbench.prepare

    def recorded(observations, limit, seed, n_jobs):
        found.append(seed)
        return prepare(observations, limit, seed, n_jobs)

    monkeypatch.setattr(tasks.Workbench, "prepare", recorded)

    def drawn(random_state):
        found.clear()
        fit(problem.observations, random_state, oracle="kmeans")
        return list(found)

    assert_seeds_follow(drawn)
