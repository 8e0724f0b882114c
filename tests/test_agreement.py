"""Whether data agree with a declared Γ better than by chance."""

import numpy as np
import pytest

from mixoracle.background import Background, KnownLatent
from mixoracle.background.agreement import agreement, shared_edges
from mixoracle.model import Bipartite
from mixoracle.report.meanings import meaning_of
from mixoracle.trust.overall import overall

NAMES = tuple(f"item{i + 1}" for i in range(12))
DECLARED = np.repeat(np.eye(3, dtype=bool), 4, axis=0)


def known(adjacency=DECLARED, complete=True):
    latents = [
        KnownLatent(f"skill{j + 1}", np.flatnonzero(own).tolist(), exactly=complete, domain_size=2)
        for j, own in enumerate(adjacency.T)
    ]
    return Background(latents, complete=complete).resolved(NAMES)


def found(adjacency):
    return Bipartite(adjacency, (2,) * adjacency.shape[1], 0.0, "decoded")


def test_the_same_graph_in_another_order_agrees():
    (verdict,) = agreement(known(), found(DECLARED[:, [2, 0, 1]]))
    assert verdict.holds is True
    assert "shares 12 of the 12 edges that were declared" in verdict.message
    assert "(p = 0.001)" in verdict.message


@pytest.mark.parametrize("kind", ["one cause for everything", "other items", "none"])
def test_no_better_than_chance_is_said(kind, no_latents):
    graphs = {
        "one cause for everything": np.ones((12, 1), dtype=bool),
        "other items": np.tile(np.eye(3, dtype=bool), (4, 1)),
        "none": np.zeros((12, 0), dtype=bool),
    }
    (verdict,) = agreement(known(), found(graphs[kind]))
    assert verdict.holds is False
    if kind == "one cause for everything":
        assert verdict.message.endswith("whether the declared one is right cannot be judged")
        assert "p = " not in verdict.message
    else:
        assert "this is no better than chance" in verdict.message
    assert meaning_of(verdict).failed.endswith("no better than by chance")
    (reason,) = overall(no_latents, [verdict], n_samples=500).reasons
    assert reason.startswith("In doubt: that the measurements show the causes that you declared.")


def test_nothing_to_compare_is_no_verdict():
    assert agreement(known(complete=False), found(DECLARED)) == ()
    assert agreement(known(), None) == ()
    assert agreement(known(np.ones((12, 1), dtype=bool)), found(DECLARED)) == ()


def test_each_latent_is_matched_once():
    assert shared_edges(DECLARED, np.ones((12, 2), dtype=bool)) == 8
