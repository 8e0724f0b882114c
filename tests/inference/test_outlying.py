"""Outlying values do not become states; values that are only lonely come back."""

import warnings

import numpy as np
import pytest

from mixoracle import LatentGraphLearner, Observations
from mixoracle.datasets import kind_problem, paper_problem, with_gaps
from mixoracle.errors import AssumptionWarning
from mixoracle.metrics import compare, compare_states
from mixoracle.mixtures.preparation import prepare
from mixoracle.model.reading import learned_reading

pytestmark = pytest.mark.filterwarnings("ignore::mixoracle.errors.AssumptionWarning")


def spoiled(seed, share, whole_rows):
    problem = paper_problem(2, 5, 3, 1_500, random_state=seed, covariance="code")
    rng = np.random.default_rng(seed)
    blocks, hits = {}, []
    everywhere = rng.random(1_500) < share
    everywhere[7] = True  # at least one
    for name in problem.observations.names:
        block = problem.observations[name].copy()
        hit = everywhere if whole_rows else rng.random(1_500) < share
        block[hit] += 30.0 * block.std() * rng.normal(size=(int(hit.sum()), block.shape[1]))
        blocks[name] = block
        hits.append(hit)
    return problem, Observations.from_arrays(blocks), np.stack(hits, axis=1)


def is_exact(problem, learner):
    found = compare(problem.model, learner.model_)
    return found.bipartite_exact and found.domains_exact


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("whole_rows", [True, False])
@pytest.mark.parametrize("share", [0.001, 0.02])
def test_outlying_values_do_not_become_states(seed, whole_rows, share):
    problem, observations, hits = spoiled(seed, share, whole_rows)
    learner = LatentGraphLearner(random_state=0).fit(observations)
    assert is_exact(problem, learner)
    assert learner.set_aside_[hits].mean() > 0.95
    assert learner.set_aside_[~hits].mean() < 0.001
    untouched = ~hits.any(axis=1)
    right = compare_states(problem.states[untouched], learner.states_[untouched])
    assert right.joint_accuracy > 0.99


def test_with_the_switch_off_every_value_counts():
    problem, observations, _ = spoiled(0, 0.02, False)
    learner = LatentGraphLearner(random_state=0, set_aside=False).fit(observations)
    assert not learner.set_aside_.any()
    assert not is_exact(problem, learner)


@pytest.mark.parametrize("setting", [(1, 3, 5), (2, 5, 3), (3, 7, 4), (4, 8, 3)])
@pytest.mark.parametrize("n_samples", [300, 1_000, 4_000])
def test_of_clean_data_hardly_a_value_is_set_aside(setting, n_samples):
    for seed in range(3):
        problem = paper_problem(*setting, n_samples, random_state=seed, covariance="code")
        assert prepare(problem.observations).set_aside.mean() < 0.001


@pytest.mark.parametrize("seed", range(3))
def test_new_rows_are_read_like_those_learned_from(seed):
    _, observations, hits = spoiled(seed, 0.02, False)
    learner = LatentGraphLearner(random_state=0).fit(observations)
    np.testing.assert_array_equal(learner.predict(observations), learner.states_)
    far = {name: observations[name][:1] + 1e6 for name in observations.names}
    first = {**far, "X1": observations["X1"][:1]}
    if not hits[0, 0]:
        alone = {**{name: np.full_like(far[name], np.nan) for name in far}, "X1": first["X1"]}
        np.testing.assert_allclose(
            learner.predict_proba(Observations.from_arrays(first))[0],
            learner.predict_proba(Observations.from_arrays(alone))[0],
        )


def test_a_tenth_of_a_percent_of_a_wide_block_is_set_aside_without_loss_of_dependence():
    rng = np.random.default_rng(0)
    state = rng.integers(3, size=900)
    mixing = rng.normal(size=(4, 30))
    blocks = {
        name: 3.0 * rng.normal(size=(3, 30))[state] + rng.normal(size=(900, 4)) @ mixing
        for name in ("a", "b", "c")
    }
    blocks["a"][5] += 1e4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner = LatentGraphLearner(random_state=0).fit(Observations.from_arrays(blocks))
    assert learner.set_aside_.sum() == 1
    assert learner.set_aside_[5, 0]
    assert type(learner.model_.components[0]).__name__ == "GaussianComponents"


def rounded(observations):
    """Each block in steps of one standard deviation of its noise."""
    steps = {name: np.round(observations[name] / 0.05) for name in observations.names}
    return Observations.from_arrays({name: 0.05 * own for name, own in steps.items()})


def wide(n_columns, seed):
    """Three blocks of so many columns, more than are looked at one by one."""
    rng = np.random.default_rng(seed)
    states = rng.integers(3, size=900)
    blocks = (
        rng.normal(size=(3, 900, n_columns)) + 5.0 * rng.normal(size=(3, 3, n_columns))[:, states]
    )
    return Observations.from_arrays({f"X{i + 1}": block for i, block in enumerate(blocks)})


def of_any_kind(kind, seed):
    if kind in {"categorical", "counts", "gamma", "mixed"}:
        return kind_problem(2, 6, 3, 900, seed, kind).observations
    if kind in {"60 columns", "150 columns"}:
        return wide(int(kind.split()[0]), seed)
    if kind == "spoiled":
        return spoiled(seed, 0.01, False)[1]
    if kind == "spoiled and rounded":
        return rounded(spoiled(seed, 0.01, False)[1])
    observations = paper_problem(2, 6, 3, 900, random_state=seed, covariance="code").observations
    if kind == "missing":
        return with_gaps(observations, 0.1, seed)
    return rounded(observations) if kind == "rounded" else observations


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "kind",
    [
        "numbers",
        "missing",
        "rounded",
        "spoiled",
        "spoiled and rounded",
        "60 columns",
        "150 columns",
        "categorical",
        "counts",
        "gamma",
        "mixed",
    ],
)
def test_a_few_rows_tell_what_is_usual_of_all(kind, seed):
    observations = of_any_kind(kind, seed)
    learner = LatentGraphLearner(random_state=seed).fit(observations)
    model, prepared = learner.model_, prepare(observations)
    aside, repeated = learner.set_aside_, model.reading.repeated
    columns, levels = model.reading.columns, model.reading.levels
    blocks = [observations[name] for name in observations.names]
    limits = np.array(model.reading.set_aside)
    by_all = learned_reading(model, columns, levels, blocks, aside, limits, None, repeated)
    np.testing.assert_allclose(model.reading.usual, by_all.usual, rtol=1e-9)
    assert model.reading.together == pytest.approx(by_all.together, rel=1e-9)
    assert prepared.spread.any() == ("rounded" in kind)
    if kind != "missing" and "spoiled" not in kind:
        assert not model.unlike(observations).any()
