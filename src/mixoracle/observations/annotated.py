"""Observations from AnnData: cells by genes in layers, further blocks in ``obsm``.

AnnData is not needed here; a table is known by what it can do. Its cells are the rows, and their
names become ``ids``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from mixoracle.errors import InvalidInputError
from mixoracle.observations.frames import as_dense
from mixoracle.observations.grouping import Groups, checked_names
from mixoracle.observations.input_columns import did_you_mean
from mixoracle.observations.record import Observations


def from_anndata(
    adata: Any,
    *,
    layer: str | Literal[False] | None = None,
    obsm: str | Iterable[str] = (),
    obs: str | Iterable[str] = (),
    groups: Groups = None,
) -> Observations:
    """Take one layer of an AnnData object, and blocks of its ``obsm``.

    Parameters
    ----------
    adata : AnnData
    layer : str, None or False
        The layer with the values; None is ``X``, False takes blocks of ``obsm`` alone.
    obsm : one key or several
        Each is one observed variable, such as ``"protein"``.
    obs : one column of ``adata.obs`` or several
        Each is one observed variable. The exposure of the counts has to be among them:
        ``obs="total_counts"`` for ``LatentGraphLearner(exposure="total_counts")``.
    groups : as in :meth:`Observations.from_frame`, or the name of a column of ``adata.var``
        Which genes make one variable; genes without a group (missing) are left out.

    Examples
    --------
    >>> from_anndata(adata, layer="counts", groups="module", obsm="protein")  # doctest: +SKIP
    """
    if not all(hasattr(adata, name) for name in ("obs_names", "var_names", "layers", "obsm")):
        raise InvalidInputError(
            f"from_anndata needs an AnnData object; got {type(adata).__name__}: use from_frame"
        )
    keys = [obsm] if isinstance(obsm, str) else list(obsm)
    ids = tuple(map(str, adata.obs_names))
    parts = [_block(adata, key) for key in keys]
    parts += [_annotation(adata, key) for key in ([obs] if isinstance(obs, str) else obs)]
    if layer is not False:
        parts.insert(0, _of_layer(adata, layer, groups))
    elif not parts:
        raise InvalidInputError(
            "with layer=False, obsm or obs should name what to take; they name nothing"
        )
    return Observations(
        np.hstack([part.values for part in parts]),
        checked_names(name for part in parts for name in part.names),
        tuple(width for part in parts for width in part.widths),
        tuple(levels for part in parts for levels in part.levels),
        ids,
        tuple(title for part in parts for title in part.titles),
    )


def _of_layer(adata: Any, layer: str | None, groups: Groups) -> Observations:
    import pandas as pd

    if layer is not None and layer not in adata.layers:
        known = list(map(str, adata.layers))
        raise InvalidInputError(f"there is no layer {layer!r}{did_you_mean(layer, known)}")
    values = as_dense(adata.X if layer is None else adata.layers[layer])
    frame = pd.DataFrame(np.asarray(values), columns=list(map(str, adata.var_names)))
    if isinstance(groups, str) and groups in adata.var:
        owner = adata.var[groups]
        there = owner.notna().to_numpy()
        frame = frame.loc[:, there]
        owners = dict(zip(frame.columns, owner[there].astype(str), strict=True))
        return Observations.from_frame(frame, groups=owners.__getitem__, keep=True)
    return Observations.from_frame(frame, groups=groups, keep=True)


def _annotation(adata: Any, key: str) -> Observations:
    if key not in adata.obs:
        known = list(map(str, adata.obs))
        raise InvalidInputError(f"there is no column {key!r} in obs{did_you_mean(key, known)}")
    return Observations.from_frame(adata.obs[[key]], keep=True)


def _block(adata: Any, key: str) -> Observations:
    if key not in adata.obsm:
        known = list(map(str, adata.obsm))
        raise InvalidInputError(f"there is no block {key!r} in obsm{did_you_mean(key, known)}")
    held = adata.obsm[key]
    if hasattr(held, "columns"):
        columns = [str(column) for column in held.columns]
        named = held.set_axis(columns, axis=1)
        return Observations.from_frame(named, groups={key: columns}, keep=True)
    return Observations.from_arrays({key: as_dense(held)})
