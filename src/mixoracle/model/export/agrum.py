"""A pyAgrum Bayesian network over the latents: its inference, identification and drawings."""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from mixoracle.errors import MissingDependencyError
from mixoracle.model.export.bif import family_table
from mixoracle.model.export.names import escaped
from mixoracle.model.graphs import Edge

if TYPE_CHECKING:
    from mixoracle.model.latent_model import LatentModel


def load_pyagrum() -> Any:
    """Import pyAgrum, or say which extra is missing."""
    try:
        # Its generated types warn when they are made, and a program that turns warnings into
        # errors would crash in the middle of loading the extension.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module("pyagrum")
    except ImportError as error:
        raise MissingDependencyError(
            "to_pyagrum needs pyAgrum; install the extra 'bn' (mixoracle[bn])"
        ) from error


def to_pyagrum(model: LatentModel, edges: frozenset[Edge] | None = None) -> Any:
    """Return a ``pyagrum.BayesNet`` over the latents' own names (extra ``bn``).

    ``edges`` is the member of Λ to use, one consistent extension by default. Where P(H) never shows
    a configuration of parents, the table is uniform.
    """
    pyagrum = load_pyagrum()
    chosen = model.latent_graph.extension() if edges is None else edges
    # pyAgrum's strings end at the first NUL, so names with one are escaped.
    names = [escaped(name) if "\0" in name else name for name in model.latent_names]
    network = pyagrum.BayesNet("mixoracle")
    for j, name in enumerate(names):
        states = [escaped(s) if "\0" in s else s for s in model.states_of(j)]
        network.add(pyagrum.LabelizedVariable(name, name, states))
    for i, j in sorted(chosen):
        network.addArc(names[i], names[j])
    for node in range(model.n_latent):
        potential = network.cpt(names[node])
        # pyAgrum lists axes from the fastest, the node itself, to the slowest.
        order = [names.index(name) for name in reversed(potential.names)][:-1]
        potential.fillWith(family_table(model, node, order).ravel().tolist())
    return network
