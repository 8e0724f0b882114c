import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, GaussianComponents, JointTable, LatentModel


def arguments(**changes):
    """H1 (2 states) drives X1 and X2, H2 (3 states) drives X2."""
    return {
        "observed_names": ("X1", "X2"),
        "latent_names": ("H1", "H2"),
        "bipartite": [[1, 0], [1, 1]],
        "domain_sizes": (2, 3),
        "joint": JointTable(np.full((2, 3), 1 / 6)),
        "latent_graph": CPDAG(2, {(0, 1)}),
    } | changes


def gaussians(k):
    return GaussianComponents(np.arange(float(k))[:, None], np.ones((k, 1, 1)))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"observed_names": "X"}, "observed names should be a sequence of strings"),
        ({"observed_names": ("X1", "")}, "not empty"),
        ({"observed_names": ("X1", 2)}, "not empty"),
        ({"observed_names": ("X1", "\ud800")}, "without surrogates"),
        ({"latent_names": ("H", "H")}, "latent names should be distinct; 'H' occurs more"),
        ({"bipartite": [[1, 0]]}, r"each of the 2 observed variables .* got shape \(1, 2\)"),
        ({"domain_sizes": (2, 1)}, "at least 2"),
        ({"domain_sizes": (3, 2)}, r"P\(H\) should have shape \(3, 2\)"),
        ({"latent_graph": CPDAG(3)}, "Λ should have one node for each of the 2 latents; got 3"),
        ({"joint": np.full((2, 3), 1 / 6)}, "joint as a JointTable .* got ndarray and CPDAG"),
        ({"latent_graph": [(0, 1)]}, "got JointTable and list"),
        ({"components": [gaussians(2)]}, "one entry for each of the 2 observed variables; got 1"),
        ({"components": [gaussians(2), gaussians(5)]}, "X2 needs 6 components, .* got 5"),
        ({"components": [gaussians(2), "six"]}, "components of X2 should be a ComponentSet"),
    ],
)
def test_what_is_no_model_is_refused(changes, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        LatentModel(**arguments(**changes))


def test_parents_children_and_counts():
    model = LatentModel(**arguments())
    assert (model.parents(0), model.parents(1)) == ((0,), (0, 1))
    assert (model.children(0), model.children(1)) == ((0, 1), (1,))
    assert (model.n_components(0), model.n_components(1)) == (2, 6)


def test_components_are_counted_in_c_order_over_the_parents():
    model = LatentModel(**arguments())
    states = np.array(np.unravel_index(np.arange(6), (2, 3))).T
    labels = model.component_of_states(states)
    np.testing.assert_array_equal(labels[:, 0], states[:, 0])
    np.testing.assert_array_equal(labels[:, 1], np.arange(6))


def test_networkx_carries_kinds_and_edges():
    graph = LatentModel(**arguments(latent_graph=CPDAG(2, (), {frozenset({0, 1})}))).to_networkx()
    assert graph.nodes["H2"] == {"kind": "latent", "domain_size": 3}
    assert graph.nodes["X1"] == {"kind": "observed"}
    assert set(graph.edges) == {
        ("H1", "H2"),
        ("H2", "H1"),
        ("H1", "X1"),
        ("H1", "X2"),
        ("H2", "X2"),
    }
    assert graph.edges["H1", "H2"]["undirected"]
    assert not graph.edges["H1", "X1"]["undirected"]


def test_networkx_refuses_a_name_for_two_things():
    model = LatentModel(**arguments(latent_names=("X1", "H2")))
    with pytest.raises(InvalidInputError, match="share the name 'X1'"):
        model.to_networkx()


def test_no_latents():
    model = LatentModel(
        observed_names=("X1",),
        latent_names=(),
        bipartite=np.zeros((1, 0)),
        domain_sizes=(),
        joint=JointTable(1.0),
        latent_graph=CPDAG(0),
        components=[gaussians(1)],
    )
    assert model.n_components(0) == 1
    assert model.component_of_states(np.zeros((4, 0), dtype=int)).tolist() == [[0]] * 4
    assert set(model.to_networkx().nodes) == {"X1"}
    assert "0 latents behind 1 observed" in repr(model)


def test_repr_reads_as_a_graph():
    assert repr(LatentModel(**arguments())).splitlines() == [
        "LatentModel: 2 latents behind 2 observed",
        "  H1 (2 states) → X1, X2",
        "  H2 (3 states) → X2",
        "  among the latents: H1 → H2",
    ]


def test_html_escapes_names():
    shown = LatentModel(**arguments(observed_names=("<i>", "X2")))._repr_html_()
    assert "<i>" not in shown
    assert "&lt;i&gt;" in shown
