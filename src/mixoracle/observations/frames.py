"""Tables of other packages with their names: pandas, polars, pyarrow, xarray, AnnData, sparse.

None of these packages is needed here; a table is known by what it can do. Columns with two levels
of names are grouped by the first. A sparse matrix is made dense, since every value is a value.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import InvalidInputError
from mixoracle.observations.input_columns import InputColumns, shown

if TYPE_CHECKING:
    import pandas as pd

# A sparse matrix with more entries than this would fill the memory when it is made dense.
_MOST_ENTRIES = 200_000_000


def as_frame(X: Any) -> pd.DataFrame | None:
    """A table with named columns as a pandas frame; None where ``X`` is no such table."""
    # In this order: a lazy frame would have to find out its columns.
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return X  # type: ignore[no-any-return]
    package = type(X).__module__.partition(".")[0]
    frame: pd.DataFrame | None = None
    if package == "polars":
        table = X.collect() if hasattr(X, "collect") else X
        frame = _from_polars(table) if hasattr(table, "columns") else None
    elif package == "pyarrow" and hasattr(X, "column_names"):
        frame = X.to_pandas()
    elif package == "xarray" and hasattr(X, "dims") and not hasattr(X, "data_vars"):
        frame = _from_data_array(X)
    elif package == "anndata" and hasattr(X, "to_df"):
        frame = X.to_df()
    elif package == "pandas" and hasattr(X, "to_frame") and hasattr(X, "index"):
        frame = X.to_frame()
    elif hasattr(X, "__dataframe__"):
        import pandas as pd

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = pd.api.interchange.from_dataframe(X)
    return frame


def _from_polars(table: Any) -> pd.DataFrame:
    import pandas as pd

    held = {}
    for name in table.columns:
        column = table[name]
        cells = column.to_list()
        if str(column.dtype).startswith(("Categorical", "Enum")):
            order = getattr(column.dtype, "categories", None)
            order = None if order is None or not hasattr(order, "to_list") else order.to_list()
            held[name] = pd.Series(pd.Categorical(cells, categories=order))
        elif column.dtype.is_numeric():
            held[name] = pd.Series(column.cast(float).to_numpy())
        else:
            held[name] = pd.Series(cells, dtype=object)
    return pd.DataFrame(held)


def _from_data_array(X: Any) -> pd.DataFrame | None:
    """The second dimension of a data array names the columns, where it has names."""
    import pandas as pd

    if len(X.dims) != 2 or X.dims[1] not in X.coords:
        return None
    names = list(X.coords[X.dims[1]].values)
    return pd.DataFrame(np.asarray(X.values), columns=names, index=row_index(X))


def row_index(X: Any) -> pd.Index | None:
    """The labels that a table has for its rows; None where it has none."""
    package = type(X).__module__.partition(".")[0]
    if hasattr(X, "iloc"):
        return X.index  # type: ignore[no-any-return]
    if package == "anndata":
        return X.obs_names  # type: ignore[no-any-return]
    if package == "xarray" and hasattr(X, "dims"):
        rows = _dimension_of_rows(X) if hasattr(X, "data_vars") else X.dims[0]
        return X.indexes.get(rows)  # type: ignore[no-any-return]
    return None


def row_ids(index: pd.Index | None) -> tuple[str, ...] | None:
    """The names of the rows that an index holds; None where it only counts rows."""
    counts = index is None or (index.name is None and index.dtype.kind in "iu")
    if index is None or counts or type(index).__name__ == "RangeIndex":
        return None
    if index.nlevels > 1:
        return tuple(" ".join(map(str, label)) for label in index)
    return tuple(map(str, index))


def as_blocks(X: Any) -> dict[str, Any] | None:
    """A mapping from names to arrays, or the variables of a data set; None where it is neither."""
    if hasattr(X, "data_vars") and hasattr(X, "dims"):
        return _from_data_set(X)
    return dict(X) if isinstance(X, Mapping) else None


def _from_data_set(X: Any) -> dict[str, Any]:
    """One block for each variable."""
    rows = _dimension_of_rows(X)
    return {
        str(name): np.asarray(held.transpose(rows, ...).values)
        for name, held in X.data_vars.items()
    }


def _dimension_of_rows(X: Any) -> Any:
    """The dimension that all variables of a data set share."""
    shared = [dim for dim in X.dims if all(dim in held.dims for held in X.data_vars.values())]
    if len(shared) != 1:
        raise InvalidInputError(
            "the variables of a data set should share one dimension, that of the cases; they share "
            f"{shown(map(str, shared)) or 'none'}: select, or give a dict of arrays"
        )
    return shared[0]


def as_dense(X: Any) -> Any:
    """A sparse matrix as an array; anything else as it is."""
    if not (hasattr(X, "toarray") and hasattr(X, "nnz")):
        return X
    if np.prod(X.shape, dtype=float) > _MOST_ENTRIES:
        raise InvalidInputError(
            f"a sparse matrix should have at most {_MOST_ENTRIES} entries, since it is made dense; "
            f"got {' × '.join(map(str, X.shape))}: select columns, or reduce them first"
        )
    dense: NDArray[Any] = np.asarray(X.toarray())
    return dense


def flat_frame(frame: pd.DataFrame) -> tuple[pd.DataFrame, InputColumns]:
    """The frame with one text for each column, and what the caller may call its columns."""
    original = list(frame.columns)
    if getattr(frame.columns, "nlevels", 1) == 1:
        labels = [
            f"Unnamed: {place}" if label == "" else label for place, label in enumerate(original)
        ]
        columns = InputColumns.named(labels)
    else:
        groups = [str(label[0]) for label in original]
        columns = InputColumns.named(_inner_names(original))
        columns = columns.grouped(groups, {label: p for p, label in enumerate(original)})
    return frame.set_axis(list(columns.labels or ()), axis=1), columns


def _inner_names(labels: Sequence[Any]) -> list[str]:
    """What columns are called within their groups; with the group where that is not distinct."""
    groups = [str(label[0]) for label in labels]
    inner = [".".join(str(part) for part in label[1:] if str(part)) for label in labels]
    short = [own or group for own, group in zip(inner, groups, strict=True)]
    if len(set(short)) == len(short):
        return short
    return [f"{group}.{own}" if own else group for own, group in zip(inner, groups, strict=True)]
