"""The states of large tables, part by part."""

import numpy as np
import pandas as pd
import pytest

from mixoracle import ChunkedObservations, LatentGraphLearner
from mixoracle.datasets import paper_problem
from mixoracle.errors import InvalidInputError
from mixoracle.inference.passes import spread_over
from mixoracle.report.parts import rewrite_parts, write_parts

parquet = pytest.importorskip("pyarrow.parquet", reason="the extra 'parquet' is not installed")


@pytest.fixture(scope="module")
def table():
    problem = paper_problem(2, 5, 2, n_samples=400, random_state=1, covariance="code")
    frame = problem.observations.to_frame()
    return frame.assign(case=[f"case {n}" for n in range(len(frame))])


@pytest.fixture(scope="module")
def learner(table):
    return LatentGraphLearner(random_state=0).fit(table.drop(columns="case"))


def test_parts_are_what_a_frame_of_states_is(learner, table, tmp_path):
    chunked = ChunkedObservations.from_frames([table.iloc[:150], table.iloc[150:]])
    folder = learner.write_states(chunked, tmp_path / "states")
    parts = sorted(folder.iterdir())
    assert [part.name for part in parts] == ["part-00001.parquet", "part-00002.parquet"]
    found = pd.concat([pd.read_parquet(part) for part in parts], ignore_index=True)
    expected = learner.states_frame()
    assert found["row"].tolist() == list(range(400))
    for name in learner.model_.latent_names:
        np.testing.assert_array_equal(found[name], expected[name])
        np.testing.assert_allclose(found[f"P({name})"], expected[f"P({name})"], atol=1e-6)


def test_nothing_is_left_of_parts_that_were_not_finished(learner, table, tmp_path):
    frames = [table.iloc[:150], table.iloc[150:].assign(**{table.columns[0]: "much"})]
    with pytest.raises(InvalidInputError, match="in frame 2, "):
        learner.write_states(ChunkedObservations.from_frames(frames), tmp_path / "states")
    assert list(tmp_path.iterdir()) == []


def test_rows_in_memory_are_refused(learner, table, tmp_path):
    with pytest.raises(InvalidInputError, match="got DataFrame: use states_frame"):
        learner.write_states(table, tmp_path / "states")


def test_names_of_cases_and_of_states(learner, table, tmp_path):
    chunked = ChunkedObservations.from_frames([table], columns={"case": "id"})
    model = learner.model_
    write_parts(tmp_path, model, chunked, spread_over(1), lambda _: None)
    named = model.rename({"H1": "wear"}, {"wear": ["new", "worn"]})
    before = pd.read_parquet(tmp_path)
    rewrite_parts(tmp_path, model, named)
    after = pd.read_parquet(tmp_path)
    assert after["case"].tolist() == table["case"].tolist()
    assert list(after.columns) == ["case", "wear", "H2", "P(wear)", "P(H2)"]
    assert after["wear"].tolist() == [["new", "worn"][s] for s in before["H1"]]
    rewrite_parts(tmp_path, named, model)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path), before)
