import json
import re

import pytest

from mixoracle import LatentModel


def test_demo_learns_what_it_simulated(run, tmp_path):
    result = run("demo")
    assert result.exit_code == 0, result.output
    output = result.stdout
    assert "4 hidden causes drive 8 measurements of 3000 cases (seed 14)." in output
    assert "Γ exact, domain sizes exact" in output
    assert "Structural Hamming distance 0:" in output
    assert "Open demo-result/report.html in a browser" in output
    graph = LatentModel.load(tmp_path / "demo-result").latent_graph
    assert graph.directed  # the default seed is chosen to show both kinds of edges
    assert graph.undirected


def test_demo_leaves_its_data_and_may_be_run_again(run, tmp_path):
    for _ in range(2):
        result = run("demo", "--latents", 1, "--observed", 2, "--samples", 200, "--out", "d", "-q")
        assert result.exit_code == 0
    assert (tmp_path / "d" / "data.csv").is_file()
    assert (tmp_path / "d" / "report.html").is_file()


def test_demo_replaces_nothing_but_a_demo(run, learned, problem):
    for folder in (learned, problem):
        result = run("demo", "--out", folder)
        assert result.exit_code == 2
        assert "exists already" in result.stderr


def test_demo_for_machines(run):
    result = run("demo", "--latents", 2, "--observed", 4, "--samples", 300, "--out", "d", "--json")
    assert result.stderr == ""
    assert {"shd", "latents", "out"} <= json.loads(result.stdout).keys()


@pytest.mark.parametrize(
    "arguments", [("--latents", "0"), ("--max-domain", "1"), ("--seed", "-1"), ("--seed", "x")]
)
def test_options_out_of_range_are_bad_input(run, arguments):
    result = run("demo", *arguments)
    assert result.exit_code == 2
    assert "Invalid value" in result.stderr


def test_what_cannot_be_simulated_ends_in_one_line_and_code_2(run):
    result = run("demo", "--latents", "9", "--observed", "3", "--quiet")
    assert result.exit_code == 2
    assert re.fullmatch(r"Error: .*\n", result.stderr)
