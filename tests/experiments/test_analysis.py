import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mixoracle.errors import InvalidInputError
from mixoracle.experiments.analysis import (
    Interval,
    Source,
    load_sources,
    mean_interval,
    on_shared_problems,
    rate_interval,
    summarise,
)
from mixoracle.experiments.results import Score, StudyRecord, open_results
from mixoracle.experiments.studies import define


@pytest.fixture
def study():
    return define("paper", runs=10)


def source(study, results, label="signature"):
    return Source(label, StudyRecord(study, {}, tuple(results)))


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_rate_interval_is_wilsons(counts):
    successes, total = counts
    found = rate_interval(successes, total)
    expected = stats.binomtest(successes, total).proportion_ci(method="wilson")
    assert found.value == successes / total
    np.testing.assert_allclose([found.low, found.high], [expected.low, expected.high], atol=1e-12)


def test_the_mean_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    intervals = [mean_interval(rng.poisson(2.0, 60)) for _ in range(200)]
    covered = sum(interval.low <= 2.0 <= interval.high for interval in intervals)
    # 200 intervals of 95 %: within four standard deviations (of 1.5 %) of the promise.
    assert 0.89 <= covered / 200 <= 1.0
    assert all(interval.low < interval.value < interval.high for interval in intervals)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8))
def test_the_mean_interval_holds_the_mean(values):
    found = mean_interval(values)
    assert found.low <= found.value <= found.high
    assert found == mean_interval(values)  # its randomness is fixed
    assert min(values) <= found.low
    assert found.high <= max(values)


def test_nothing_has_no_interval():
    assert mean_interval([]) is None
    assert rate_interval(0, 0) is None


def test_an_interval_checks_itself():
    with pytest.raises(InvalidInputError, match="should hold its value"):
        Interval(1.0, 2.0, 3.0)


def test_every_run_counts(study, make_result, failed):
    right = make_result(study, 0)
    wrong = make_result(study, 1, score=Score(4, 0, False, None), gamma=False, sizes=False)
    fallback = make_result(
        study, 2, status="fallback", stage="graph", reason="x", score=Score(6, 0, False, None)
    )
    gone = make_result(study, 3, edges=14, **failed)
    summary = summarise([right, wrong, fallback, gone])
    assert (summary.runs, summary.fallbacks) == (4, 1)
    assert summary.shd.value == (0 + 4 + 6 + 14) / 4  # no answer: all 14 edges are missing
    assert summary.shd_answered.value == (0 + 4) / 2
    assert summary.largest_shd == 14
    assert summary.exact.value == 1 / 4
    assert summary.failed_oracle.value == summary.failed_graph.value == 1 / 4
    assert summary.failed_else.value == 0.0
    assert summary.tv.value == 0.01
    assert summary.limit_tv.value == 0.02
    assert summary.edge_range == (10, 14)


def test_a_group_that_failed_throughout_can_be_summed_up(study, make_result, failed):
    summary = summarise([make_result(study, i, **failed) for i in range(3)])
    assert summary.shd.value == 10.0
    assert summary.shd_answered is None
    assert summary.tv is None
    lost = summarise([make_result(study, 0, **{**failed, "stage": "draw", "edges": None})])
    assert lost.shd is None
    assert lost.edge_range is None
    assert lost.failed_else.value == 1.0


def test_cells_part_the_runs(study, make_result):
    ours = source(study, [make_result(study, i) for i in range(study.n_runs)])
    by_setting, by_arm = ours.cells(by_setting=True), ours.cells(by_setting=False)
    assert len(by_setting) == 12
    assert len(by_arm) == 2
    assert sum(cell.summary.runs for cell in by_setting) == study.n_runs
    assert sum(cell.summary.runs for cell in by_arm) == study.n_runs
    assert {(cell.arm, cell.samples) for cell in by_arm} == {
        ("N=10000", 10_000),
        ("N=15000", 15_000),
    }


def test_oracles_are_compared_on_the_problems_that_they_share(study, make_result):
    shorter = define("paper", runs=4, oracle="kmeans")
    ours = source(study, [make_result(study, i) for i in range(20)])
    theirs = source(shorter, [make_result(shorter, i) for i in (0, 1, 2, 5)], "kmeans")
    cells = on_shared_problems([ours, theirs])
    assert [(cell.source, cell.summary.runs) for cell in cells] == [("signature", 4), ("kmeans", 4)]
    other = define("paper", runs=10, seed=1)
    elsewhere = source(other, [make_result(other, i) for i in range(20)])
    assert on_shared_problems([ours, elsewhere]) == []
    assert on_shared_problems([ours]) == []


def test_shared_problems_are_summed_up_in_the_order_of_their_numbers(study, make_result):
    other = define("paper", runs=10, oracle="kmeans")
    held = [make_result(study, i, score=Score(i % 7, 1, False, 0.02)) for i in range(20)]
    theirs = source(other, [make_result(other, i) for i in range(20)], "kmeans")
    # The bootstrap depends on the order, so any other order would show.
    assert on_shared_problems([source(study, held), theirs])[0].summary == summarise(held)


def stored(folder, study, make_result):
    with open_results(folder, study) as file:
        for number in file.missing:
            file.append(make_result(study, number))
    return folder


def test_sources_are_named_by_oracle_and_by_folder_where_needed(tmp_path, make_result):
    folders = [
        stored(tmp_path / "a", define("paper", runs=1), make_result),
        stored(tmp_path / "b", define("paper", runs=1, oracle="kmeans"), make_result),
        stored(tmp_path / "c", define("paper", runs=1, covariance="text"), make_result),
        stored(tmp_path / "d", define("paper", runs=1, seed=1), make_result),
        stored(tmp_path / "e", define("small", runs=1), make_result),
    ]
    labels = {name: [s.label for s in group] for name, group in load_sources(folders).items()}
    assert labels == {
        "paper": ["signature (a)", "kmeans", "signature, text noise", "signature (d)"],
        "small": ["signature"],
    }


def test_folders_that_cannot_be_told_apart_are_refused(tmp_path, make_result):
    one = stored(tmp_path / "x" / "same", define("paper", runs=1), make_result)
    two = stored(tmp_path / "y" / "same", define("paper", runs=1, seed=1), make_result)
    with pytest.raises(InvalidInputError, match="rename one"):
        load_sources([one, two])
    with pytest.raises(InvalidInputError, match="came twice"):
        load_sources([one, one])


def test_a_study_without_results_is_refused(tmp_path):
    with open_results(tmp_path, define("paper", runs=1)) as file:
        assert file.missing == [0, 1]
    with pytest.raises(InvalidInputError, match="no results yet"):
        load_sources([tmp_path])
