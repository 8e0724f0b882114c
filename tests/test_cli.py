import re

import pytest
from click.testing import CliRunner

from mixoracle import __version__, cli
from mixoracle.datasets import random_model
from mixoracle.errors import InvalidInputError


def run(*arguments):
    return CliRunner().invoke(cli.main, list(arguments))


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert result.output == f"mixoracle, version {__version__}\n"


def test_help_lists_the_commands():
    result = run("--help")
    assert result.exit_code == 0
    assert "demo" in result.output


@pytest.mark.parametrize("seed", [14, 0, 1, 2, 3])
def test_demo_recovers_what_it_simulated(seed):
    result = run("demo", "--seed", str(seed))
    assert result.exit_code == 0, result.output
    assert "4 hidden causes drive 8 observed variables" in result.output
    assert "Γ exact, domain sizes exact" in result.output
    off_by = float(re.search(r"P\(H\) off by (\S+)", result.output).group(1))
    assert off_by < 1e-12


def test_demo_shows_graph_tables_and_assumptions():
    output = run("demo").output
    assert re.search(r"H1 +│ +\d │ +[●·]", output)
    assert "P(H): how likely each joint hidden state is" in output
    edges = re.search(r"Λ, what causes what: (.*)", output).group(1)
    truth = random_model(4, 8, 3, random_state=14).latent_graph
    assert truth.directed  # the default seed is chosen to show both kinds of edges
    assert truth.undirected
    assert edges.count("→") == len(truth.directed)
    assert edges.count("—") == len(truth.undirected)
    assert "Structural Hamming distance 0:" in output
    for assumption in ("no twins", "maximality", "nondegeneracy (a)", "subset condition"):
        assert re.search(rf"{re.escape(assumption)} +│ holds", output)


def test_demo_with_one_latent_is_a_plain_mixture():
    result = run("demo", "--latents", "1", "--observed", "2")
    assert result.exit_code == 0, result.output
    assert "no edges" in result.output


@pytest.mark.parametrize(
    "arguments", [("--latents", "0"), ("--max-domain", "1"), ("--seed", "-1"), ("--seed", "x")]
)
def test_options_out_of_range_are_bad_input(arguments):
    result = run("demo", *arguments)
    assert result.exit_code == 2
    assert "Invalid value" in result.output


def test_what_cannot_be_simulated_ends_in_one_line_and_code_2():
    result = run("demo", "--latents", "9", "--observed", "3")
    assert result.exit_code == 2
    assert result.output.startswith("Error: ")
    assert len(result.output.strip().splitlines()) == 1
    assert isinstance(result.exception, SystemExit)


def test_bugs_keep_their_traceback(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("not the user's fault")

    monkeypatch.setattr("mixoracle.datasets.random_model", broken)
    result = run("demo")
    assert isinstance(result.exception, RuntimeError)


def test_errors_of_any_command_are_one_line(monkeypatch):
    def refuse(*_, **__):
        raise InvalidInputError("expected this; got that; do so")

    monkeypatch.setattr("mixoracle.datasets.random_model", refuse)
    result = run("demo")
    assert result.exit_code == 2
    assert result.output == "Error: expected this; got that; do so\n"
