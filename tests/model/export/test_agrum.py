import importlib

import numpy as np
import pytest

from mixoracle.errors import MissingDependencyError
from mixoracle.model.export import to_pyagrum


def test_every_member_has_the_joint_distribution_and_the_names(models):
    for model in models:
        for edges in model.latent_graph.members():
            network = to_pyagrum(model, edges)
            assert network.names() == set(model.latent_names)
            named = {(model.latent_names[i], model.latent_names[j]) for i, j in edges}
            arcs = {
                (network.variable(i).name(), network.variable(j).name()) for i, j in network.arcs()
            }
            assert arcs == named
            product = network.cpt(model.latent_names[0])
            for name in model.latent_names[1:]:
                product = product * network.cpt(name)
            table = product.reorganize(list(reversed(model.latent_names))).toarray()
            assert np.abs(table - model.joint.table).max() < 1e-9


def test_without_pyagrum_the_extra_is_named(models, monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(MissingDependencyError, match="extra 'bn'"):
        models[0].to_pyagrum()
