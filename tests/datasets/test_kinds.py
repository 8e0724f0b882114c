"""Problems of other kinds: the paper's graphs, values of the right kind, fair separation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixoracle import assumptions
from mixoracle.datasets import KINDS, kind_problem, random_model
from mixoracle.errors import InvalidInputError
from mixoracle.model import (
    CategoricalComponents,
    ComponentSet,
    CountComponents,
    GammaComponents,
    LatentModel,
    ProductComponents,
)
from mixoracle.model.posterior import most_likely_states

SETTINGS = [(m, n, d) for m in (2, 3) for n in (6, 8) for d in (3, 4)]
FAMILIES: dict[str, type[ComponentSet]] = {
    "categorical": CategoricalComponents,
    "counts": CountComponents,
    "gamma": GammaComponents,
    "mixed": ProductComponents,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_graph_is_the_papers_and_the_assumptions_hold(kind: str, seed: int) -> None:
    setting = SETTINGS[seed]
    problem = kind_problem(*setting, 20, seed, kind)  # type: ignore[arg-type]
    model = problem.model
    assert replace(model, components=None) == random_model(*setting, seed, covariance=None)
    assert model.components is not None
    assert all(type(held) is FAMILIES[kind] for held in model.components)
    assert all(verdict.holds for verdict in assumptions.check(model))
    assert problem.states.shape == (20, model.n_latent)


def block_accuracy(held: ComponentSet, rng: np.random.Generator) -> float:
    """How often the Bayes rule finds the component of a row among equally likely ones."""
    labels = rng.integers(held.n_components, size=2_000)
    rows = held.sample(labels, rng)
    return float(np.mean(held.log_density(rows).argmax(axis=1) == labels))


@pytest.mark.parametrize("kind", KINDS)
def test_separation_is_what_the_docstring_says(kind: str) -> None:
    few, many = [], []
    for seed in range(20):
        model = kind_problem(*SETTINGS[seed % len(SETTINGS)], 1, seed, kind).model  # type: ignore[arg-type]
        assert model.components is not None
        rng = np.random.default_rng(seed)
        for held in model.components:
            reached = few if held.n_components <= 9 else many
            reached.append(block_accuracy(held, rng))
    assert 0.98 < np.mean(few) < 0.998
    assert min(few) > 0.93
    assert 0.92 < np.mean(many) < 0.99


@pytest.mark.parametrize("kind", KINDS)
def test_all_blocks_together_show_the_hidden_states(kind: str) -> None:
    problem = kind_problem(3, 8, 3, 1_000, 2, kind)  # type: ignore[arg-type]
    blocks = [problem.observations[name] for name in problem.observations]
    found = most_likely_states(problem.model, blocks)
    assert np.mean(np.all(found == problem.states, axis=1)) > 0.99


def test_values_are_of_their_kind() -> None:
    letters = ("a", "b", "c", "d")
    answers = kind_problem(2, 5, 3, 300, 0, "categorical").observations
    assert set(answers.levels) == {(letters,) * 5}
    counts = kind_problem(2, 5, 3, 300, 0, "counts").observations
    assert np.array_equal(counts.values, np.floor(counts.values))
    assert counts.values.min() >= 0
    assert counts.levels[0] == (None,) * 5
    assert kind_problem(2, 5, 3, 300, 0, "gamma").observations.values.min() > 0
    mixed = kind_problem(2, 5, 3, 300, 0, "mixed").observations
    assert mixed.levels[0] == (None, None, letters, letters, None)
    assert np.array_equal(mixed["X1"][:, 4], np.floor(mixed["X1"][:, 4]))


def test_some_counts_are_poisson_and_some_vary_more() -> None:
    model = kind_problem(2, 6, 4, 1, 0, "counts").model
    assert model.components is not None
    sizes = np.concatenate(
        [held.sizes.ravel() for held in model.components if isinstance(held, CountComponents)]
    )
    assert 0.3 < np.isinf(sizes).mean() < 0.7


def test_width_and_levels_are_free() -> None:
    narrow = kind_problem(2, 5, 3, 50, 1, "categorical", width=2, n_levels=6).observations
    assert narrow.widths == (2,) * 5
    assert narrow.levels[0][0] == tuple("abcdef")
    wide = kind_problem(2, 5, 3, 50, 1, "mixed", width=7, n_levels=3).observations
    kinds = [held is not None for held in wide.levels[0]]
    assert kinds == [False, False, True, True, False, False, False]


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_problem_and_a_saved_model_comes_back(kind: str, tmp_path: object) -> None:
    first = kind_problem(2, 5, 3, 50, 9, kind)  # type: ignore[arg-type]
    again = kind_problem(2, 5, 3, 50, np.random.default_rng(9), kind)  # type: ignore[arg-type]
    assert first.model == again.model
    assert first.observations == again.observations
    assert kind_problem(2, 5, 3, 10, 9, kind).model == first.model  # type: ignore[arg-type]
    assert kind_problem(2, 5, 3, 50, 8, kind).model != first.model  # type: ignore[arg-type]
    first.model.save(str(tmp_path))
    assert LatentModel.load(str(tmp_path)) == first.model


def test_bad_choices_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="kind should be one of 'categorical', 'counts'"):
        kind_problem(2, 5, 3, 10, 0, "text")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"width should be .* at least 1; got 0"):
        kind_problem(2, 5, 3, 10, 0, width=0)
    with pytest.raises(InvalidInputError, match=r"n_levels should be .* at least 2; got 1"):
        kind_problem(2, 5, 3, 10, 0, n_levels=1)
    with pytest.raises(InvalidInputError, match="n_levels should be at most 26"):
        kind_problem(2, 5, 3, 10, 0, n_levels=27)
    with pytest.raises(InvalidInputError, match=r"n_samples should be .* at least 1; got 0"):
        kind_problem(2, 5, 3, 0, 0)
