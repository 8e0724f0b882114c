"""AnnData: layers, blocks of obsm, groups of genes."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from mixoracle.errors import InvalidInputError
from mixoracle.observations import from_anndata

X = np.arange(12.0).reshape(4, 3)


def made(**changes):
    held = {
        "X": scipy.sparse.csr_matrix(X),
        "obs": pd.DataFrame({"depth": [3.0, 1.0, 4.0, 2.0]}, index=list("abcd")),
        "var": pd.DataFrame({"module": ["m1", None, "m1"]}, index=["g1", "g2", "g3"]),
        "layers": {"counts": X + 1},
        "obsm": {
            "X_pca": np.ones((4, 2)),
            "protein": pd.DataFrame({"CD3": range(4), "CD4": range(4)}, index=list("abcd")),
        },
    }
    return {**held, **changes}


def stand_in(**changes):
    """An object with the parts of AnnData that are used here."""
    held = made(**changes)
    return SimpleNamespace(**held, obs_names=held["obs"].index, var_names=held["var"].index)


def real(**changes):
    anndata = pytest.importorskip("anndata")
    return anndata.AnnData(**made(**changes))


@pytest.mark.parametrize("make", [stand_in, real])
@pytest.mark.filterwarnings("ignore::Warning")
def test_layers_and_blocks(make):
    held = from_anndata(make())
    assert (held.names, held.ids) == (("g1", "g2", "g3"), tuple("abcd"))
    assert np.array_equal(held.values, X)
    assert np.array_equal(from_anndata(make(), layer="counts").values, X + 1)
    both = from_anndata(make(), layer="counts", groups="module", obsm=["protein", "X_pca"])
    assert (both.names, both.widths) == (("m1", "protein", "X_pca"), (2, 2, 2))
    assert both.titles == ("g1", "g3", "CD3", "CD4", "X_pca[0]", "X_pca[1]")
    assert from_anndata(make(), layer=False, obsm="X_pca").names == ("X_pca",)
    deep = from_anndata(make(), layer="counts", obs="depth")
    assert deep.names == ("g1", "g2", "g3", "depth")
    assert deep["depth"][:, 0].tolist() == [3.0, 1.0, 4.0, 2.0]


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"layer": "count"}, "no layer 'count'; did you mean 'counts'"),
        ({"obsm": "pca"}, "no block 'pca' in obsm"),
        ({"obs": "dept"}, "no column 'dept' in obs; did you mean 'depth'"),
        ({"layer": False}, "they name nothing"),
    ],
)
def test_what_is_not_there(choices, says):
    with pytest.raises(InvalidInputError, match=says):
        from_anndata(stand_in(), **choices)
    with pytest.raises(InvalidInputError, match="got DataFrame: use from_frame"):
        from_anndata(pd.DataFrame(X))
