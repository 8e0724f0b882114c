"""The whole model as one JSON document, for programs in any language.

Unlike :meth:`LatentModel.save` it needs no second file: P(H) and the components are nested lists.
Numbers keep all their digits, so that reading gives back an equal model.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle._documents import parse_json
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.families import ComponentSet
from mixoracle.model.cpdag import CPDAG
from mixoracle.model.network import joint_from_json
from mixoracle.model.reading import Reading

if TYPE_CHECKING:
    from mixoracle.model.latent_model import LatentModel

FORMAT = "mixoracle.model"
# With P(H) as a table, and as a network.
_VERSIONS = (1, 2)
# JSON has no infinite number, which Poisson components have for a size: it goes as a word.
_INFINITE = "Infinity"


def to_json(model: LatentModel) -> str:
    """Write a model as JSON."""
    graph = model.latent_graph
    document = {
        "format": FORMAT,
        "version": _VERSIONS[bool(model.joint.header())],
        "latents": [
            {"name": name, "n_states": size, "states": None if held is None else list(held)}
            for name, size, held in zip(
                model.latent_names, model.domain_sizes, model.state_names, strict=True
            )
        ],
        "observed": [
            {"name": name, "parents": list(model.parents(i))}
            for i, name in enumerate(model.observed_names)
        ],
        "latent_graph": {
            "directed": sorted(map(list, graph.directed)),
            "undirected": sorted(sorted(pair) for pair in graph.undirected),
        },
        "joint": model.joint.to_json(),
        "components": None
        if model.components is None
        else [
            {
                "family": held.family,
                **{
                    key: _replaced(value.tolist(), np.inf, _INFINITE)
                    for key, value in held.arrays().items()
                },
            }
            for held in model.components
        ],
        "reading": None if model.reading is None else model.reading.to_json(),
    }
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def read_json(text: str) -> LatentModel:
    """Read what :func:`to_json` wrote."""
    document = parse_json(text, "this model")
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FileFormatError("this JSON does not hold a mixoracle model")
    if document.get("version") not in _VERSIONS:
        raise FileFormatError(
            f"this model has format version {document.get('version')!r}; versions "
            f"{' and '.join(map(str, _VERSIONS))} are read"
        )
    try:
        return _build(document)
    except InvalidInputError as error:
        raise FileFormatError(f"this model contradicts itself: {error}") from error
    # A ragged list or a number too large for an array is a ValueError or an OverflowError.
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError) as error:
        raise FileFormatError(
            f"this model is incomplete: {type(error).__name__} {error}"
        ) from error


def _build(document: dict[str, Any]) -> LatentModel:
    from mixoracle.model.latent_model import LatentModel

    latents, observed = document["latents"], document["observed"]
    bipartite = np.zeros((len(observed), len(latents)), dtype=bool)
    for i, entry in enumerate(observed):
        bipartite[i, entry["parents"]] = True
    graph, held = document["latent_graph"], document["components"]
    return LatentModel(
        observed_names=tuple(entry["name"] for entry in observed),
        latent_names=tuple(entry["name"] for entry in latents),
        bipartite=bipartite,
        domain_sizes=tuple(entry["n_states"] for entry in latents),
        joint=joint_from_json(document["joint"]),
        latent_graph=CPDAG(
            len(latents),
            frozenset((i, j) for i, j in graph["directed"]),
            frozenset(frozenset(pair) for pair in graph["undirected"]),
        ),
        components=None if held is None else tuple(_component(entry) for entry in held),
        reading=Reading.from_json(document.get("reading")),
        state_names=tuple(entry.get("states") for entry in latents),
    )


def _replaced(value: Any, old: Any, new: Any) -> Any:
    """Nested lists with something else in place of one value."""
    if isinstance(value, list):
        return [_replaced(held, old, new) for held in value]
    return new if value == old else value


def _component(entry: dict[str, Any]) -> ComponentSet:
    arrays = {
        key: np.array(_replaced(value, _INFINITE, np.inf))
        for key, value in entry.items()
        if key != "family"
    }
    return ComponentSet.from_arrays(entry["family"], arrays)
