import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.model import Bipartite


@pytest.mark.parametrize(
    ("adjacency", "sizes", "residual", "sentence"),
    [
        ([1, 1], (2,), 0.0, r"shape \(n_observed, n_latent\); got \(2,\)"),
        ([[1, 0], [1, 0]], (2, 2), 0.0, "each latent needs a child in Γ; latent 1 has none"),
        ([[1], [2]], (2,), 0.0, "only 0/1"),
        ([[1], [1]], (2, 2), 0.0, "one size for each of the 1 latents"),
        ([[1], [1]], (1,), 0.0, "at least 2"),
        ([[1], [1]], (2,), -1.0, "residual should be at least 0"),
        ([[1], [1]], (2,), float("nan"), "residual should be at least 0"),
    ],
)
def test_what_is_no_bipartite_graph_is_refused(adjacency, sizes, residual, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Bipartite(adjacency, sizes, residual)


def test_sizes_and_repr():
    graph = Bipartite([[1, 0], [1, 1]], [2, 3], 0.125, "als")
    assert (graph.n_observed, graph.n_latent) == (2, 2)
    assert repr(graph) == (
        "Bipartite(H1(2 states)→{X1, X2}; H2(3 states)→{X2}; method='als', residual=0.12)"
    )


def test_no_latents():
    graph = Bipartite(np.zeros((3, 0)), ())
    assert graph.n_latent == 0
    assert "no latents over 3 observed variables" in repr(graph)
