import errno
import subprocess
import sys

import pytest

from mixoracle import __version__
from mixoracle.errors import InvalidInputError

COMMANDS = ("demo", "simulate", "learn", "evaluate", "report", "check")
HEAVY = {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "networkx", "rich", "jinja2"}


def test_version(run):
    result = run("--version")
    assert result.exit_code == 0
    assert result.output == f"mixoracle, version {__version__}\n"


def test_help_lists_the_commands_in_the_order_of_use(run):
    output = run("--help").output
    places = [output.index(f"\n  {command} ") for command in COMMANDS]
    assert places == sorted(places)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example:\n    mixoracle {command} " in result.output


def test_help_loads_nothing_heavy():
    """One process, the help of learn last: each line on stderr is what was loaded by then."""
    asked = [[], *([command] for command in COMMANDS if command != "learn"), ["learn"]]
    script = (
        "import sys, mixoracle.cli\n"
        f"for command in {asked!r}:\n"
        "    try: mixoracle.cli.main([*command, '--help'])\n"
        "    except SystemExit: print(*{m.split('.')[0] for m in sys.modules}, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("Usage:") == len(asked)
    *others, learn = (set(line.split()) for line in done.stderr.splitlines())
    assert len(others) == len(asked) - 1
    assert not HEAVY & set().union(*others)
    # The help of learn lists what is registered, and registries hold code that computes.
    assert not (HEAVY - {"numpy", "scipy"}) & learn


def test_an_unknown_command_is_bad_input(run):
    result = run("lern")
    assert result.exit_code == 2
    assert "No such command 'lern'" in result.stderr


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (InvalidInputError("expected this;\n got that; do so"), "expected this; got that; do so"),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "no space left on device; free some space, or choose another disk",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "data.csv"),
            "data.csv: permission denied; choose a place that you may use, or ask for the right "
            "to it",
        ),
        (
            MemoryError(),
            "the data need more memory than there is; use fewer rows or a larger machine",
        ),
    ],
)
def test_expected_failures_are_one_line_and_code_2(run, monkeypatch, error, sentence):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("mixoracle.datasets.paper_problem", fail)
    result = run("demo", "--quiet")
    assert result.exit_code == 2
    assert result.stderr == f"Error: {sentence}\n"
    assert result.stdout == ""


@pytest.mark.parametrize("arguments", [("--debug", "demo"), ("demo", "--debug")])
def test_debug_shows_the_traceback(run, monkeypatch, arguments):
    def refuse(*_, **__):
        raise InvalidInputError("no")

    monkeypatch.setattr("mixoracle.datasets.paper_problem", refuse)
    assert isinstance(run(*arguments).exception, InvalidInputError)


def test_bugs_keep_their_traceback(run, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("not the user's fault")

    monkeypatch.setattr("mixoracle.datasets.paper_problem", broken)
    assert isinstance(run("demo").exception, RuntimeError)


def test_a_reader_that_goes_away_is_no_error_of_ours(run, monkeypatch):
    def gone(*_, **__):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("mixoracle.datasets.paper_problem", gone)
    assert "Error:" not in run("demo").stderr


@pytest.mark.parametrize("where", ["before", "after"])
def test_verbose_says_on_stderr_what_is_done(run, problem, where):
    import logging

    data = problem / "data.csv"
    arguments = ["learn", data, "--out", f"out-{where}", "--quiet"]
    result = run(*(["-v", *arguments] if where == "before" else [*arguments, "--verbose"]))
    assert result.exit_code == 0, result.stderr
    assert "mixoracle.solving: candidate of signature: " in result.stderr
    assert not logging.getLogger("mixoracle").handlers


def test_all_commands_have_the_same_options_for_output(run):
    import click

    from mixoracle.cli import _COMMANDS, main

    context = click.Context(main)
    for name in _COMMANDS:
        command = main.get_command(context, name)
        parts = command.commands.values() if isinstance(command, click.Group) else [command]
        for part in parts:
            listed = [option for parameter in part.params for option in parameter.opts]
            for option in ("--quiet", "-q", "--json", "--verbose", "-v", "--debug"):
                assert listed.count(option) == 1, (part.name, option)


def test_completion_is_offered(run):
    result = run(env={"_MIXORACLE_COMPLETE": "bash_source"}, prog_name="mixoracle")
    assert "_MIXORACLE_COMPLETE=bash_complete" in result.output
