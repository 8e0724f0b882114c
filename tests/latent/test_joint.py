"""Algorithm 1 against the paper's tables, a literal transcription, and corrupted input."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.datasets import LayoutExample, binary_layout, random_model, ternary_layout
from mixoracle.errors import (
    AmbiguousIntersectionError,
    EmptyIntersectionError,
    GroupSizeError,
    InvalidInputError,
    NotInjectiveError,
    ProjectionError,
)
from mixoracle.latent import joint_table, layout
from mixoracle.model import LatentModel


def all_states(model: LatentModel) -> np.ndarray:
    """All joint states in C order, one a row."""
    return np.array(list(np.ndindex(*model.domain_sizes)), dtype=np.int64).reshape(
        -1, model.n_latent
    )


def shuffled(model: LatentModel, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The states behind the components, in random order, and L with its labels renamed."""
    states = rng.permutation(all_states(model))
    labels = model.component_of_states(states)
    for i in range(model.n_observed):
        labels[:, i] = rng.permutation(model.n_components(i))[labels[:, i]]
    return states, labels


def transcribed(labels: np.ndarray, adjacency: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Algorithm 1 line by line, its slips corrected, with no thought of speed."""
    n_components, n_latent = len(labels), len(sizes)
    arrows = [
        [
            {
                other
                for other in range(n_components)
                if np.array_equal(labels[other, ~adjacency[:, j]], labels[c, ~adjacency[:, j]])
            }
            for c in range(n_components)
        ]
        for j in range(n_latent)
    ]
    cells = np.zeros(sizes, dtype=np.int64)
    for j in range(n_latent):
        for state, component in enumerate(sorted(arrows[j][0])):
            cells[tuple(state if axis == j else 0 for axis in range(n_latent))] = component
    by_weight = sorted(product(*map(range, sizes)), key=np.count_nonzero)
    for cell in by_weight:
        support = [axis for axis, state in enumerate(cell) if state]
        if len(support) < 2:
            continue
        without = [tuple(0 if axis == a else s for axis, s in enumerate(cell)) for a in support]
        crossing = arrows[support[0]][cells[without[0]]] & arrows[support[-1]][cells[without[-1]]]
        (cells[cell],) = crossing
    return cells


def is_a_layout(cells: np.ndarray, labels: np.ndarray, adjacency: np.ndarray) -> bool:
    """Whether each component has one cell and each label depends on the parents' states alone."""
    if sorted(cells.ravel()) != list(range(len(labels))):
        return False
    for i, row in enumerate(adjacency):
        others = tuple(int(j) for j in np.flatnonzero(~row))
        placed = labels[:, i][cells]
        if np.any(placed.max(axis=others) != placed.min(axis=others)):
            return False
    return True


@pytest.mark.parametrize("example", [binary_layout(), ternary_layout()], ids=["binary", "ternary"])
def test_worked_examples_reproduce_the_papers_tables(example: LayoutExample) -> None:
    labels, model = example.projection.labels, example.model
    cells = layout(labels, model.bipartite, model.domain_sizes)
    for cell in np.ndindex(*model.domain_sizes):
        assert cells[cell] == example.layout[cell]
    joint = joint_table(labels, example.projection.weights, model.bipartite, model.domain_sizes)
    assert joint == model.joint


@pytest.mark.parametrize("seed", range(500))
def test_joint_comes_back_exactly_up_to_the_order_of_states(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_latent = int(rng.integers(1, 7))
    n_observed = int(rng.integers(n_latent + 1, 13))
    model = random_model(
        n_latent, n_observed, 5, rng, covariance=None, max_joint_states=800, orphans=True
    )
    states, labels = shuffled(model, rng)
    weights = model.joint.table[tuple(states.T)]
    cells = layout(labels, model.bipartite, model.domain_sizes)
    assert cells[(0,) * n_latent] == 0
    orders = []
    for j in range(n_latent):
        axis = np.moveaxis(cells, j, 0)[(slice(None),) + (0,) * (n_latent - 1)]
        assert list(axis) == sorted(axis)
        orders.append(states[axis, j])
    # Cell h holds the component whose state of H_j is the one that h_j names on axis j.
    for j, order in enumerate(orders):
        expected = np.moveaxis(np.broadcast_to(order, np.moveaxis(cells, j, -1).shape), -1, j)
        assert np.array_equal(states[cells, j], expected)
    joint = joint_table(labels, weights, model.bipartite, model.domain_sizes)
    assert np.array_equal(joint.table, model.joint.table[np.ix_(*orders)])


@pytest.mark.parametrize("seed", range(40))
def test_equals_the_transcribed_algorithm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(int(rng.integers(1, 5)), 7, 4, rng, covariance=None)
    _, labels = shuffled(model, rng)
    assert np.array_equal(
        layout(labels, model.bipartite, model.domain_sizes),
        transcribed(labels, model.bipartite, model.domain_sizes),
    )


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_permuting_observed_variables_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(3, 6, 4, rng, covariance=None)
    _, labels = shuffled(model, rng)
    order = rng.permutation(6)
    assert np.array_equal(
        layout(labels, model.bipartite, model.domain_sizes),
        layout(labels[:, order], model.bipartite[order], model.domain_sizes),
    )


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_permuting_latents_permutes_the_axes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(3, 6, 4, rng, covariance=None)
    _, labels = shuffled(model, rng)
    order = rng.permutation(3)
    cells = layout(labels, model.bipartite, model.domain_sizes)
    permuted = layout(labels, model.bipartite[:, order], np.array(model.domain_sizes)[order])
    assert np.array_equal(permuted, np.transpose(cells, order))


def test_many_label_values_do_not_overflow() -> None:
    # 40 columns of 512 labels each need 360 bits, more than any one word.
    model = random_model(9, 40, 2, 3, covariance=None, max_joint_states=None, bipartite_density=0.5)
    rng = np.random.default_rng(0)
    states, labels = shuffled(model, rng)
    cells = layout(labels, model.bipartite, model.domain_sizes)
    assert is_a_layout(cells, labels, model.bipartite)
    # Ids that a caller counts from somewhere else, with gaps, mean the same.
    assert np.array_equal(layout(labels * 10**6 + 5, model.bipartite, model.domain_sizes), cells)
    assert len(states) == cells.size


def test_no_latents() -> None:
    cells = layout([[0, 0]], np.zeros((2, 0)), [])
    assert cells.shape == ()
    assert cells == 0
    assert joint_table([[0, 0]], [1.0], np.zeros((2, 0)), []).table == 1.0
    with pytest.raises(GroupSizeError, match=r"need 1 components over X.*got 2"):
        layout([[0, 0], [1, 0]], np.zeros((2, 0)), [])


def test_one_latent_is_a_plain_mixture() -> None:
    joint = joint_table([[2, 0], [0, 1], [1, 2]], [0.5, 0.3, 0.2], [[1], [1]], [3])
    assert joint.table.tolist() == [0.5, 0.3, 0.2]


def corrupt(kind: str, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    changed = labels.copy()
    row, other = rng.choice(len(labels), 2, replace=False)
    column = rng.integers(labels.shape[1])
    if kind == "swap":
        changed[[row, other], column] = changed[[other, row], column]
    elif kind == "drop":
        changed = np.delete(changed, row, axis=0)
    elif kind == "duplicate":
        changed[row] = changed[other]
    elif kind == "append":
        changed = np.vstack([changed, changed[row]])
    elif kind == "merge":
        changed[changed[:, column] == changed[row, column], column] = changed[other, column]
    elif kind == "invent":
        changed[row, column] = changed[:, column].max() + 1
    else:
        changed[:, column] = rng.permutation(changed[:, column])
    return changed


@pytest.mark.parametrize("kind", ["swap", "merge", "invent", "shuffle"])
@pytest.mark.parametrize("seed", range(60))
def test_corrupted_labels_never_give_rubbish(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(int(rng.integers(1, 5)), int(rng.integers(4, 9)), 4, rng, covariance=None)
    labels = corrupt(kind, shuffled(model, rng)[1], rng)
    try:
        cells = layout(labels, model.bipartite, model.domain_sizes)
    except ProjectionError:
        return
    assert is_a_layout(cells, labels, model.bipartite)


@pytest.mark.parametrize(
    ("kind", "error"),
    [("drop", GroupSizeError), ("duplicate", NotInjectiveError), ("append", NotInjectiveError)],
)
@pytest.mark.parametrize("seed", range(30))
def test_missing_and_repeated_rows(kind: str, error: type[ProjectionError], seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(3, 6, 4, rng, covariance=None)
    labels = corrupt(kind, shuffled(model, rng)[1], rng)
    with pytest.raises(error, match="components"):
        layout(labels, model.bipartite, model.domain_sizes)


# With these parents the lines along H_j are the components that share the label of X_j, and X_4
# keeps L injective: any set of lines can be written down.
FREE_LINES = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1]])


def free_labels(*lines: list[int]) -> np.ndarray:
    return np.array([*lines, range(len(lines[0]))]).T


def test_lines_that_do_not_cross() -> None:
    labels = free_labels(
        [2, 3, 0, 1, 0, 2, 1, 3], [3, 2, 0, 3, 1, 2, 0, 1], [2, 1, 0, 0, 3, 3, 2, 1]
    )
    with pytest.raises(EmptyIntersectionError, match=r"component \d.*latent \d alone.*none does"):
        layout(labels, FREE_LINES, [2, 2, 2])


def test_lines_that_cross_twice() -> None:
    # Two latents with the same lines.
    labels = [[0, 0, 0], [0, 0, 1], [1, 1, 2], [1, 1, 3]]
    with pytest.raises(
        AmbiguousIntersectionError,
        match="component 1 in the state of latent 1 alone and from component 1 in the state of "
        "latent 0 alone; 2 do",
    ):
        layout(labels, [[1, 0], [0, 1], [1, 1]], [2, 2])


def test_component_that_fits_two_cells() -> None:
    labels = free_labels(
        [3, 0, 3, 1, 1, 2, 2, 0], [2, 0, 0, 3, 1, 3, 1, 2], [1, 1, 2, 0, 3, 3, 0, 2]
    )
    with pytest.raises(AmbiguousIntersectionError, match=r"fits both joint states \(.*\) and \("):
        layout(labels, FREE_LINES, [2, 2, 2])


def test_line_that_algorithm_1_never_looks_at() -> None:
    # The cells (1,0,1), (1,1,1), (2,0,1), (2,1,1) are found by their lines along H_1 and H_3;
    # exchanging their partners along H_2 leaves Algorithm 1 content and the grid wrong.
    sizes = (3, 2, 2)
    states = np.array(list(np.ndindex(*sizes)))
    lines = [
        np.unique(np.delete(states, j, axis=1), axis=0, return_inverse=True)[1].ravel()
        for j in range(3)
    ]
    numbers = np.arange(12).reshape(sizes)
    assert np.array_equal(layout(free_labels(*map(list, lines)), FREE_LINES, sizes), numbers)
    first, second = numbers[1, 1, 1], numbers[2, 1, 1]
    lines[1][[first, second]] = lines[1][[second, first]]
    with pytest.raises(EmptyIntersectionError, match="latent 1 alone, but differ outside"):
        layout(free_labels(*map(list, lines)), FREE_LINES, sizes)


@pytest.mark.parametrize("seed", range(20))
def test_subset_violation_is_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(3, 6, 3, rng, covariance=None)
    gamma = model.bipartite.copy()
    inner, outer = rng.choice(3, 2, replace=False)
    gamma[:, outer] |= gamma[:, inner]
    nested = LatentModel(
        observed_names=model.observed_names,
        latent_names=model.latent_names,
        bipartite=gamma,
        domain_sizes=model.domain_sizes,
        joint=model.joint,
        latent_graph=model.latent_graph,
    )
    with pytest.raises(GroupSizeError, match=rf"latent {outer} has.*subset condition"):
        layout(shuffled(nested, rng)[1], gamma, nested.domain_sizes)


def test_wrong_number_of_components_with_right_lines() -> None:
    # Two whole grids: every line is as long as it should be.
    labels = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 2], [2, 3], [3, 2], [3, 3]]
    with pytest.raises(GroupSizeError, match=r"need 4 components over X.*got 8"):
        layout(labels, [[1, 0], [0, 1]], [2, 2])


def test_long_lists_of_components_are_cut() -> None:
    labels = [[c, 0] for c in range(20)]
    with pytest.raises(GroupSizeError, match="20 do: components 0, 1, 2, 3, 4, 5, 6, 7, …"):
        layout(labels, [[1], [0]], [2])


@pytest.mark.parametrize(
    ("labels", "adjacency", "sizes", "message"),
    [
        ([0, 1], [[1]], [2], r"labels should have shape \(K, 1\)"),
        ([[0, 1]], [[1]], [2], r"labels should have shape \(K, 1\).*got \(1, 2\)"),
        (np.zeros((0, 1)), [[1]], [2], "labels should have shape"),
        ([[-1], [0]], [[1]], [2], "labels count from 0; got -1"),
        ([[0.5], [0]], [[1]], [2], "labels should be whole numbers"),
        ([[0], [1]], [[1]], [1], "at least 2"),
        ([[0], [1]], [[1]], [2, 2], "one size for each of the 1 latents"),
        ([[0], [1]], [1], [2], "shape"),
        ([[0], [1]], [[2]], [2], "only 0/1"),
    ],
)
def test_bad_input(labels: object, adjacency: object, sizes: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        layout(labels, adjacency, sizes)


def test_joint_table_checks_its_weights() -> None:
    with pytest.raises(InvalidInputError, match="sum to 1"):
        joint_table([[0], [1]], [0.5, 0.6], [[1]], [2])
