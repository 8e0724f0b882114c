import io

import numpy as np
from rich.console import Console

from mixoracle.assumptions import Verdict
from mixoracle.model import CPDAG, JointTable, LatentModel
from mixoracle.report import text


def printed(renderable):
    stream = io.StringIO()
    Console(file=stream, width=100).print(renderable)
    return stream.getvalue()


def make_model(joint, bipartite, edges, observed=("X1", "X2")):
    joint = JointTable(np.asarray(joint))
    return LatentModel(
        observed_names=observed,
        latent_names=("H1", "H2"),
        bipartite=bipartite,
        domain_sizes=joint.domain_sizes,
        joint=joint,
        latent_graph=edges,
    )


MODEL = make_model([[0.1, 0.2, 0.3], [0.15, 0.25, 0.0]], [[1, 0], [1, 1]], CPDAG(2))


def test_drives_table_marks_the_edges_of_gamma():
    rows = [line for line in printed(text.drives_table(MODEL)).splitlines() if "│ H" in line]
    assert [row.count("●") for row in rows] == [2, 1]
    assert rows[1].index("·") < rows[1].index("●")


def test_joint_states_are_listed_from_the_likeliest_and_the_rest_is_counted():
    output = printed(text.joint_states_table(MODEL, max_states=2))
    assert output.index("0.3000") < output.index("0.2500")
    assert "0.2000" not in output
    assert "4 rarer states not shown, together 0.450" in output


def test_latent_edges_tell_arrows_from_open_directions():
    directed = CPDAG(2, frozenset({(1, 0)}))
    undirected = CPDAG.from_dag([(0, 1)], 2)
    table = np.full((2, 2), 0.25)
    assert text.latent_edges(make_model(table, np.eye(2), directed)).plain == "H2 → H1"
    assert text.latent_edges(make_model(table, np.eye(2), undirected)).plain == "H1 — H2"
    assert text.latent_edges(MODEL).plain.startswith("no edges")


def test_names_are_not_read_as_markup():
    model = make_model(np.full((2, 2), 0.25), np.eye(2), CPDAG(2), observed=("X[0]", "[red]"))
    output = printed(text.drives_table(model))
    assert "X[0]" in output
    assert "[red]" in output


def test_verdicts_say_what_failed_in_words():
    verdicts = (
        Verdict("one", "a", True, "fine"),
        Verdict("two", "b", False, "H1=[0] is to blame", (("H1",),)),
        Verdict("three", "c", None, "not known"),
    )
    output = printed(text.verdicts_table(verdicts))
    for word in ("holds", "fails", "undecided", "H1=[0] is to blame"):
        assert word in output
