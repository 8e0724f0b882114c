import io

import numpy as np
import pytest
from rich.console import Console

from mixoracle import Observations
from mixoracle.assumptions import Verdict
from mixoracle.datasets import sparse_problem
from mixoracle.metrics import compare, compare_states
from mixoracle.mixtures.columns import read_columns
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


def test_explained_verdicts_say_what_to_do():
    verdicts = (
        Verdict("no twins", "assm:twins", False, "H1 and [H2].", (("H1",),)),
        Verdict("maximality", "assm:minimal", True, "Fine."),
    )
    output = printed(text.verdicts_explained(verdicts))
    assert "Every hidden cause leaves its own trace" in output
    assert "Found: H1 and [H2]." in output
    assert output.count("What now:") == 1


def test_a_summary_is_read_as_text_not_as_markup(make_result):
    result = make_result(2, 4, observed_names=("[red]", "X[0]", "c", "d"))
    output = printed(text.summary(result.model, result.evidence))
    assert "[red]" in output
    assert "open out/report.html in a browser" in text.written("out").plain
    assert "Nothing in the evidence speaks against the answer." in output


def test_comparisons_in_words():
    truth = make_model(np.full((2, 2), 0.25), np.eye(2), CPDAG(2))
    other = make_model(np.full((2, 2), 0.25), np.ones((2, 2)), CPDAG.from_dag([(0, 1)], 2))
    lines = text.comparison_lines(compare(truth, other), truth.latent_names)
    assert lines[0].startswith("Γ wrong, domain sizes exact, P(H) off by 0.0e+00")
    assert lines[1].startswith("Structural Hamming distance 3: 3 extra, 0 missing, 0 reversed")
    states = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    agreement = compare_states(states, states)
    lines = text.comparison_lines(compare(truth, truth), ("H1", "H2"), agreement)
    assert lines[-1] == "Cases classified correctly: H1 100.0%, H2 100.0%."


def test_what_was_understood_shows_ranges_and_kinds():
    observations = Observations.from_arrays(
        {"x": [[1.0, -2.0], [2.5, 10.0], [4.0, np.nan]], "mode": ["off", "on", "on"]}
    )
    columns = read_columns(observations)[1]
    document = text.understood_document(columns, observations.names, 3, ["a note"])
    rows = document["variables"]
    assert (rows[0]["from"], rows[0]["to"], rows[0]["kind"]) == ("-2", "10", "numbers")
    assert rows[0]["missing"] == pytest.approx(1 / 6)
    assert (rows[1]["from"], rows[1]["to"], rows[1]["kind"]) == ("off", "on", "levels")
    assert document["notes"] == ["a note"]
    assert "levels" in printed(text.understood_table(columns, observations.names, 3))


def test_the_short_table_has_a_line_for_each_kind():
    observations = Observations.from_arrays(
        {f"q{i}": np.array(["yes", "no", None, "yes"], dtype=object) for i in range(9)}
        | {"m": ["low", "mid", "high", "low"], "x": [0.5, 1.5, 2.5, 1.0]}
    )
    output = printed(text.kinds_table(read_columns(observations)[1], 4))
    (levels,) = [line for line in output.splitlines() if "levels (2 to 3)" in line]
    assert "q0, q1, q2, q3, q4, q5 and 4 more" in levels
    assert "9 of 40" in levels
    (numbers,) = [line for line in output.splitlines() if "numbers" in line]
    assert "none" in numbers


def test_many_measurements_are_listed():
    model = sparse_problem(12, 40, n_samples=2, random_state=0).model
    table = text.drives_table(model)
    assert [column.header for column in table.columns] == ["cause", "states", "measurements"]
    listed = [str(cell) for cell in table.columns[2].cells]
    assert listed[0] == ", ".join(model.observed_names[i] for i in model.children(0))
    assert len(listed) == 12
