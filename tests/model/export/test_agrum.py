import importlib

import numpy as np
import pytest

from mixoracle.errors import MissingDependencyError
from mixoracle.model.export import to_pyagrum


def test_every_member_has_the_joint_distribution_and_the_names(models):
    for model in models:
        for edges in model.latent_graph.members():
            network = to_pyagrum(model, edges)
            names = [network.variable(j).name() for j in range(model.n_latent)]
            # A NUL would end the name in C++; it is escaped, all others are as they were.
            assert names == [
                name.replace("\0", "\\u0000").replace("\x85", "\\u0085")
                for name in model.latent_names
            ]
            assert network.arcs() == set(edges)
            product = network.cpt(0)
            for j in range(1, model.n_latent):
                product = product * network.cpt(j)
            table = product.reorganize(names[::-1]).toarray()
            assert np.abs(table - model.joint.table).max() < 1e-12


def test_without_pyagrum_the_extra_is_named(models, monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(MissingDependencyError, match="extra 'bn'"):
        models[0].to_pyagrum()
