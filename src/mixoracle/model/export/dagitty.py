"""DAGitty's text format: for its adjustment sets and testable implications.

Latents carry ``[latent]``; a graph with open edges is a ``pdag`` and has ``--`` between their
ends. The format has no place for domain sizes.
"""

from __future__ import annotations

import re

from mixoracle.errors import FileFormatError
from mixoracle.model import LatentModel
from mixoracle.model.export.graph import CausalGraph
from mixoracle.model.export.names import escaped, unescaped

_FRAME = re.compile(r"\s*(dag|pdag)\s*\{(.*)\}\s*", re.DOTALL)
_NODE = re.compile(r'"([^"]*)"(\s*\[latent\])?')
_EDGE = re.compile(r'"([^"]*)"\s*(->|--)\s*"([^"]*)"')


def to_dagitty(model: LatentModel) -> str:
    """Write G in DAGitty's format."""
    graph = CausalGraph.of(model)
    graph.refuse_shared_names()
    lines = ["pdag {" if graph.latent_graph.undirected else "dag {"]
    lines += [f"{_quoted(name)} [latent]" for name in graph.latent_names]
    lines += [_quoted(name) for name in graph.observed_names]
    lines += [f"{_quoted(first)} -> {_quoted(second)}" for first, second in graph.arrows()]
    lines += [f"{_quoted(first)} -- {_quoted(second)}" for first, second in graph.links()]
    return "\n".join([*lines, "}"]) + "\n"


def read_dagitty(text: str) -> CausalGraph:
    """Read what :func:`to_dagitty` wrote: one quoted node or edge a line."""
    frame = _FRAME.fullmatch(text)
    if frame is None:
        raise FileFormatError("DAGitty text should look like 'dag { … }' or 'pdag { … }'")
    latent: list[str] = []
    observed: list[str] = []
    arrows: list[tuple[str, str]] = []
    links: list[tuple[str, str]] = []
    for line in filter(None, map(str.strip, frame[2].splitlines())):
        node, edge = _NODE.fullmatch(line), _EDGE.fullmatch(line)
        if node:
            (latent if node[2] else observed).append(unescaped(node[1]))
        elif edge:
            ends = unescaped(edge[1]), unescaped(edge[3])
            (arrows if edge[2] == "->" else links).append(ends)
        else:
            raise FileFormatError(
                f"expected one quoted node or edge a line in DAGitty text; got {line!r}"
            )
    return CausalGraph.from_edges(observed, latent, arrows, links)


def _quoted(name: str) -> str:
    return f'"{escaped(name, also=chr(34))}"'
