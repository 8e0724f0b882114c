"""Whole problems: reproducible, drawn from the stated model, refused where impossible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixoracle.datasets import (
    PAPER_RATIO,
    PAPER_SETTINGS,
    Problem,
    nonidentifiable_b,
    paper_problem,
    random_components,
    random_model,
    sample,
    single_latent,
    subset_violation_a,
)
from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, GaussianComponents


@pytest.mark.parametrize(("n_latent", "n_observed"), PAPER_SETTINGS)
@pytest.mark.parametrize("seed", range(5))
def test_the_papers_settings(n_latent: int, n_observed: int, seed: int) -> None:
    problem = paper_problem(n_latent, n_observed, 6, 50, seed)
    model = problem.model
    assert problem.observations.n_samples == 50
    assert problem.observations.names == model.observed_names
    assert model.observed_names[0] == "X1"
    assert model.latent_names[-1] == f"H{n_latent}"
    assert problem.observations[f"X{n_observed}"].shape == (50, 5)
    assert problem.states.shape == (50, n_latent)
    assert np.all(problem.states < np.array(model.domain_sizes))
    assert problem.dag is not None
    assert model.latent_graph == CPDAG.from_dag(problem.dag, n_latent)
    assert model.joint.table.min() > 0
    assert model.joint.table.size <= 50


# "Average number of edges for different settings" in sec: expt_details, at 10 000 samples.
EDGES_IN_THE_PAPER = {
    (1, 3): 3.0,
    (2, 5): 7.15,
    (3, 7): 13.52,
    (3, 8): 15.27,
    (4, 7): 17.43,
    (4, 8): 19.87,
}


@pytest.mark.parametrize("setting", PAPER_SETTINGS)
def test_edge_numbers_are_the_papers(setting: tuple[int, int]) -> None:
    edges = []
    for seed in range(300):
        model = random_model(*setting, 6, seed, covariance=None)
        edges.append(int(model.bipartite.sum()) + len(model.latent_graph.skeleton))
    # Both means carry an error: ours of 300 draws, the paper's of some 50.
    error = np.std(edges) * np.sqrt(1 / 300 + 1 / 50)
    assert abs(np.mean(edges) - EDGES_IN_THE_PAPER[setting]) <= 3 * error


def test_every_setting_has_a_share() -> None:
    assert len(PAPER_RATIO) == len(PAPER_SETTINGS)


@pytest.mark.parametrize("covariance", ["text", "code"])
def test_same_seed_same_problem(covariance: str) -> None:
    first = paper_problem(3, 7, 4, 200, 7, covariance)  # type: ignore[arg-type]
    again = paper_problem(3, 7, 4, 200, 7, covariance)  # type: ignore[arg-type]
    assert first.model == again.model
    assert first.observations == again.observations
    assert np.array_equal(first.states, again.states)
    assert paper_problem(3, 7, 4, 200, 8, covariance).model != first.model  # type: ignore[arg-type]


def test_every_kind_of_random_state() -> None:
    by_int = random_model(2, 5, 3, 5)
    assert random_model(2, 5, 3, np.random.default_rng(5)) == by_int
    assert random_model(2, 5, 3, np.random.SeedSequence(5)) == by_int
    assert random_model(2, 5, 3, None) != by_int


def test_sample_size_and_components_leave_the_graph_alone() -> None:
    small, large = paper_problem(3, 7, 4, 10, 3), paper_problem(3, 7, 4, 1_000, 3)
    assert small.model == large.model
    by_code = paper_problem(3, 7, 4, 10, 3, "code", width=2).model
    assert replace(by_code, components=None) == replace(small.model, components=None)
    assert by_code.components != small.model.components


@pytest.mark.parametrize("seed", range(5))
def test_samples_follow_the_model(seed: int) -> None:
    n_samples = 40_000
    problem = paper_problem(2, 4, 3, n_samples, seed, max_joint_states=9)
    model = problem.model
    counts = np.zeros(model.domain_sizes)
    np.add.at(counts, tuple(problem.states.T), 1)
    expected = model.joint.table * n_samples
    # At most 9 cells, 8 degrees of freedom: the 99.99 % point is 31.8.
    assert np.sum((counts - expected) ** 2 / expected) < 31.8
    labels = model.component_of_states(problem.states)
    assert model.components is not None
    for i, components in enumerate(model.components):
        assert isinstance(components, GaussianComponents)
        block = problem.observations[i]
        for c in range(components.n_components):
            rows = block[labels[:, i] == c]
            # Standard error of each coordinate's mean is at most 0.1/√rows; five of them.
            assert np.abs(rows.mean(axis=0) - components.means[c]).max() < 0.5 / np.sqrt(len(rows))
            drawn = np.cov(rows.T)
            assert np.abs(drawn - components.covariances[c]).max() < 0.07 / np.sqrt(len(rows))


def test_impossible_states_are_never_drawn() -> None:
    states = sample(nonidentifiable_b(), 20_000, 0)[1]
    assert not np.any((states[:, 0] == 0) & (states[:, 1] == 1))


def test_fixed_model_is_used_as_it_is() -> None:
    model = subset_violation_a()
    problem = paper_problem(n_samples=30, random_state=0, model=model)
    assert problem.model == model
    assert problem.observations["X1"].shape == (30, 1)
    assert problem.dag == frozenset()
    assert paper_problem(2, 2, n_samples=30, random_state=0, model=model).model == model


def test_fixed_model_without_components_is_given_some() -> None:
    problem = paper_problem(
        n_samples=30, random_state=0, model=single_latent(), width=[2, 3], scale=0.5
    )
    assert problem.observations.widths == (2, 3)
    assert problem.model.components is not None
    for components in problem.model.components:
        assert isinstance(components, GaussianComponents)
        largest = np.linalg.eigvalsh(components.covariances)[:, -1]
        np.testing.assert_allclose(largest, 0.5, rtol=1e-12)


def test_dag_of_a_fixed_model_is_open_where_its_edges_are() -> None:
    assert paper_problem(n_samples=5, model=nonidentifiable_b()).dag is None


def test_one_dimensional_variables() -> None:
    problem = paper_problem(2, 5, 3, 20, 0, width=1, means="ball")
    assert problem.observations.widths == (1,) * 5


def test_no_latents_is_one_component_each() -> None:
    problem = paper_problem(0, 3, 2, 100, 0)
    assert problem.states.shape == (100, 0)
    assert problem.model.components is not None
    assert [held.n_components for held in problem.model.components] == [1, 1, 1]


def test_all_choices_reach_the_model() -> None:
    model = random_model(
        5,
        9,
        4,
        0,
        covariance=None,
        min_domain=3,
        max_joint_states=2_000,
        latent_density=1.0,
        bipartite_density=0.3,
        max_weight=1,
    )
    assert model.components is None
    assert min(model.domain_sizes) >= 3
    assert len(model.latent_graph.skeleton) == 10
    np.testing.assert_allclose(model.joint.table, 1 / model.joint.table.size, rtol=1e-12)


def test_problem_describes_and_checks_itself() -> None:
    problem = paper_problem(2, 5, 3, 40, 1)
    assert repr(problem).startswith("Problem(40 samples of LatentModel: 2 latents behind 5")
    with pytest.raises(ValueError, match="read-only"):
        problem.states[0, 0] = 1
    with pytest.raises(InvalidInputError, match=r"states should have shape \(40, 2\)"):
        replace(problem, states=problem.states[:10])
    renamed = replace(problem.model, observed_names=("a", "b", "c", "d", "e"))
    with pytest.raises(InvalidInputError, match="name the same variables"):
        Problem(problem.observations, renamed, problem.states, problem.dag)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"n_latent": None}, "give n_latent and n_observed, or a fixed model"),
        ({"n_latent": 6}, r"2\^6 joint states, more than 50"),
        ({"n_latent": -1}, "n_latent should be a whole number of at least 0"),
        ({"n_observed": 0}, "n_observed should be a whole number of at least 1"),
        ({"n_observed": 1}, "at most 1 latents with"),
        ({"max_domain": 1}, "max_domain should be a whole number of at least 2"),
        ({"n_samples": 0}, "n_samples should be a whole number of at least 1"),
        ({"n_samples": 10.5}, "n_samples should be a whole number"),
        ({"random_state": "seed"}, "random_state should be a non-negative int"),
        ({"random_state": -1}, "random_state should be a non-negative int"),
        ({"covariance": "full"}, "covariance should be one of 'text', 'code'; got 'full'"),
        ({"means": "cube"}, "means should be one of 'sphere', 'ball'; got 'cube'"),
        ({"scale": 0.0}, "scale should be positive and finite"),
        ({"scale": float("inf")}, "scale should be positive and finite"),
        ({"width": 0}, "width should be a whole number of at least 1"),
        ({"width": 1}, "use means='ball' with width 1"),
        ({"width": [5, 5]}, "one for each of the 5 observed variables; got 2"),
        ({"latent_density": 2.0}, "latent_density should lie between 0 and 1"),
        ({"bipartite_density": -0.1}, "bipartite_density should lie between 0 and 1"),
        ({"max_weight": 0}, "max_weight should be a whole number of at least 1"),
    ],
)
def test_bad_choices(choices: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {
        "n_latent": 2,
        "n_observed": 5,
        "max_domain": 3,
        "n_samples": 10,
        "random_state": 0,
    }
    with pytest.raises(InvalidInputError, match=message):
        paper_problem(**(arguments | choices))  # type: ignore[arg-type]


def test_choices_that_have_no_effect_are_refused() -> None:
    model = subset_violation_a()
    with pytest.raises(InvalidInputError, match="width cannot be chosen, because the fixed model"):
        paper_problem(model=model, width=2)
    with pytest.raises(InvalidInputError, match="orphans cannot be chosen"):
        paper_problem(model=single_latent(), orphans=True)
    with pytest.raises(InvalidInputError, match="n_latent is 3, but the fixed model has 2"):
        paper_problem(3, 2, model=model)
    with pytest.raises(InvalidInputError, match="n_observed is 3, but the fixed model has 2"):
        paper_problem(2, 3, model=model)
    with pytest.raises(InvalidInputError, match="scale describes components"):
        random_model(2, 5, 3, 0, covariance=None, scale=0.1)
    with pytest.raises(TypeError, match="colour"):
        random_model(2, 5, 3, 0, colour="red")  # type: ignore[call-arg]


def test_sampling_needs_components() -> None:
    with pytest.raises(InvalidInputError, match="needs a model with components"):
        sample(single_latent(), 10, 0)
    assert sample(random_components(single_latent(), 0), 10, 0)[0].n_samples == 10
