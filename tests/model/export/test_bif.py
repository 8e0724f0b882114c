import numpy as np
import pytest

from mixoracle.errors import FileFormatError
from mixoracle.model import CPDAG, JointTable, LatentModel
from mixoracle.model.export import read_bif, to_bif
from mixoracle.model.export.agrum import load_pyagrum
from mixoracle.model.factorisation import factorised

TINY = """
network tiny { }
variable a { type discrete [ 2 ] { yes, no }; }
variable b { type discrete [ 2 ] { s0, s1 }; }
probability ( a ) { table 0.25 0.75; }   // as pyAgrum writes it, without commas
probability ( b | a ) { (yes) 0.5, 0.5; (no) 0.1, 0.9; }
"""


def joint_of(network, names):
    """The joint table of a pyAgrum network over its variables in a given order."""
    product = None
    for name in names:
        product = network.cpt(name) if product is None else product * network.cpt(name)
    return product.reorganize(list(reversed(names))).toarray()


def test_pyagrum_reads_the_same_joint_distribution(models, tmp_path):
    pyagrum = load_pyagrum()
    for k, model in enumerate(models):
        path = tmp_path / f"{k}.bif"
        path.write_text(to_bif(model), encoding="utf-8")
        network = pyagrum.loadBN(str(path))
        names = [network.variable(j).name() for j in range(model.n_latent)]
        assert np.abs(joint_of(network, names) - model.joint.table).max() < 1e-9


def test_what_was_written_is_read_back(models):
    for model in models:
        network = read_bif(to_bif(model))
        assert network.latent_names == model.latent_names
        assert network.edges == model.latent_graph.extension()
        assert np.abs(network.joint.table - model.joint.table).max() < 1e-12


def test_what_pyagrum_writes_is_read_too(models, tmp_path):
    pyagrum = load_pyagrum()
    model = models[3]
    path = tmp_path / "theirs.bif"
    pyagrum.saveBN(model.to_pyagrum(), str(path))
    network = read_bif(path.read_text())
    order = [network.latent_names.index(name) for name in model.latent_names]
    found = network.joint.table.transpose(order)
    assert np.abs(found - model.joint.table).max() < 1e-5


def test_the_file_says_that_it_holds_one_of_several_dags(models):
    chain = next(model for model in models if model.latent_graph.size > 1)
    assert f"one of {chain.latent_graph.size} equivalent DAGs" in to_bif(chain)


def test_unseen_configurations_are_uniform_and_estimates_are_factorised():
    joint = JointTable(np.array([[0.3, 0.7], [0.0, 0.0]]))
    model = LatentModel(
        observed_names=("X",),
        latent_names=("A", "B"),
        bipartite=[[True, True]],
        domain_sizes=(2, 2),
        joint=joint,
        latent_graph=CPDAG(2, frozenset({(0, 1)})),
    )
    assert "(s1) 0.5, 0.5;" in to_bif(model)
    skewed = JointTable(np.array([[0.4, 0.1], [0.2, 0.3]]))
    apart = LatentModel(
        observed_names=("X",),
        latent_names=("A", "B"),
        bipartite=[[True, True]],
        domain_sizes=(2, 2),
        joint=skewed,
        latent_graph=CPDAG(2),
    )
    found = read_bif(to_bif(apart)).joint.table
    assert found == pytest.approx(factorised(skewed, []).table)


def test_foreign_files_are_read():
    network = read_bif(TINY)
    assert network.latent_names == ("a", "b")
    assert network.edges == {(0, 1)}
    assert network.joint.table == pytest.approx(np.array([[0.125, 0.125], [0.075, 0.675]]))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("variable b", "thing b", "got 'thing'"),
        ("[ 2 ] { yes", "[ 3 ] { yes", "a should list 3 states; it lists 2"),
        ("0.25 0.75", "0.25", "should have 2 numbers; got 1"),
        ("0.25 0.75", "0.25 much", "should hold numbers"),
        ("0.25 0.75", "0.25 0.25", "sum to 1"),
        ("(yes) 0.5, 0.5;", "", "lacks the row"),
        ("(yes)", "(maybe)", "no configuration"),
        ("( b | a )", "( b | c )", "no known variables"),
        ("probability ( a ) { table 0.25 0.75; }", "", "a has no probability block"),
        ("(no) 0.1, 0.9; }", "(no) 0.1", "cut off"),
        ("(yes) 0.5, 0.5; (no) 0.1, 0.9;", "table 0.5 0.5 0.1 0.9;", "one row for each"),
        ("discrete", "continuous", "expected 'discrete'"),
        ("type discrete [ 2 ] { s0", "kind discrete [ 2 ] { s0", "'type' or 'property'"),
    ],
)
def test_broken_files_are_refused(old, new, words):
    assert old in TINY
    with pytest.raises(FileFormatError, match=words):
        read_bif(TINY.replace(old, new))


def test_a_cycle_is_refused():
    text = TINY.replace("( a ) { table 0.25 0.75; }", "( a | b ) { (s0) 1 0; (s1) 0 1; }")
    with pytest.raises(FileFormatError, match="cycle"):
        read_bif(text)
