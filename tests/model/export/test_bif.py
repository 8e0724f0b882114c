import dataclasses

import numpy as np
import pytest

from mixoracle.errors import FileFormatError
from mixoracle.model import CPDAG, JointNetwork, JointTable, LatentModel
from mixoracle.model.export import read_bif, read_xmlbif, to_bif, to_xmlbif, write
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


@pytest.fixture(params=[".bif", ".bifxml"])
def reread(request, tmp_path):
    """Write a model and let pyAgrum read it."""

    def through_a_file(model):
        path = tmp_path / f"model{request.param}"
        write(model, path)
        return load_pyagrum().loadBN(str(path))

    through_a_file.single_precision = request.param == ".bif"
    return through_a_file


def test_pyagrum_reads_the_same_joint_distribution(models, reread):
    for model in map(in_single_precision, models) if reread.single_precision else models:
        network = reread(model)
        names = [network.variable(j).name() for j in range(model.n_latent)]
        assert np.abs(joint_of(network, names) - model.joint.table).max() < 1e-9


def in_single_precision(model):
    """The model with conditional probabilities that have few binary digits.

    pyAgrum's BIF parser reads single-precision numbers (0.1 becomes 0.100000001490116), so only
    such models can come back exactly; its XMLBIF parser has no such limit.
    """
    along = factorised(model.joint, model.latent_graph.extension())
    tables = [np.floor(table * 4096) / 4096 for table in along.conditionals]
    for table in tables:
        table[..., -1] += 1 - table.sum(axis=-1)
    return dataclasses.replace(model, joint=JointNetwork(along.parents, tables))


def test_pyagrum_reads_every_number_of_any_model_to_its_precision(models, reread):
    for model in models:
        network = reread(model)
        ours = model.to_pyagrum()
        for j in range(model.n_latent):
            written = ours.cpt(j).toarray()
            order = [ours.variable(name).name() for name in ours.cpt(j).names]
            places = [ours.idFromName(name) for name in order]
            theirs = network.cpt(j)
            read = theirs.reorganize([network.variable(k).name() for k in places]).toarray()
            expected = written.astype(np.float32) if reread.single_precision else written
            assert np.array_equal(read.astype(expected.dtype), expected)


@pytest.mark.parametrize(("writer", "reader"), [(to_bif, read_bif), (to_xmlbif, read_xmlbif)])
def test_what_was_written_is_read_back(models, writer, reader):
    for model in models:
        network = reader(writer(model))
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
    for text in (to_bif(chain), to_xmlbif(chain)):
        assert f"one of {chain.latent_graph.size} equivalent DAGs" in text


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
        ("probability ( a ) { table 0.25 0.75; }", "", "a has no probabilities"),
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


def test_xml_from_elsewhere_is_read_or_refused():
    text = (
        "<BIF><NETWORK><VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>"
        "<DEFINITION><FOR>a</FOR><TABLE>0.25 0.75</TABLE></DEFINITION></NETWORK></BIF>"
    )
    assert read_xmlbif(text).joint.table == pytest.approx([0.25, 0.75])
    for old, new, words in [
        ("0.25 0.75", "0.25", "should hold 2 numbers"),
        ("0.25 0.75", "0.25 0.25", "sum to 1"),
        ("<FOR>a</FOR>", "<FOR>b</FOR>", "'b', which is no variable"),
        ("<FOR>a</FOR>", "", "lacks its FOR"),
        ("NETWORK", "OTHER", "no XMLBIF network"),
        ("</BIF>", "", "not XML"),
    ]:
        with pytest.raises(FileFormatError, match=words):
            read_xmlbif(text.replace(old, new))


@pytest.mark.parametrize("name", ["default", "table", "network", "probability"])
def test_words_of_the_format_are_names_too(name, tmp_path):
    model = LatentModel(
        observed_names=["X"],
        latent_names=[name, "other"],
        bipartite=np.ones((1, 2)),
        domain_sizes=(2, 2),
        joint=JointTable(np.full((2, 2), 0.25)),
        latent_graph=CPDAG.from_dag([(0, 1)], 2),
        components=None,
    )
    assert read_bif(to_bif(model)).latent_names == (name, "other")
    (tmp_path / "model.bif").write_text(to_bif(model))
    assert load_pyagrum().loadBN(str(tmp_path / "model.bif")).size() == 2


@pytest.mark.parametrize("text", ["", "  \n", "// a comment alone"])
def test_no_block_is_no_network(text):
    with pytest.raises(FileFormatError, match="holds no block at all"):
        read_bif(text)
