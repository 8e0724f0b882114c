"""Tables of other packages keep their names."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from mixoracle import LatentGraphLearner
from mixoracle.errors import InvalidInputError
from mixoracle.observations import Observations
from mixoracle.observations.source import Source

FRAME = pd.DataFrame({"flow": [1.5, 2.5, None], "mode": ["on", "off", "on"], "n": [1, 2, 4]})
HELD = Observations.from_frame(FRAME)


def both(X):
    """A table through from_frame, and through the learner's door."""
    held = Source.of(X, None).observe(X)
    assert held == Observations.from_frame(X)
    return held


def test_arrow():
    pa = pytest.importorskip("pyarrow")
    assert both(pa.Table.from_pandas(FRAME)) == HELD
    assert both(pa.RecordBatch.from_pandas(FRAME)) == HELD


def test_polars():
    pl = pytest.importorskip("polars")
    table = pl.DataFrame(FRAME.to_dict("list"))
    assert both(table) == HELD
    assert both(table.lazy()) == HELD
    levels = both(table.with_columns(pl.col("mode").cast(pl.Enum(["on", "off"]))))
    assert levels.levels[1] == (("on", "off"),)


def test_xarray():
    xr = pytest.importorskip("xarray")
    array = xr.DataArray(
        [[1.0, 2.0], [3.0, 4.0]], dims=("case", "what"), coords={"what": ["a", "b"]}
    )
    assert both(array).names == ("a", "b")
    blocks = xr.Dataset({"u": (("k", "case"), np.ones((2, 5))), "v": ("case", np.zeros(5))})
    held = Source.of(blocks, None).observe(blocks)
    assert (held.names, held.widths) == (("u", "v"), (2, 1))
    square = xr.Dataset({"u": (("k", "case"), np.ones((2, 5)))})
    with pytest.raises(InvalidInputError, match="should share one dimension"):
        Source.of(square, None)


def test_anndata_keeps_the_names_of_genes():
    held = type("AnnData", (), {"__module__": "anndata._core", "to_df": lambda self: FRAME})
    assert both(held()) == HELD


class Foreign:
    """A table of which nothing is known but that it speaks the interchange protocol."""

    def __dataframe__(self, *arguments, **more):
        return FRAME[["flow", "n"]].__dataframe__(*arguments, **more)


@pytest.mark.filterwarnings("ignore::Warning")
def test_any_table_that_speaks_the_interchange_protocol():
    if not hasattr(FRAME, "__dataframe__"):
        pytest.skip("this pandas has no such protocol")
    assert Observations.from_frame(Foreign()).names == ("flow", "n")


def test_a_series_is_a_column():
    assert both(FRAME["flow"]).names == ("flow",)


def test_two_levels_of_names_are_groups():
    columns = pd.MultiIndex.from_tuples([("blood", "hb"), ("pulse", ""), ("blood", "crp")])
    frame = pd.DataFrame([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], columns=columns)
    held = both(frame)
    assert (held.names, held.widths) == (("blood", "pulse"), (2, 1))
    assert held["blood"].tolist() == [[1, 3], [4, 6]]
    assert Observations.from_frame(frame, drop=[("blood", "crp")]).widths == (1, 1)
    source = Source.of(frame, None)
    assert source.observe(frame[frame.columns[::-1]])["pulse"].tolist() == [[2], [5]]


def test_a_mapping_of_arrays():
    blocks = {"flow": np.ones((5, 2)), "mode": ["on", "off", "on", "on", "off"]}
    source = Source.of(blocks, None)
    assert source.observe(blocks) == Observations.from_arrays(blocks)
    with pytest.raises(InvalidInputError, match="grouped already"):
        Source.of(blocks, 2)


def test_sparse_matrices():
    dense = np.array([[0.0, 1.0], [2.0, 0.0]])
    for make in (scipy.sparse.csr_matrix, scipy.sparse.coo_array):
        assert Observations.from_array(make(dense)) == Observations.from_array(dense)
        assert Source.of(make(dense), None).observe(make(dense)).n_observed == 2
    with pytest.raises(InvalidInputError, match="made dense; got 1000000 × 1000: select columns"):
        Observations.from_array(scipy.sparse.csr_matrix((1_000_000, 1000)))


def test_too_many_columns_are_refused():
    X = np.random.default_rng(0).normal(size=(60, 3))
    learner = LatentGraphLearner(random_state=0).fit(X)
    for other in (np.hstack([X, X]), X[:, :2]):
        with pytest.raises(InvalidInputError, match="new rows should have the 3 columns"):
            learner.predict(other)
    learner = LatentGraphLearner(random_state=0).fit(Observations.from_array(X))
    with pytest.raises(InvalidInputError, match=r"new rows should have the 3 columns .*; X has 6"):
        learner.predict(np.hstack([X, X]))


def test_groups_by_prefix_through_the_learner():
    X = np.random.default_rng(0).normal(size=(60, 3))
    frame = pd.DataFrame(X, columns=["a_1", "b", "a_2"])
    learner = LatentGraphLearner(random_state=0).fit(frame, groups="prefix")
    assert learner.model_.observed_names == ("a", "b")
    assert len(learner.predict(frame[["b", "a_2", "a_1"]])) == 60
