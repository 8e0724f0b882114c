"""The same answer from chunks as in memory, wherever the chunks are worked on."""

from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config

from mixoracle import ChunkedObservations, LatentGraphLearner
from mixoracle.datasets import kind_problem, paper_problem
from mixoracle.errors import InvalidInputError
from mixoracle.inference.passes import Progress, over_all_rows
from mixoracle.metrics import compare
from mixoracle.settings import Budget, Settings

ROWS = 900


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    """Structure from 300 rows, as otherwise from 200 000."""
    budget = Budget(search_rows=300, sample_rows=300)
    monkeypatch.setattr(LatentGraphLearner, "_settings", Settings(budget))


@pytest.fixture(scope="module")
def problem():
    return paper_problem(2, 5, 3, n_samples=ROWS, random_state=1, covariance="code")


def cut(frame, *cuts):
    return [frame.iloc[a:b] for a, b in zip([0, *cuts], [*cuts, len(frame)], strict=True)]


def learned(chunked, **choices):
    return LatentGraphLearner(random_state=0, **choices).fit(chunked)


def assert_close(one, two, tolerance):
    """All parameters of two models agree."""
    assert np.abs(one.joint.table - two.joint.table).max() <= tolerance
    for own, other in zip(one.components, two.components, strict=True):
        for name, array in own.arrays().items():
            np.testing.assert_allclose(array, other.arrays()[name], rtol=tolerance, atol=tolerance)


@pytest.fixture(scope="module")
def in_chunks(problem):
    frames = cut(problem.observations.to_frame(), 400, 500)
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patched:
        budget = Budget(search_rows=300, sample_rows=300)
        patched.setattr(LatentGraphLearner, "_settings", Settings(budget))
        return learned(ChunkedObservations.from_frames(frames))


def test_all_rows_are_learned_from(problem, in_chunks):
    assert in_chunks.passes_.n_rows == ROWS
    assert in_chunks.passes_.converged
    assert in_chunks.states_.shape == (300, 2)
    found = compare(problem.model, in_chunks.model_)
    assert found.bipartite_exact
    assert found.domains_exact
    alone = learned(problem.observations.take(slice(0, 300)))
    assert found.joint_tv < compare(problem.model, alone.model_).joint_tv


def test_the_answer_in_memory_is_the_same(problem, in_chunks, monkeypatch):
    monkeypatch.setattr(LatentGraphLearner, "_settings", Settings())
    whole = learned(problem.observations)
    assert whole.passes_ is None
    # EM ends within its tolerance of one optimum, under priors whose scale is that of the sample.
    assert_close(whole.model_, in_chunks.model_, 5e-3)
    np.testing.assert_array_equal(
        whole.states_, in_chunks.model_.predict(problem.observations.to_frame())
    )
    mean = in_chunks.passes_.log_likelihood / ROWS
    assert mean == pytest.approx(in_chunks.score(problem.observations), abs=1e-9)


def test_other_chunks_differ_by_rounding(problem, in_chunks):
    frames = cut(problem.observations.to_frame(), 17, 450, 455, 800)
    other = learned(ChunkedObservations.from_frames(frames))
    assert_close(other.model_, in_chunks.model_, 1e-9)


def test_files_and_workers_give_the_same_bits(problem, in_chunks, tmp_path):
    pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    for number, frame in enumerate(cut(problem.observations.to_frame(), 400, 500)):
        frame.to_parquet(tmp_path / f"{number}.parquet", index=False)
    scanned = ChunkedObservations.scan(tmp_path)
    assert learned(scanned).model_ == in_chunks.model_
    with parallel_config(backend="threading", n_jobs=2):
        assert learned(scanned).model_ == in_chunks.model_


def test_a_dask_array_gives_the_same_bits(problem, in_chunks):
    array = pytest.importorskip("dask.array", reason="the extra 'dask' is not installed")
    numbers = array.from_array(problem.observations.values, chunks=((400, 100, 400), -1))
    found = LatentGraphLearner(random_state=0).fit(numbers, groups=problem.observations.widths[0])
    assert_close(found.model_, in_chunks.model_, 0.0)


def test_levels_counts_and_missing_values(monkeypatch):
    problem = kind_problem(2, 6, 2, 1200, 0, "mixed")
    frame = problem.observations.to_frame()
    rng = np.random.default_rng(0)
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    chunked = ChunkedObservations.from_frames(cut(frame, 500, 700))
    found = learned(chunked)
    monkeypatch.setattr(LatentGraphLearner, "_settings", Settings())
    whole = learned(frame)
    assert found.passes_.n_rows == 1200
    assert found.model_.domain_sizes == whole.model_.domain_sizes
    right = compare(whole.model_, found.model_)
    assert right.bipartite_exact
    assert right.joint_tv < 0.02


def test_rounded_numbers_are_spread_as_in_the_sample(problem, monkeypatch):
    frame = problem.observations.to_frame().round(1)
    found = learned(ChunkedObservations.from_frames(cut(frame, 450)), resolution=None)
    monkeypatch.setattr(LatentGraphLearner, "_settings", Settings())
    whole = learned(frame, resolution=None)
    ours, theirs = (
        np.concatenate([np.diagonal(c.covariances, axis1=1, axis2=2).ravel() for c in held])
        for held in (found.model_.components, whole.model_.components)
    )
    # The step's own variance, 0.1² / 12, is a third of the components': it must not be missing.
    assert np.mean(ours / theirs) == pytest.approx(1.0, abs=0.05)


def test_a_chunk_that_cannot_be_read_is_named(problem):
    first, second = cut(problem.observations.to_frame(), 890)
    # Ten rows of 900: the sample may miss them, the passes do not.
    second = second.assign(**{first.columns[0]: [*range(9), "much"]})
    chunked = ChunkedObservations.from_frames([first, second])
    drawn = ChunkedObservations.from_frames([first]).sample(300, np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match=r"in frame 2, .*'much'"):
        learned(replace(chunked, drawn=drawn))


def test_the_time_for_the_passes_is_part_of_the_bound(problem, monkeypatch):
    chunked = ChunkedObservations.from_frames(cut(problem.observations.to_frame(), 450))
    sample = problem.observations.take(slice(0, 300))
    learner = LatentGraphLearner(random_state=0)
    assert learner.cost(chunked).seconds > learner.cost(sample).seconds
    assert learner.cost(chunked).memory == learner.cost(sample).memory
    # Where somebody sets a limit, the sample's parameters are left as they are.
    monkeypatch.setattr("mixoracle.all_rows.over_all_rows", _with_no_time_left)
    hasty = learned(chunked, time_limit=1000.0)
    assert hasty.left_out_ == ("further passes over all rows",)
    assert (hasty.passes_.n_passes, hasty.passes_.converged) == (1, False)


def _with_no_time_left(chunked, reader, start, adjacency, sizes, settings, tell, mapped):
    settings.clock._end = 0.0
    return over_all_rows(chunked, reader, start, adjacency, sizes, settings, tell, mapped)


def test_progress_says_how_far_it_is(monkeypatch):
    told = []
    monkeypatch.setattr("mixoracle.inference.passes._REPORT_EVERY", 0.0)
    progress = Progress("passes", 2, told.append)
    assert list(progress.over(iter("ab"))) == ["a", "b"]
    assert list(progress.over(iter("cd"))) == ["c", "d"]
    assert [sentence.partition(" (")[0] for sentence in told] == [
        "passes: pass 1, 1 of 2 chunks",
        "passes: pass 1, 2 of 2 chunks",
        "passes: pass 2, 1 of 2 chunks",
        "passes: pass 2, 2 of 2 chunks",
    ]
    assert all("s left)" in sentence for sentence in told)
