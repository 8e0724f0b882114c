import numpy as np
import pytest

from mixoracle.assumptions import no_twins, subset_condition
from mixoracle.datasets import paper_problem, random_model
from mixoracle.decoding.decoding import RowTable, configurations, decode
from mixoracle.families import GaussianFamily
from mixoracle.mixtures.merging import pool
from mixoracle.model import Bipartite

# One problem in eight has three latents: where nothing is clean those take a second each.
SETTINGS = ((1, 4, 4), (2, 5, 3), (2, 6, 3), (2, 7, 2), (1, 3, 5), (2, 6, 2), (2, 5, 4), (3, 7, 2))
SEEDS = range(40)


def drawn(seed, n_samples=1000):
    """A problem, its standardised blocks and the true component of each variable in each row."""
    problem = paper_problem(
        *SETTINGS[seed % len(SETTINGS)], n_samples, random_state=seed, covariance="code"
    )
    blocks = [problem.observations[i] for i in range(problem.model.n_observed)]
    blocks = [(block - block.mean(axis=0)) / block.std(axis=0) for block in blocks]
    labels = problem.model.component_of_states(problem.states)
    return problem.model, blocks, labels


def table_from(labels, blocks, kept=None):
    """What the decoder sees if these are the labels of the rows."""
    rows, where = np.unique(labels, axis=0, return_inverse=True)
    where = where.ravel()
    families = tuple(GaussianFamily(block.shape[1]) for block in blocks)
    statistics, priors = [], []
    for i, (family, block) in enumerate(zip(families, blocks, strict=True)):
        held = pool(family.features(block), where, len(rows))
        statistics.append(held)
        priors.append(family.prior(pool(held, rows[:, i], int(rows[:, i].max()) + 1)))
    kept = np.ones(len(rows), dtype=bool) if kept is None else kept(rows)
    counts = np.bincount(where, minlength=len(rows)).astype(float)
    of_kept = tuple(held[kept] for held in statistics)
    return RowTable(rows[kept], of_kept, families, tuple(priors), counts[kept])


def structure_of(model):
    columns = zip(model.bipartite.T, model.domain_sizes, strict=True)
    return tuple(sorted((column.tobytes(), size) for column, size in columns))


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


@pytest.mark.parametrize("seed", SEEDS)
def test_right_labels_are_read_without_repair(seed):
    model, blocks, labels = drawn(seed)
    table = table_from(labels, blocks)
    readings = decode(table)
    best = readings[0]
    assert best.is_clean
    assert best.structure == structure_of(model)
    codes = configurations(best.adjacency, best.domain_sizes)[best.cells]
    for i in range(model.n_observed):
        pairs = set(zip(table.labels[:, i].tolist(), codes[:, i].tolist(), strict=True))
        assert len(pairs) == len(np.unique(table.labels[:, i]))


@pytest.mark.parametrize("corrupt", [with_two_components_merged, with_spurious_rows])
def test_wrong_labels_in_a_variable_that_can_be_spared_are_repaired(corrupt):
    right = tried = 0
    for seed in range(24):
        model, blocks, labels = drawn(seed)
        if not (spare := spare_variables(model)):
            continue
        tried += 1
        wrong = corrupt(labels, np.random.default_rng(seed), spare)
        right += decode(table_from(wrong, blocks))[0].structure == structure_of(model)
    assert tried >= 20
    assert right >= 0.95 * tried


def test_joint_states_never_seen_are_no_obstacle():
    """A tenth of the tuples is missing; the common parts nearly always still hold together."""
    right = 0
    for seed in SEEDS:
        model, blocks, labels = drawn(seed)
        rng = np.random.default_rng(seed)
        table = table_from(labels, blocks, kept=lambda rows, rng=rng: rng.random(len(rows)) < 0.9)
        # Every state of every latent has to be left for the domain sizes to be there at all.
        seen = configurations(model.bipartite, model.domain_sizes)
        seen = [np.flatnonzero((seen == row).all(axis=1))[0] for row in table.labels]
        states = np.stack(np.unravel_index(seen, model.domain_sizes), axis=1)
        whole = all(
            len(np.unique(column)) == size
            for column, size in zip(states.T, model.domain_sizes, strict=True)
        )
        right += not whole or decode(table)[0].structure == structure_of(model)
    assert right >= 38


@pytest.mark.parametrize("seed", range(8))
def test_readings_are_distinct_and_ordered_by_evidence(seed):
    _, blocks, labels = drawn(seed)
    wrong = with_spurious_rows(labels, np.random.default_rng(seed), range(len(blocks)))
    readings = decode(table_from(wrong, blocks))
    evidence = [reading.log_evidence for reading in readings]
    assert evidence == sorted(evidence, reverse=True)
    assert len({reading.structure for reading in readings}) == len(readings)
    for reading in readings:
        n_states = int(np.prod(reading.domain_sizes))
        assert reading.adjacency.any(axis=0).all()
        assert reading.cells.min() >= 0
        assert reading.cells.max() < n_states


def test_the_last_resort_is_one_latent_for_everything():
    """Repairs leave the single latent among the readings, so that an answer always exists."""
    _, blocks, labels = drawn(2)
    wrong = with_spurious_rows(labels, np.random.default_rng(2), range(len(blocks)))
    table = table_from(wrong, blocks)
    assert (len(table.labels),) in {reading.domain_sizes for reading in decode(table)}


def test_variables_with_one_component_have_no_latents():
    blocks = [np.random.default_rng(i).normal(size=(100, 2)) for i in range(3)]
    best = decode(table_from(np.zeros((100, 3), dtype=np.int64), blocks))[0]
    assert (best.domain_sizes, best.adjacency.shape, best.is_clean) == ((), (3, 0), True)
    np.testing.assert_array_equal(best.cells, [0])


def test_a_few_stray_rows_may_be_all_that_speaks():
    """Without them nothing is left to say, and no latent is the better answer."""
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(200, 2)) for _ in range(3)]
    labels = np.zeros((200, 3), dtype=np.int64)
    labels[0, 0] = labels[1, 1] = 1
    best = decode(table_from(labels, blocks))[0]
    assert best.domain_sizes == ()
    np.testing.assert_array_equal(best.cells, [0, 0, 0])


def test_a_silent_variable_gets_no_parent():
    model, blocks, labels = drawn(1)
    silent = np.random.default_rng(1).normal(size=(len(labels), 2))
    best = decode(table_from(np.pad(labels, ((0, 0), (0, 1))), [*blocks, silent]))[0]
    assert not best.adjacency[-1].any()
    assert sorted(best.domain_sizes) == sorted(model.domain_sizes)


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_tuples_and_variables_is_of_no_importance(seed):
    model, blocks, labels = drawn(seed)
    rng = np.random.default_rng(seed)
    wrong = with_two_components_merged(labels, rng, range(model.n_observed))
    table = table_from(wrong, blocks)
    variables, rows = rng.permutation(model.n_observed), rng.permutation(len(table.labels))
    shuffled = RowTable(
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


@pytest.mark.parametrize("seed", range(20))
def test_configurations_number_the_parents_states_as_models_do(seed):
    model = random_model(3, 6, 4, seed, covariance=None)
    states = np.array([*np.ndindex(*model.domain_sizes)], dtype=np.int64)
    np.testing.assert_array_equal(
        configurations(model.bipartite, model.domain_sizes), model.component_of_states(states)
    )


def test_without_latents_there_is_one_configuration():
    np.testing.assert_array_equal(configurations(np.zeros((2, 0), dtype=bool), ()), [[0, 0]])


@pytest.mark.parametrize("seed", range(8))
def test_a_reading_that_fits_at_once_agrees_with_itself(seed):
    _, blocks, labels = drawn(seed)
    best = decode(table_from(labels, blocks))[0]
    assert (best.n_agreed, best.n_proposals, best.moves) == (1, 1, ())


def test_agreement_counts_every_proposal_once():
    """All proposals are shared out among the structures found; repaired labels need several."""
    several = 0
    for seed in range(12):
        _, blocks, labels = drawn(seed)
        wrong = with_spurious_rows(labels, np.random.default_rng(seed), range(len(blocks)))
        readings = decode(table_from(wrong, blocks))
        n_proposals = {reading.n_proposals for reading in readings}
        assert n_proposals == {sum(reading.n_agreed for reading in readings)}
        assert readings[0].n_agreed > 0 or readings[0].moves
        several += n_proposals.pop() > 1
    assert several >= 10


def test_labels_that_fit_together_but_leave_joint_states_unseen_are_looked_at_again():
    """A state of a latent that one variable alone shows, cut in two along the other latent."""
    mended = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        first, second = rng.integers(4, size=4000), rng.integers(3, size=4000)
        means = rng.normal(size=(3, 4, 2))
        blocks = [means[i, first] + 0.05 * rng.normal(size=(4000, 2)) for i in range(2)]
        blocks.append(means[2, second] + 0.05 * rng.normal(size=(4000, 2)))
        labels = np.stack([first, first, np.where((second == 0) & (first > 1), 3, second)], axis=1)
        table = table_from(labels, blocks)
        assert decode(table, 0)[0].domain_sizes == (4, 4)
        best = decode(table)[0]
        mended += best.domain_sizes == (4, 3)
        assert [move.action for move in best.moves] == ["merged states"]
        assert (best.n_agreed, best.n_proposals) == (0, 1)
    assert mended == 12
