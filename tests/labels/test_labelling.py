"""What can be asked of a labelling, and labels that need no components over X."""

from dataclasses import replace

import numpy as np
import pytest

from mixoracle import CPDAG, JointTable, LatentModel, SignatureOracle
from mixoracle.datasets import paper_problem
from mixoracle.labels.labelling import (
    completed,
    component_table,
    components_of,
    log_densities,
    n_labels,
)
from mixoracle.model import GaussianComponents
from mixoracle.model.joint_states import distinct_rows


def crowded(seed, n_states=6):
    """Four latents with clear variables; most of their joint states hold a row or two."""
    rng = np.random.default_rng(seed)
    own = np.eye(4, dtype=bool)
    adjacency = np.vstack([own, own | np.roll(own, 1, axis=1)])
    sizes = (n_states,) * 4
    components = []
    for parents in adjacency:
        means = 4.0 * rng.normal(size=(n_states ** int(parents.sum()), 5))
        covariances = np.repeat(0.02 * np.eye(5)[None], len(means), axis=0)
        components.append(GaussianComponents(means, covariances))
    return LatentModel(
        observed_names=tuple(f"X{i + 1}" for i in range(8)),
        latent_names=tuple(f"H{j + 1}" for j in range(4)),
        bipartite=adjacency,
        domain_sizes=sizes,
        joint=JointTable(rng.dirichlet(np.full(n_states**4, 2.0)).reshape(sizes)),
        latent_graph=CPDAG.from_dag([], 4),
        components=tuple(components),
    )


@pytest.mark.parametrize("seed", range(2))
def test_thousands_of_joint_states_are_found_by_single_variables(seed):
    problem = paper_problem(model=crowded(seed), n_samples=4000, random_state=seed)
    oracle = SignatureOracle(random_state=0).fit(problem.observations)
    best = oracle.candidates_[0].graph
    assert sorted(best.domain_sizes) == [6, 6, 6, 6]
    columns = sorted(column.tobytes() for column in best.adjacency.T)
    assert columns == sorted(column.tobytes() for column in problem.model.bipartite.T)


class TestQuestions:
    def test_components_are_those_of_the_rows_with_each_label(self, blobs):
        for variable, held, column in zip(
            blobs.rows, components_of(blobs.rows, blobs.single), blobs.single.labels.T, strict=True
        ):
            assert held.n_components == column.max() + 1
            means = [variable.block[column == k].mean(axis=0) for k in range(held.n_components)]
            np.testing.assert_allclose(held.means, means, atol=1e-9)

    def test_labels_that_no_row_prefers_any_more_still_count(self, blobs):
        merging = blobs.single.mergings[0]
        kept = np.zeros_like(blobs.single.labels)
        emptied = replace(blobs.single, labels=kept)
        assert n_labels(blobs.single, 0) == merging.n_components == 3
        assert n_labels(emptied, 0) == 3
        one = replace(emptied, mergings=(replace(merging, groups=np.zeros(1, dtype=int)),) * 3)
        assert n_labels(one, 0) == 1

    def test_densities_are_those_of_the_components(self, blobs):
        labelling, densities = log_densities(blobs.rows, blobs.single)
        assert labelling is blobs.single
        for variable, held, density in zip(
            blobs.rows, components_of(blobs.rows, blobs.single), densities, strict=True
        ):
            np.testing.assert_allclose(density, held.log_density(variable.block), rtol=1e-9)

    def test_whole_rows_need_no_completion(self, blobs):
        for variable, features in zip(
            blobs.rows, completed(blobs.rows, blobs.single.labels), strict=True
        ):
            np.testing.assert_array_equal(features, variable.features)

    def test_missing_values_are_completed_by_rows_with_the_same_label(self, blobs_with_missing):
        rows, labelling = blobs_with_missing.rows, blobs_with_missing.single
        again, of_each = log_densities(rows, labelling)
        densities = list(of_each)
        assert again is not labelling
        for place, variable in enumerate(rows):
            missing = np.isnan(variable.block).any(axis=1)
            assert missing.any()
            truth = blobs_with_missing.whole[place]
            for features in (labelling.features[place], again.features[place]):
                np.testing.assert_allclose(features[~missing], variable.features[~missing])
                # A row counts by the share of it that was seen, and its values with it.
                np.testing.assert_allclose(features[missing, 0], 0.5)
                values = features[:, 1:3] / features[:, :1]
                # Components are 8 standard deviations apart, and coordinates have unit variance.
                assert np.abs(values - truth).max() < 0.5
            assert np.isfinite(densities[place]).all()


class TestPurity:
    @pytest.mark.parametrize(
        "question",
        [
            lambda rows, held: [h.means for h in components_of(rows, held)],
            lambda rows, held: completed(rows, held.labels),
            lambda rows, held: log_densities(rows, held)[1],
            lambda rows, held: component_table(rows, held).statistics,
            lambda rows, held: [component_table(rows, held).counts],
        ],
        ids=["components_of", "completed", "log_densities", "component_table", "counts"],
    )
    @pytest.mark.parametrize("which", ["single", "settled"])
    def test_nothing_is_changed_and_the_answer_is_the_same_twice(
        self, blobs_with_missing, question, which
    ):
        rows, held = blobs_with_missing.rows, getattr(blobs_with_missing, which)
        before = blobs_with_missing.copies(held)
        first, again = question(rows, held), question(rows, held)
        for one, other in zip(first, again, strict=True):
            np.testing.assert_array_equal(one, other)
        for old, new in zip(before, blobs_with_missing.copies(held), strict=True):
            np.testing.assert_array_equal(old, new)


class TestComponentTable:
    def test_without_joint_components_it_holds_the_distinct_rows_of_labels(self, blobs):
        labelling = blobs.single
        table = component_table(blobs.rows, labelling)
        tuples, member, occurrences = distinct_rows(labelling.labels)
        np.testing.assert_array_equal(table.labels, tuples)
        np.testing.assert_array_equal(table.counts, occurrences)
        for features, statistics in zip(labelling.features, table.statistics, strict=True):
            expected = [features[member == t].sum(axis=0) for t in range(len(tuples))]
            np.testing.assert_allclose(statistics, expected, atol=1e-9)

    def test_with_them_rows_count_by_their_shares(self, blobs):
        labelling = blobs.settled
        table = component_table(blobs.rows, labelling)
        share = labelling.joint.responsibilities
        np.testing.assert_array_equal(table.labels, labelling.joint.labels)
        np.testing.assert_allclose(table.counts, share.sum(axis=0))
        for features, statistics in zip(labelling.features, table.statistics, strict=True):
            expected = sum(np.outer(s, f) for s, f in zip(share, features, strict=True))
            np.testing.assert_allclose(statistics, expected, atol=1e-9)

    @pytest.mark.parametrize("which", ["single", "settled"])
    def test_every_row_counts_once(self, blobs, which):
        table = component_table(blobs.rows, getattr(blobs, which))
        assert table.counts.sum() == pytest.approx(blobs.n_rows)
        # The first statistic of a family is its number of rows.
        for statistics in table.statistics:
            np.testing.assert_allclose(statistics[:, 0], table.counts)

    def test_priors_and_families_are_those_of_the_labels(self, blobs):
        table = component_table(blobs.rows, blobs.settled)
        assert table.families == tuple(variable.family for variable in blobs.rows)
        assert all(
            prior is merging.prior
            for prior, merging in zip(table.priors, blobs.settled.mergings, strict=True)
        )
