import pytest
from click.testing import CliRunner

from mixoracle import cli


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the program in an empty folder; ``run(...).stderr`` and ``.stdout`` are apart."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def invoke(*arguments, **more):
        return CliRunner().invoke(cli.main, [str(argument) for argument in arguments], **more)

    return invoke


@pytest.fixture(scope="session")
def problem(tmp_path_factory):
    """A small simulated problem on disk: data.csv and truth/."""
    folder = tmp_path_factory.mktemp("simulated") / "problem"
    arguments = "simulate --latents 2 --observed 5 --samples 400 --covariance code --seed 3 --out"
    result = CliRunner().invoke(cli.main, [*arguments.split(), str(folder)])
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="session")
def learned(problem, tmp_path_factory):
    """What ``learn`` leaves behind for that problem; not to be changed."""
    folder = tmp_path_factory.mktemp("learned") / "result"
    result = CliRunner().invoke(
        cli.main, ["learn", str(problem / "data.csv"), "--out", str(folder)]
    )
    assert result.exit_code == 0, result.output
    return folder
