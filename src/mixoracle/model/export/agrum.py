"""A pyAgrum Bayesian network over the latents: its inference, identification and drawings."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np

from mixoracle.errors import MissingDependencyError
from mixoracle.model import LatentModel
from mixoracle.model.factorisation import conditional, parents_of
from mixoracle.model.graphs import Edge


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
    """Return a ``pyagrum.BayesNet`` over the latents' own names.

    Parameters
    ----------
    model : LatentModel
    edges : frozenset of (i, j), optional
        Which member of Λ to use; one consistent extension by default. Where P(H) never shows a
        configuration of parents, the table is uniform.
    """
    pyagrum = load_pyagrum()
    chosen = model.latent_graph.extension() if edges is None else edges
    network = pyagrum.BayesNet("mixoracle")
    for name, size in zip(model.latent_names, model.domain_sizes, strict=True):
        network.add(pyagrum.LabelizedVariable(name, name, [str(state) for state in range(size)]))
    for i, j in sorted(chosen):
        network.addArc(model.latent_names[i], model.latent_names[j])
    for node, parents in enumerate(parents_of(chosen, model.n_latent)):
        table = conditional(model.joint, node, parents, unseen=1.0 / model.domain_sizes[node])
        potential = network.cpt(model.latent_names[node])
        axes = [model.latent_names.index(name) for name in potential.names]
        # pyAgrum's names run from the fastest axis to the slowest.
        ordered = np.moveaxis(table, axes, range(len(axes)))
        family = ordered.reshape([model.domain_sizes[j] for j in axes])
        potential.fillWith(family.ravel(order="F").tolist())
    return network
