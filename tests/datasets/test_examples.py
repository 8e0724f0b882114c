"""The worked examples say what the paper says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mixoracle.datasets import (
    binary_layout,
    dependent_latents,
    independent_latents,
    nonidentifiable_a,
    nonidentifiable_b,
    nonidentifiable_s3,
    single_latent,
    subset_violation_a,
    subset_violation_b,
    ternary_layout,
)
from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, LatentModel


def density(model: LatentModel, x: np.ndarray) -> np.ndarray:
    """The density of P(X) at each row of ``x``, one column for each scalar X_i."""
    states = np.array(list(np.ndindex(*model.domain_sizes)))
    labels = model.component_of_states(states)
    total = np.tile(model.joint.table.ravel(), (len(x), 1))
    assert model.components is not None
    for i, components in enumerate(model.components):
        total *= np.exp(components.log_density(x[:, [i]]))[:, labels[:, i]]
    return total.sum(axis=1)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (nonidentifiable_a, nonidentifiable_b),
        (nonidentifiable_a, nonidentifiable_s3),
        (subset_violation_a, subset_violation_b),
    ],
)
def test_models_that_cannot_be_told_apart(
    first: Callable[[], LatentModel], second: Callable[[], LatentModel]
) -> None:
    grid = np.stack(np.meshgrid(np.linspace(-5, 5, 41), np.linspace(-5, 5, 41)), -1).reshape(-1, 2)
    at_first, at_second = density(first(), grid), density(second(), grid)
    np.testing.assert_allclose(at_first, at_second, rtol=1e-12)
    assert at_first.max() > 0.05
    assert first() != second()


def test_the_two_families_are_different() -> None:
    x = np.array([[-3.0, -2.0]])
    assert abs(density(nonidentifiable_a(), x) - density(subset_violation_a(), x)) > 0.01


def test_what_violates_what() -> None:
    assert nonidentifiable_a().joint.table.min() > 0
    assert nonidentifiable_b().joint.table.min() == 0
    components = nonidentifiable_a().components
    assert components is not None
    assert components[1].first_equal()[2] == 0
    of_s3 = nonidentifiable_s3().components
    assert of_s3 is not None
    # The paper says that S_3 satisfies nondegeneracy; for S = {X_1} and {X_2} it does not.
    assert of_s3[0].first_equal().tolist() == [0, 1, 1]
    assert of_s3[1].first_equal()[1] == 0
    for model in (subset_violation_a(), subset_violation_b()):
        assert set(model.children(0)) < set(model.children(1))


def test_graphs_of_the_non_identifiable_models() -> None:
    edge = CPDAG(2, undirected=frozenset([frozenset({0, 1})]))
    assert nonidentifiable_a().latent_graph == CPDAG(2)
    assert nonidentifiable_b().latent_graph == edge
    assert subset_violation_a().latent_graph == CPDAG(2)
    assert subset_violation_b().latent_graph == edge
    # The edge of B is real: its P(H) is no product.
    table = subset_violation_b().joint.table
    assert np.abs(table - np.outer(table.sum(axis=1), table.sum(axis=0))).max() > 0.05


def test_conditional_probabilities_of_model_b() -> None:
    table = subset_violation_b().joint.table
    np.testing.assert_allclose(table.sum(axis=0), [1 / 3, 2 / 3])
    np.testing.assert_allclose(table / table.sum(axis=0), [[1 / 3, 2 / 3], [2 / 3, 1 / 3]])


def test_figure_model() -> None:
    assert single_latent().bipartite.tolist() == [[True], [True]]
    assert independent_latents().bipartite.tolist() == [[True, False], [False, True]]
    table = independent_latents().joint.table
    np.testing.assert_allclose(table, np.outer(table.sum(axis=1), table.sum(axis=0)))
    model = dependent_latents()
    assert model.parents(2) == (1, 2)
    assert len(model.latent_graph.undirected) == 3
    # P(H_3 = 0) P(H_1 = 1 | H_3 = 0) P(H_2 = 0 | H_1 = 1, H_3 = 0)
    assert model.joint.table[1, 0, 0] == pytest.approx(0.6 * 0.3 * 0.4)


def test_layouts_are_as_the_paper_prints_them() -> None:
    binary, ternary = binary_layout(), ternary_layout()
    # The paper's component 6 (5 here) sits at H = (1, 0, 0), and so on.
    for cell, component in {(1, 0, 0): 6, (0, 1, 0): 3, (0, 0, 1): 5, (1, 1, 1): 4}.items():
        assert binary.layout[cell] == component - 1
    for ternary_cell, component in {(1, 0): 7, (2, 0): 8, (0, 1): 4, (1, 1): 6, (1, 2): 3}.items():
        assert ternary.layout[ternary_cell] == component - 1
    assert binary.projection.labels[6].tolist() == [2, 0, 1]
    assert ternary.projection.labels[8].tolist() == [5, 2, 2, 1]
    assert [len(np.unique(column)) for column in ternary.projection.labels.T] == [9, 3, 3, 3]
    assert ternary.model.n_components(0) == 9


def test_a_layout_example_checks_itself() -> None:
    example = binary_layout()
    with pytest.raises(InvalidInputError, match="weights as the layout places them"):
        replace(example, layout=example.layout[::-1].copy())
