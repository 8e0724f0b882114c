"""Labels of all variables and components over X, each corrected by the other."""

from dataclasses import replace

import numpy as np
import pytest

from mixoracle.datasets import paper_problem
from mixoracle.labels.labelling import component_table
from mixoracle.labels.single import label_each
from mixoracle.labels.together import _have_settled, label_along, settle
from mixoracle.mixtures.preparation import prepare
from mixoracle.settings import Budget, Priors, Settings


def settled(rows, labelling, settings=Settings()):
    return settle(rows, labelling, 20, settings)


class TestSettle:
    @pytest.mark.parametrize("seed", range(3))
    def test_separated_blobs_make_all_their_joint_components(self, making, same_partition, seed):
        rows, truth, _ = making.blobs(seed)
        labelling = settled(rows, making.labelled(rows, seed))
        for column, expected in zip(labelling.labels.T, truth.T, strict=True):
            assert same_partition(column, expected)
        assert len(labelling.joint.labels) == len(np.unique(truth, axis=0)) == 6
        share = labelling.joint.responsibilities
        assert share.shape == (len(truth), 6)
        np.testing.assert_allclose(share.sum(axis=1), 1.0)
        assert component_table(rows, labelling).counts.sum() == pytest.approx(len(truth))

    def test_few_joint_states_are_found_as_components(self):
        problem = paper_problem(2, 5, 3, n_samples=1000, random_state=0, covariance="code")
        rows = prepare(problem.observations).searched_rows(slice(None))
        single = label_each(rows, 50, 1, np.arange(len(rows)), Settings())
        labelling = settle(rows, single, 50, Settings())
        assert labelling.joint is not None
        np.testing.assert_allclose(component_table(rows, labelling).counts.sum(), 1000)

    def test_what_one_variable_cannot_tell_apart_the_others_can(self, making, same_partition):
        """X1 labels all rows alike at first; the components over X cut it again."""
        rows, truth, _ = making.blobs(4)
        single = making.labelled(rows)
        place = int(np.argmin(truth.max(axis=0)))
        labels = single.labels.copy()
        labels[:, place] = 0
        merging = single.mergings[place]
        merged = replace(merging, groups=np.zeros_like(merging.groups))
        mergings = tuple(merged if i == place else m for i, m in enumerate(single.mergings))
        blinded = replace(single, labels=labels, mergings=mergings)
        labelling = settled(rows, blinded)
        assert same_partition(labelling.labels[:, place], truth[:, place])

    def test_nothing_is_changed_and_the_answer_is_the_same_twice(self, blobs_with_missing):
        held = blobs_with_missing
        before = held.copies(held.single)
        first, again = settled(held.rows, held.single), settled(held.rows, held.single)
        np.testing.assert_array_equal(first.labels, again.labels)
        np.testing.assert_array_equal(first.joint.labels, again.joint.labels)
        np.testing.assert_array_equal(first.joint.responsibilities, again.joint.responsibilities)
        for old, new in zip(before, held.copies(held.single), strict=True):
            np.testing.assert_array_equal(old, new)
        assert held.single.joint is None

    def test_what_each_variable_showed_alone_is_kept(self, blobs):
        assert blobs.settled.alone is blobs.single.labels

    def test_labels_beyond_doubt_stay_where_components_over_x_would_be_too_many(self, blobs):
        """Six tuples where three can be compared: they cover half of the rows, and are sure."""
        settings = Settings(Budget(compared=3))
        labelling = settled(blobs.rows, blobs.single, settings)
        assert labelling.joint is None
        np.testing.assert_array_equal(labelling.labels, blobs.single.labels)
        # Labels that are not sure enough are settled all the same, among the three tuples.
        settings = replace(settings, priors=Priors(stray_share=0.0))
        doubtful = settled(blobs.rows, blobs.single, settings)
        assert len(doubtful.joint.labels) <= 3


class TestLabelAlong:
    @pytest.mark.parametrize("seed", range(3))
    def test_identical_projections_become_one_label(self, making, same_partition, seed):
        rows, truth, _ = making.blobs(seed)
        state = np.unique(truth, axis=0, return_inverse=True)[1].ravel()
        labelling = label_along(rows, np.eye(6)[state], 20)
        for column, expected in zip(labelling.labels.T, truth.T, strict=True):
            assert same_partition(column, expected)
        assert len(labelling.joint.labels) == 6
        assert component_table(rows, labelling).counts.sum() == pytest.approx(len(truth))

    def test_components_that_no_variable_tells_apart_are_one(self, making):
        rows, truth, _ = making.blobs(1)
        state = np.unique(truth, axis=0, return_inverse=True)[1].ravel()
        halved = 2 * state + np.random.default_rng(0).integers(2, size=len(state))
        labelling = label_along(rows, np.eye(12)[halved], 20)
        assert len(labelling.joint.labels) == 6
        np.testing.assert_allclose(labelling.joint.responsibilities.sum(axis=1), 1.0)
        counts = component_table(rows, labelling).counts
        np.testing.assert_allclose(np.sort(counts), np.sort(np.bincount(state)))

    def test_no_more_labels_than_allowed(self, making):
        rows, truth, _ = making.blobs(0)
        state = np.unique(truth, axis=0, return_inverse=True)[1].ravel()
        labelling = label_along(rows, np.eye(6)[state], 2)
        assert labelling.labels.max() <= 1

    def test_nothing_is_changed_and_the_answer_is_the_same_twice(self, blobs_with_missing):
        held = blobs_with_missing
        share = np.random.default_rng(0).dirichlet(np.full(5, 0.2), size=held.n_rows)
        before = [
            share.copy(),
            *(array.copy() for v in held.rows for array in (v.block, v.features)),
        ]
        first, again = (label_along(held.rows, share, 20) for _ in range(2))
        np.testing.assert_array_equal(first.labels, again.labels)
        np.testing.assert_array_equal(first.joint.responsibilities, again.joint.responsibilities)
        after = [share, *(array for v in held.rows for array in (v.block, v.features))]
        for old, new in zip(before, after, strict=True):
            np.testing.assert_array_equal(old, new)


class TestHaveSettled:
    @pytest.mark.parametrize("seed", range(5))
    def test_names_of_labels_are_of_no_importance(self, seed):
        rng = np.random.default_rng(seed)
        before = rng.integers(4, size=(300, 3))
        before[:4] = np.arange(4)[:, None]
        after = np.stack([rng.permutation(4)[column] for column in before.T], axis=1)
        assert _have_settled(before, after, 0.0)
        moved = after.copy()
        moved[:3, 1] = moved[3, 1]
        assert not _have_settled(before, moved, 0.005)
        assert _have_settled(before, moved, 0.01)

    def test_labels_that_were_cut_or_joined_have_not_settled(self):
        two, one = np.repeat([0, 1], 50)[:, None], np.zeros((100, 1), dtype=int)
        assert not _have_settled(two, one, 1.0)
        assert not _have_settled(one, two, 1.0)
        assert _have_settled(one, one, 0.0)
