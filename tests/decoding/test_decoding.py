from dataclasses import replace

import numpy as np
import pytest

from mixoracle.assumptions import no_twins, subset_condition
from mixoracle.datasets import paper_problem
from mixoracle.decoding import decode
from mixoracle.decoding.completion import complete
from mixoracle.decoding.decoding import improved
from mixoracle.decoding.explanation import Proposal, structure_of
from mixoracle.labels.association import Association
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model import Bipartite
from mixoracle.model.joint_states import configurations, distinct_rows
from mixoracle.settings import Budget, Settings

SETTINGS = ((1, 4, 4), (2, 5, 3), (2, 6, 3), (2, 7, 2), (1, 3, 5), (2, 6, 2), (2, 5, 4), (3, 7, 2))
SEEDS = range(len(SETTINGS))


def drawn(seed, n_samples=1000):
    """A problem, its blocks and the true component of each variable in each row."""
    problem = paper_problem(
        *SETTINGS[seed % len(SETTINGS)], n_samples, random_state=seed, covariance="code"
    )
    blocks = [problem.observations[i] for i in range(problem.model.n_observed)]
    return problem.model, blocks, problem.model.component_of_states(problem.states)


@pytest.fixture(scope="module")
def table_from(table_of):
    """What the decoder sees if these are the labels of the rows."""

    def build(labels, blocks):
        rows, where, _ = distinct_rows(labels)
        return table_of(rows, where, blocks)

    return build


def part_of(table, kept):
    statistics = tuple(held[kept] for held in table.statistics)
    labels, counts = table.labels[kept], table.counts[kept]
    return replace(table, labels=labels, statistics=statistics, counts=counts)


def spare_variables(model):
    """Variables that can be left out: the others still determine all latents."""
    spare = []
    for i in range(model.n_observed):
        left = np.delete(model.bipartite, i, axis=0)
        if left.any(axis=0).all():
            graph = Bipartite(left, model.domain_sizes)
            if no_twins(graph).holds and subset_condition(graph).holds:
                spare.append(i)
    return spare


def with_two_components_merged(labels, rng, variables):
    """Two components of one variable look like one."""
    labels = labels.copy()
    i = rng.choice(variables)
    first, second = rng.choice(np.unique(labels[:, i]), size=2, replace=False)
    labels[labels[:, i] == second, i] = first
    return labels


def with_spurious_rows(labels, rng, variables):
    """Five rows have a wrong label in one variable, so that new tuples appear."""
    labels = labels.copy()
    for row in rng.choice(len(labels), size=5, replace=False):
        i = rng.choice(variables)
        labels[row, i] = rng.integers(labels[:, i].max() + 1)
    return labels


@pytest.mark.parametrize("seed", range(16))
def test_right_labels_need_no_repair(table_from, structure_of, is_same_partition, seed):
    model, blocks, labels = drawn(seed)
    table = table_from(labels, blocks)
    best = decode(table)[0]
    assert best.is_consistent
    assert best.structure == structure_of(model)
    codes = configurations(best.adjacency, best.domain_sizes)[best.assignment]
    for i in range(model.n_observed):
        assert is_same_partition(table.labels[:, i], codes[:, i])


@pytest.mark.parametrize("seed", [1, 2, 3, 6])
@pytest.mark.parametrize("corrupt", [with_two_components_merged, with_spurious_rows])
def test_wrong_labels_in_a_variable_that_can_be_spared_are_repaired(
    table_from, structure_of, corrupt, seed
):
    """How often in general: benchmarks/bench_decoding.py."""
    model, blocks, labels = drawn(seed)
    wrong = corrupt(labels, np.random.default_rng(seed), spare_variables(model))
    assert decode(table_from(wrong, blocks))[0].structure == structure_of(model)


@pytest.mark.parametrize("seed", [6, 9, 10, 18, 19, 31])
def test_joint_states_never_seen_are_no_obstacle(table_from, structure_of, seed):
    """About a tenth of the tuples is missing; the common parts still hold together."""
    model, blocks, labels = drawn(seed)
    table = table_from(labels, blocks)
    kept = np.random.default_rng(seed).random(table.n_components) < 0.9
    assert not kept.all()
    assert decode(part_of(table, kept))[0].structure == structure_of(model)


@pytest.mark.parametrize("seed", range(4))
def test_explanations_are_distinct_and_ordered_by_evidence(table_from, seed):
    _, blocks, labels = drawn(seed)
    wrong = with_spurious_rows(labels, np.random.default_rng(seed), range(len(blocks)))
    explanations = decode(table_from(wrong, blocks))
    evidence = [explanation.log_evidence for explanation in explanations]
    assert evidence == sorted(evidence, reverse=True)
    assert len({explanation.structure for explanation in explanations}) == len(explanations)
    for explanation in explanations:
        assert explanation.adjacency.any(axis=0).all()
        assert explanation.assignment.min() >= 0
        assert explanation.assignment.max() < np.prod(explanation.domain_sizes, dtype=int)


def test_the_last_resort_is_one_latent_for_everything(table_from):
    """Repairs leave the single latent among them, so that an answer always exists."""
    _, blocks, labels = drawn(2)
    wrong = with_spurious_rows(labels, np.random.default_rng(2), range(len(blocks)))
    table = table_from(wrong, blocks)
    assert (table.n_components,) in {found.domain_sizes for found in decode(table)}


def test_variables_with_one_component_have_no_latents(table_from):
    blocks = [np.random.default_rng(i).normal(size=(100, 2)) for i in range(3)]
    best = decode(table_from(np.zeros((100, 3), dtype=np.int64), blocks))[0]
    assert (best.domain_sizes, best.adjacency.shape, best.is_consistent) == ((), (3, 0), True)
    np.testing.assert_array_equal(best.assignment, [0])


def test_a_few_stray_rows_may_be_all_that_speaks(table_from):
    """Without them nothing is left to say, and no latent is the better answer."""
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(200, 2)) for _ in range(3)]
    labels = np.zeros((200, 3), dtype=np.int64)
    labels[0, 0] = labels[1, 1] = 1
    best = decode(table_from(labels, blocks))[0]
    assert best.domain_sizes == ()
    np.testing.assert_array_equal(best.assignment, [0, 0, 0])


def test_a_silent_variable_gets_no_parent(table_from):
    model, blocks, labels = drawn(1)
    silent = np.random.default_rng(1).normal(size=(len(labels), 2))
    best = decode(table_from(np.pad(labels, ((0, 0), (0, 1))), [*blocks, silent]))[0]
    assert not best.adjacency[-1].any()
    assert sorted(best.domain_sizes) == sorted(model.domain_sizes)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_tuples_and_variables_is_of_no_importance(table_from, seed):
    model, blocks, labels = drawn(seed)
    rng = np.random.default_rng(seed)
    wrong = with_two_components_merged(labels, rng, range(model.n_observed))
    table = table_from(wrong, blocks)
    variables, rows = rng.permutation(model.n_observed), rng.permutation(len(table.labels))
    shuffled = ComponentTable(
        table.labels[rows][:, variables],
        tuple(table.statistics[i][rows] for i in variables),
        tuple(table.families[i] for i in variables),
        tuple(table.priors[i] for i in variables),
        table.counts[rows],
    )
    first, second = decode(table)[0], decode(shuffled)[0]
    assert second.log_evidence == pytest.approx(first.log_evidence, abs=1e-6)
    back = np.argsort(variables)
    columns = zip(second.adjacency[back].T, second.domain_sizes, strict=True)
    assert tuple(sorted((column.tobytes(), size) for column, size in columns)) == first.structure


@pytest.mark.parametrize("seed", SEEDS)
def test_an_explanation_that_fits_at_once_agrees_with_itself(table_from, seed):
    _, blocks, labels = drawn(seed)
    best = decode(table_from(labels, blocks))[0]
    assert (best.n_agreed, best.n_proposals, best.moves) == (1, 1, ())


@pytest.mark.parametrize("seed", range(1, 4))
def test_agreement_counts_every_proposal_once(table_from, seed):
    """All proposals are shared out among the structures found; repaired labels need several."""
    _, blocks, labels = drawn(seed)
    wrong = with_spurious_rows(labels, np.random.default_rng(seed), range(len(blocks)))
    explanations = decode(table_from(wrong, blocks))
    (n_proposals,) = {explanation.n_proposals for explanation in explanations}
    assert n_proposals == sum(explanation.n_agreed for explanation in explanations) > 1
    assert explanations[0].n_agreed > 0 or explanations[0].moves


def test_the_budget_bounds_the_proposals(table_from):
    _, blocks, labels = drawn(1)
    wrong = with_spurious_rows(labels, np.random.default_rng(1), range(len(blocks)))
    table = table_from(wrong, blocks)
    many, few = (
        decode(table, Settings(Budget(patience=patience, moves=0)))[0].n_proposals
        for patience in (Budget().patience, 1)
    )
    assert many > few


@pytest.mark.parametrize("seed", range(3))
def test_labels_that_fit_together_but_leave_joint_states_unseen_are_looked_at_again(
    table_from, seed
):
    """A state of a latent that one variable alone shows, cut in two along the other latent."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(4, size=4000), rng.integers(3, size=4000)
    means = rng.normal(size=(3, 4, 2))
    blocks = [means[i, first] + 0.05 * rng.normal(size=(4000, 2)) for i in range(2)]
    blocks.append(means[2, second] + 0.05 * rng.normal(size=(4000, 2)))
    labels = np.stack([first, first, np.where((second == 0) & (first > 1), 3, second)], axis=1)
    table = table_from(labels, blocks)
    assert decode(table, settings=Settings(Budget(moves=0)))[0].domain_sizes == (4, 4)
    best = decode(table)[0]
    assert best.domain_sizes == (4, 3)
    assert [move.action for move in best.moves] == ["merged states"]
    assert (best.n_agreed, best.n_proposals) == (0, 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_explanation_is_improved_by_the_evidence_of_another_table(seed, table_from):
    """Labels of rows as levels: nothing is known of shapes, and the truth is found from nothing."""
    model, blocks, labels = drawn(seed)
    own = table_from(labels, blocks)
    _, where, _ = distinct_rows(labels)
    levels = Association.of_labels(labels).table(own.labels, where)
    nothing = complete(own, Proposal.of_all(np.zeros((own.n_components, 0), dtype=np.int64)))
    found = improved(levels, [nothing])
    best = max(found, key=lambda explanation: explanation.log_evidence)
    truth = Bipartite(model.bipartite, model.domain_sizes)
    assert best.structure == structure_of(truth.adjacency, truth.domain_sizes)
    assert best.moves
