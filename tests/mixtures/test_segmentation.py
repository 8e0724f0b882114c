import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from mixoracle.families import CategoricalFamily, CountFamily, GaussianFamily
from mixoracle.families.base import Patterns
from mixoracle.mixtures import segmentation
from mixoracle.mixtures.rows import VariableRows
from mixoracle.mixtures.segmentation import cut, segment
from mixoracle.settings import Budget, Priors, Settings


@pytest.fixture(autouse=True)
def _one_thread():
    """As the oracle runs it: k-means on small blocks is slowed down by threads."""
    with threadpool_limits(limits=1):
        yield


def is_same_partition(first, second):
    pairs = len(set(zip(first.tolist(), second.tolist(), strict=True)))
    return pairs == len(np.unique(first)) == len(np.unique(second))


def run(block, max_components=128, seed=0):
    spread = block.std(axis=0)
    block = (block - block.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return segmented(block, GaussianFamily(block.shape[1]), max_components, seed)


def segmented(block, family, max_components=128, seed=0):
    features, patterns = family.features(block), Patterns.of(block)
    variable = VariableRows(family, block, features, patterns, shows_shape=False)
    return segment(variable, max_components, seed, Settings())


def n_in_the_right_component(labels, truth):
    """How many rows are in the component that most rows of their label come from."""
    table = np.zeros((labels.max() + 1, truth.max() + 1))
    np.add.at(table, (labels, truth), 1)
    return table.max(axis=1).sum()


def separated(rng, n_components, n_rows, width, weights=None):
    """Rows of components on a jittered grid, with the component of each."""
    n_steps = int(np.ceil(n_components ** (1 / width)))
    grid = np.stack(np.meshgrid(*[np.arange(n_steps)] * width), axis=-1).reshape(-1, width)
    centres = 12.0 * rng.permutation(grid)[:n_components] + rng.uniform(-1, 1, width)
    labels = rng.choice(n_components, size=n_rows, p=weights)
    scales = rng.uniform(0.5, 1.0, (n_components, width))
    return rng.normal(size=(n_rows, width)) * scales[labels] + centres[labels], labels


@pytest.mark.parametrize("seed", range(10))
def test_separated_components_are_found_with_their_rows(seed):
    rng = np.random.default_rng(seed)
    n_components, width = int(rng.integers(1, 10)), int(rng.integers(1, 6))
    block, truth = separated(rng, n_components, 800, width)
    labels, merging = run(block, seed=seed)
    assert merging.n_components == labels.max() + 1
    assert is_same_partition(labels, truth)


@pytest.mark.parametrize("seed", range(5))
def test_very_unequal_weights_and_tiny_components_are_found(seed):
    rng = np.random.default_rng(seed)
    weights = np.array([0.9, 0.06, 0.03, 0.01])
    block, truth = separated(rng, 4, 1500, 2, weights)
    assert is_same_partition(run(block, seed=seed)[0], truth)


@pytest.mark.parametrize("width", [2, 5])
@pytest.mark.parametrize("times", [0.75, 1.25, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_more_components_than_half_the_first_pieces(seed, times, width):
    rng = np.random.default_rng(seed)
    n_components = int(times * Budget().first_pieces)
    block, truth = separated(rng, n_components, 100 * n_components, width)
    assert is_same_partition(run(block, seed=seed)[0], truth)


@pytest.mark.parametrize("seed", range(5))
def test_small_components_among_many_are_found(seed):
    rng = np.random.default_rng(seed)
    weights = np.where(np.arange(40) < 5, 0.1, 1.0)
    block, truth = separated(rng, 40, 8000, 3, weights / weights.sum())
    assert is_same_partition(run(block, seed=seed)[0], truth)


@pytest.mark.parametrize("seed", range(10))
def test_no_variable_has_more_components_than_allowed(seed):
    rng = np.random.default_rng(seed)
    block, _ = separated(rng, 6, 600, 2)
    for limit in (1, 2, 4):
        labels, merging = run(block, max_components=limit, seed=seed)
        assert merging.n_components == labels.max() + 1 <= limit


@pytest.mark.parametrize("n_rows", [1, 2, 3, Priors.rows_per_component])
def test_few_rows_make_few_components(n_rows):
    block = np.random.default_rng(0).normal(size=(n_rows, 2))
    labels, merging = run(block)
    assert labels.shape == (n_rows,)
    assert merging.n_components <= max(1, 2 * n_rows // Priors.rows_per_component)


@pytest.mark.parametrize("n_levels", [1, 2, 5])
def test_levels_without_scatter_are_components(n_levels):
    truth = np.random.default_rng(n_levels).integers(n_levels, size=300)
    labels, _ = run(truth[:, None].astype(float))
    assert is_same_partition(labels, truth)


def test_the_same_seed_gives_the_same_labels():
    block, _ = separated(np.random.default_rng(5), 5, 500, 3)
    first, again = run(block, seed=7), run(block, seed=7)
    np.testing.assert_array_equal(first[0], again[0])
    assert first[1].confidence == again[1].confidence


class TestMissingValues:
    @pytest.mark.parametrize("share", [0.05, 0.3], ids=["most rows whole", "few rows whole"])
    @pytest.mark.parametrize("seed", range(3))
    def test_rows_with_missing_values_get_the_label_of_what_was_seen(self, share, seed):
        """Each column alone tells the components apart, so any value of a row is enough."""
        rng = np.random.default_rng(seed)
        truth = rng.integers(4, size=900)
        centres = np.stack([rng.permutation(4) for _ in range(3)], axis=1)
        block = 12.0 * centres[truth] + rng.normal(size=(900, 3))
        block = (block - block.mean(axis=0)) / block.std(axis=0)
        missing = rng.random(block.shape) < share
        block[missing & (np.arange(3) != rng.integers(3, size=(900, 1)))] = np.nan
        labels, merging = segmented(block, GaussianFamily(3), seed=seed)
        assert labels.shape == (900,)
        assert labels.max() < merging.n_components
        assert n_in_the_right_component(labels, truth) > 0.99 * 900

    def test_a_row_with_nothing_gets_the_largest_component(self):
        rng = np.random.default_rng(0)
        block, truth = separated(rng, 2, 1000, 2, [0.8, 0.2])
        block[:3] = np.nan
        labels, _ = segmented(block, GaussianFamily(2))
        assert len(set(labels[:3])) == 1
        assert labels[0] == np.bincount(labels[truth == 0]).argmax()

    @pytest.mark.parametrize("n_levels", [1, 2, 3])
    def test_few_different_rows_make_no_more_pieces(self, n_levels):
        """A single item with missing values: k-means would be asked for more pieces in vain."""
        rng = np.random.default_rng(0)
        block = rng.integers(n_levels, size=(400, 1)).astype(float)
        block[rng.random(400) < 0.2] = np.nan
        labels, merging = segmented(block, CategoricalFamily([n_levels]))
        assert labels.max() < merging.n_components <= n_levels + 1


class TestOtherFamilies:
    @pytest.mark.parametrize("seed", range(3))
    def test_answers_fall_into_their_components(self, seed):
        rng = np.random.default_rng(seed)
        truth = rng.integers(3, size=600)
        favoured = np.array([[0, 1, 2, 0, 1], [1, 2, 0, 0, 2], [2, 2, 1, 1, 0]])[truth]
        other = rng.integers(3, size=favoured.shape)
        block = np.where(rng.random(favoured.shape) < 0.9, favoured, other).astype(float)
        labels, merging = segmented(block, CategoricalFamily([3] * 5), seed=seed)
        assert merging.n_components == 3
        assert n_in_the_right_component(labels, truth) > 0.97 * 600

    @pytest.mark.parametrize("seed", range(3))
    def test_counts_fall_into_their_components(self, seed):
        rng = np.random.default_rng(seed)
        truth = rng.integers(3, size=600)
        block = rng.poisson(np.array([[2, 20], [15, 3], [30, 30]])[truth]).astype(float)
        labels, merging = segmented(block, CountFamily(2), seed=seed)
        assert merging.n_components == 3
        assert n_in_the_right_component(labels, truth) > 0.97 * 600


def test_rows_that_differ_by_rounding_leave_no_warning():
    rng = np.random.default_rng(0)
    block = np.repeat(rng.normal(size=(6, 1)), 40, axis=0)
    block = block + 1e-9 * rng.normal(size=block.shape)
    assert cut(block, 40, 0).max() < 40


def test_long_components_among_many_are_told_apart():
    """Thirty components, each six times as long as wide in a direction of its own."""
    agreement = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        truth = np.repeat(np.arange(30), 200)
        factors = rng.normal(size=(30, 2, 2)) * np.array([4.0, 0.6])
        noise = np.einsum("nab,nb->na", factors[truth], rng.normal(size=(len(truth), 2)))
        block = rng.uniform(-40.0, 40.0, size=(30, 2))[truth] + noise
        agreement.append(adjusted_rand_score(truth, run(block)[0]))
    # Many overlap; cutting found components in two, instead of adding pieces, reached 0.63.
    assert np.mean(agreement) > 0.7


@pytest.mark.parametrize(
    ("n_components", "expected"), [(10, [32]), (24, [32, 64]), (48, [32, 128])]
)
def test_where_all_pieces_stay_apart_twice_as_many_are_not_tried(
    n_components, expected, monkeypatch
):
    tried = []

    def counted(block, n_pieces, *rest):
        tried.append(n_pieces)
        return cut(block, n_pieces, *rest)

    monkeypatch.setattr(segmentation, "cut", counted)
    rng = np.random.default_rng(0)
    means = rng.normal(size=(n_components, 4))
    block = means[rng.integers(n_components, size=6_000)] + 0.01 * rng.normal(size=(6_000, 4))
    family = GaussianFamily(4)
    rows = VariableRows(family, block, family.features(block), None, shows_shape=True)
    _, merging = segment(rows, 128, 0, Settings())
    assert merging.n_components == n_components
    assert tried == expected
