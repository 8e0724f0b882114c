"""States of a cause inside another's reach get one name wherever they act alike."""

from dataclasses import replace

import numpy as np
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.inference.alignment import aligned
from mixoracle.inference.refine import Refinement
from mixoracle.model import GaussianComponents, JointTable
from mixoracle.model.joint_states import codes_of_parents, configurations, flat, states_of_cells

SIZES = (3, 4)
# The first drives everything, so that the subset condition fails for the second.
NESTED = np.array([[True, False], [True, True], [True, True]])


def refinement(rng, adjacency=NESTED, sizes=SIZES):
    """A model in which causes act additively, and a hundred rows of it."""
    codes = configurations(adjacency, sizes)
    states = np.stack(np.unravel_index(np.arange(len(codes)), sizes), axis=1)
    components = []
    for parents, code in zip(adjacency, codes.T, strict=True):
        effects = [rng.normal(scale=5.0, size=(size, 2)) for size in sizes]
        means = np.zeros((code.max() + 1, 2))
        means[code] = sum(effects[j][states[:, j]] for j in np.flatnonzero(parents))
        means += rng.normal(scale=0.1, size=means.shape)
        components.append(GaussianComponents(means, np.tile(np.eye(2), (len(means), 1, 1))))
    weights = rng.dirichlet(np.full(len(codes), 5.0))
    rows = rng.choice(len(codes), 100, p=weights)
    joint = JointTable(weights.reshape(sizes))
    return Refinement(
        joint, tuple(components), states_of_cells(rows, sizes), 0.0, 0.0, (0.0,), True
    )


def blocks_of(held, rng, adjacency=NESTED):
    """The rows of the model, in the coordinates of its components."""
    codes = codes_of_parents(held.states, adjacency, SIZES)
    return [
        component.sample(code, rng)
        for component, code in zip(held.components, codes.T, strict=True)
    ]


def renamed(held, rng):
    """The same model, the states of the second cause named anew in each state of the first."""
    names = np.stack([rng.permutation(SIZES[1]) for _ in range(SIZES[0])])
    old = (np.arange(SIZES[0])[:, None] * SIZES[1] + names).ravel()
    components = tuple(
        component if i == 0 else component.take(old) for i, component in enumerate(held.components)
    )
    rows = states_of_cells(np.argsort(old)[flat(held.states, SIZES)], SIZES)
    joint = JointTable(held.joint.table.ravel()[old].reshape(SIZES))
    return Refinement(joint, components, rows, 0.0, 0.0, (0.0,), True)


@pytest.mark.parametrize("seed", range(20))
def test_names_that_were_mixed_up_are_found_again(seed):
    rng = np.random.default_rng(seed)
    held = refinement(rng)
    answer, chosen = aligned(NESTED, SIZES, renamed(held, rng), blocks_of(held, rng))
    assert chosen == [(1, [0])]
    # One permutation of the second cause's names is left, the same in each state of the first.
    first, second = held.states.T
    again = answer.states.T
    np.testing.assert_array_equal(again[0], first)
    pairs = {(int(a), int(b)) for a, b in zip(second, again[1], strict=True)}
    assert len(pairs) == SIZES[1]
    names = np.empty(SIZES[1], dtype=int)
    for old, new in pairs:
        names[new] = old
    np.testing.assert_allclose(answer.joint.table, held.joint.table[:, names])
    order = (np.arange(SIZES[0])[:, None] * SIZES[1] + names).ravel()
    for before, after in zip(held.components[1:], answer.components[1:], strict=True):
        np.testing.assert_allclose(
            after.averages().values, before.averages().values[order], err_msg=str(seed)
        )


def test_nothing_is_chosen_where_the_subset_condition_holds():
    adjacency = np.array([[True, False], [True, True], [False, True]])
    rng = np.random.default_rng(0)
    held = refinement(rng, adjacency)
    answer, chosen = aligned(adjacency, SIZES, held, blocks_of(held, rng, adjacency))
    assert chosen == []
    assert answer is held


@pytest.mark.parametrize("seed", range(3))
def test_a_cause_inside_anothers_reach_is_the_same_in_all_its_states(seed):
    rng = np.random.default_rng(seed)
    outer, inner = rng.integers(2, size=800), rng.integers(3, size=800)
    columns = [8.0 * outer, 9.0 * outer, 25.0 * inner + 6.0 * outer, 30.0 * inner - 7.0 * outer]
    learner = LatentGraphLearner(random_state=0)
    with pytest.warns(UserWarning, match="subset condition"):
        learner.fit(np.stack(columns, axis=1) + rng.normal(size=(800, 4)))
    assert sorted(learner.model_.domain_sizes) == [2, 3]
    found = learner.states_[:, learner.model_.domain_sizes.index(3)]
    assert len(set(zip(inner.tolist(), found.tolist(), strict=True))) == 3
    assert any("no data tell which of its states are the same" in r for r in learner.repairs_)


@pytest.mark.parametrize("seed", range(5))
def test_a_child_that_hardly_shows_the_cause_has_hardly_a_say(seed):
    """It changes by a tenth of its scatter, in another order in each state of the first."""
    rng = np.random.default_rng(seed)
    held = refinement(rng)
    code = configurations(NESTED, SIZES)[:, 1]
    means = np.zeros((code.max() + 1, 2))
    means[:] = np.concatenate([0.1 * rng.permutation(SIZES[1]) for _ in range(SIZES[0])])[:, None]
    weak = GaussianComponents(means, held.components[1].covariances)
    held = replace(held, components=(held.components[0], weak, held.components[2]))
    answer, _ = aligned(NESTED, SIZES, renamed(held, rng), blocks_of(held, rng))
    pairs = set(zip(held.states[:, 1].tolist(), answer.states[:, 1].tolist(), strict=True))
    assert len(pairs) == SIZES[1]
