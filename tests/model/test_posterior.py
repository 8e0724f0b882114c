from dataclasses import replace
from math import prod

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from mixoracle.datasets import random_model
from mixoracle.errors import InvalidInputError
from mixoracle.model import JointTable, posterior
from mixoracle.model.joint_states import states_of_cells
from mixoracle.model.posterior import (
    draw,
    mean_log_likelihood,
    most_likely_states,
    posterior_chunks,
    state_probabilities,
)

SEEDS = range(8)


def drawn(seed, n_rows=12, n_latent=2):
    """A model whose components overlap, so that rows are undecided, and rows from it."""
    model = random_model(n_latent, 4, 3, seed, width=2, scale=1.0)
    blocks, states = draw(model, n_rows, np.random.default_rng(seed))
    return model, blocks, states


def log_joint_by_force(model, blocks):
    """Log P(x, h), (rows, joint states), one term at a time."""
    states = [*np.ndindex(*model.domain_sizes)]
    answer = np.empty((len(blocks[0]), len(states)))
    with np.errstate(divide="ignore"):
        log_table = np.log(model.joint.table)
    for h, state in enumerate(states):
        labels = model.component_of_states(np.array([state], dtype=np.int64))[0]
        for row in range(len(blocks[0])):
            answer[row, h] = log_table[state] + sum(
                stats.multivariate_normal(
                    held.means[labels[i]], held.covariances[labels[i]]
                ).logpdf(blocks[i][row])
                for i, held in enumerate(model.components)
            )
    return answer


@pytest.fixture(params=[None, 7], ids=["at once", "row by row"])
def chunk_entries(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(posterior, "_CHUNK_ENTRIES", request.param)


@pytest.mark.usefixtures("chunk_entries")
@pytest.mark.parametrize("seed", SEEDS)
def test_everything_agrees_with_the_sum_over_joint_states(seed):
    model, blocks, _ = drawn(seed)
    joint = log_joint_by_force(model, blocks)
    total = logsumexp(joint, axis=1)
    assert mean_log_likelihood(model, blocks) == pytest.approx(total.mean(), rel=1e-9)
    states = np.array([*np.ndindex(*model.domain_sizes)])
    np.testing.assert_array_equal(most_likely_states(model, blocks), states[joint.argmax(axis=1)])
    share = np.exp(joint - total[:, None]).reshape(-1, *model.domain_sizes)
    for j, found in enumerate(state_probabilities(model, blocks)):
        others = tuple(axis + 1 for axis in range(model.n_latent) if axis != j)
        np.testing.assert_allclose(found, share.sum(axis=others), atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_states_of_probability_zero_take_no_part(seed):
    model, blocks, _ = drawn(seed)
    table = model.joint.table.copy()
    table[-1] = 0.0
    model = replace(model, joint=JointTable(table / table.sum()))
    np.testing.assert_array_equal(state_probabilities(model, blocks)[0][:, -1], 0.0)
    assert most_likely_states(model, blocks)[:, 0].max() < model.domain_sizes[0] - 1
    total = logsumexp(log_joint_by_force(model, blocks), axis=1)
    assert mean_log_likelihood(model, blocks) == pytest.approx(total.mean(), rel=1e-9)
    _, states = draw(model, 500, np.random.default_rng(seed))
    assert states[:, 0].max() < model.domain_sizes[0] - 1


def test_chunks_cover_the_rows_once(monkeypatch):
    monkeypatch.setattr(posterior, "_CHUNK_ENTRIES", 50)
    model, blocks, _ = drawn(1, n_rows=30)
    chunks = list(posterior_chunks(model, blocks))
    assert len(chunks) > 1
    rows = np.concatenate([np.arange(30)[rows] for rows, _ in chunks])
    np.testing.assert_array_equal(rows, np.arange(30))


def test_chunks_are_small_for_many_variables_too(monkeypatch):
    monkeypatch.setattr(posterior, "_CHUNK_ENTRIES", 1000)
    model, blocks, _ = drawn(1, n_rows=200)
    several = 20
    wide = replace(
        model,
        observed_names=[f"X{i + 1}" for i in range(several * model.n_observed)],
        bipartite=np.tile(model.bipartite, (several, 1)),
        components=model.components * several,
    )
    for rows, _ in posterior_chunks(wide, blocks * several):
        n_rows = rows.stop - rows.start
        assert n_rows * sum(held.n_components for held in wide.components) <= 1000


def test_rows_far_from_every_component_still_have_probabilities():
    model, blocks, _ = drawn(0)
    far = [block + 1e6 for block in blocks]
    for found in state_probabilities(model, far):
        np.testing.assert_allclose(found.sum(axis=1), 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_without_latents_the_model_is_a_product_of_normals(seed):
    model, blocks, _ = drawn(seed, n_latent=0)
    expected = sum(
        held.log_density(block)[:, 0].mean()
        for held, block in zip(model.components, blocks, strict=True)
    )
    assert mean_log_likelihood(model, blocks) == pytest.approx(expected)
    assert most_likely_states(model, blocks).shape == (12, 0)
    assert state_probabilities(model, blocks) == []


@pytest.mark.parametrize("seed", range(5))
def test_draws_follow_the_joint_table_and_the_components(seed):
    model = random_model(2, 4, 3, seed, width=2)
    blocks, states = draw(model, 20_000, np.random.default_rng(seed))
    flat = np.ravel_multi_index(states.T, model.domain_sizes)
    observed = np.bincount(flat, minlength=prod(model.domain_sizes))
    # One draw of this size differs from its law this much once in ten thousand times.
    assert stats.chisquare(observed, 20_000 * model.joint.table.ravel()).pvalue > 1e-4
    labels = model.component_of_states(states)
    for i, held in enumerate(model.components):
        for component in range(held.n_components):
            rows = blocks[i][labels[:, i] == component]
            error = np.abs(rows.mean(axis=0) - held.means[component])
            bound = 6.0 * np.sqrt(np.diag(held.covariances[component]) / len(rows))
            assert np.all(error < bound)


def test_cells_count_in_c_order():
    np.testing.assert_array_equal(states_of_cells(np.arange(6), (2, 3)), [*np.ndindex(2, 3)])
    assert states_of_cells(np.zeros(4, dtype=np.int64), ()).shape == (4, 0)


def test_a_model_without_components_cannot_judge_rows():
    model, blocks, _ = drawn(0)
    bare = replace(model, components=None)
    with pytest.raises(InvalidInputError, match="model with components"):
        mean_log_likelihood(bare, blocks)
    with pytest.raises(InvalidInputError, match="model with components"):
        draw(bare, 3, np.random.default_rng(0))


def test_blocks_of_another_width_are_refused():
    model, blocks, _ = drawn(0)
    with pytest.raises(InvalidInputError, match=r"X2 should have 2 columns .*; got 1"):
        most_likely_states(model, [blocks[0], blocks[1][:, :1], *blocks[2:]])
