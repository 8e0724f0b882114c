"""Tests of items: the design that was asked for, and answers that follow it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from mixoracle import assumptions
from mixoracle.datasets import item_problem
from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, CategoricalComponents


@pytest.mark.parametrize("n_latent", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(10))
def test_every_skill_has_its_own_items_and_shares_the_others(n_latent: int, seed: int) -> None:
    problem = item_problem(n_latent, 20, 30, seed, own=3)
    bipartite = problem.model.bipartite
    single = bipartite[bipartite.sum(axis=1) == 1]
    shared = bipartite[bipartite.sum(axis=1) > 1]
    if n_latent == 1:
        assert bipartite.all()
    else:
        assert single.sum(axis=0).tolist() == [3] * n_latent
        assert shared.sum(axis=1).max() <= min(3, n_latent)
    assert problem.model.domain_sizes == (2,) * n_latent
    assert problem.model.joint.table.min() >= 0.25 / 2**n_latent
    assert problem.dag is not None
    assert problem.model.latent_graph == CPDAG.from_dag(problem.dag, n_latent)
    assert problem.observations.widths == (1,) * 20
    assert set(np.unique(problem.observations.values)) == {0.0, 1.0}
    assert problem.observations.levels[0] == (None,)


@pytest.mark.parametrize("seed", range(20))
def test_all_assumptions_hold_but_that_shared_items_confuse(seed: int) -> None:
    model = item_problem(3, 24, 10, seed).model
    failed = {verdict.label for verdict in assumptions.check(model) if verdict.holds is not True}
    assert failed == {"assump:strong:SDC"}
    offenders = {offender[0] for offender in assumptions.nondegeneracy_distinct(model).offenders}
    shared = np.flatnonzero(model.bipartite.sum(axis=1) > 1)
    assert offenders == {model.observed_names[i] for i in shared}


@pytest.mark.parametrize("seed", range(5))
def test_with_own_items_only_everything_holds(seed: int) -> None:
    verdicts = assumptions.check(item_problem(3, 9, 10, seed).model)
    assert all(verdict.holds for verdict in verdicts)


def test_shared_items_need_all_or_any_of_their_skills() -> None:
    rules = set()
    for seed in range(10):
        model = item_problem(3, 20, 10, seed, low=0.2, high=0.7).model
        assert model.components is not None
        for i, held in enumerate(model.components):
            assert isinstance(held, CategoricalComponents)
            configurations = list(product((0, 1), repeat=len(model.parents(i))))
            solved = held.probabilities[:, 1]
            needs = [
                rule
                for rule in (all, any)
                if np.array_equal(
                    solved, [0.7 if rule(masters) else 0.2 for masters in configurations]
                )
            ]
            assert needs
            if len(configurations) > 2:
                rules.update(needs)
    assert rules == {all, any}


def test_answers_follow_the_model() -> None:
    problem = item_problem(2, 10, 40_000, 3)
    assert problem.model.components is not None
    labels = problem.model.component_of_states(problem.states)
    for i, held in enumerate(problem.model.components):
        assert isinstance(held, CategoricalComponents)
        for c in range(held.n_components):
            answers = problem.observations[i][labels[:, i] == c, 0]
            # Five standard errors of a share of so many rows.
            error = 5 * np.sqrt(0.09 / len(answers))
            assert abs(answers.mean() - held.probabilities[c, 1]) < error


def test_same_seed_same_problem() -> None:
    first, again = item_problem(3, 20, 100, 4), item_problem(3, 20, 100, 4)
    assert first.model == again.model
    assert first.observations == again.observations
    assert item_problem(3, 20, 100, 5).model != first.model
    assert item_problem(3, 20, 7, 4).model == first.model


def test_impossible_wishes_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"n_items should be .* at least 9; got 8"):
        item_problem(3, 8, 10)
    with pytest.raises(InvalidInputError, match=r"n_latent should be .* at least 1; got 0"):
        item_problem(0, 8, 10)
    with pytest.raises(InvalidInputError, match=r"own should be .* at least 1; got 0"):
        item_problem(2, 8, 10, own=0)
    with pytest.raises(InvalidInputError, match="n_samples should be"):
        item_problem(2, 8, 0, 0)
    with pytest.raises(InvalidInputError, match=r"low should be smaller than high, .* got 0\.9"):
        item_problem(2, 8, 10, low=0.9, high=0.1)
    with pytest.raises(InvalidInputError, match="high should lie between 0 and 1"):
        item_problem(2, 8, 10, high=1.2)
    with pytest.raises(InvalidInputError, match="gave all 2\\^12 profiles a fair share; use fewer"):
        item_problem(12, 36, 10, 0)
