import os
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def bare_name(requirement):
    """The project name in a requirement, in the form in which names are compared."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement).group()).lower()


def test_every_dependency_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    metadata = project["project"]
    wanted = {
        bare_name(requirement)
        for requirements in (
            metadata["dependencies"],
            project["build-system"]["requires"],
            *metadata["optional-dependencies"].values(),
        )
        for requirement in requirements
    }
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins)
    assert wanted - {"mixoracle"} <= {bare_name(pin) for pin in pins}


def test_the_lowest_versions_are_those_that_are_allowed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = (project["optional-dependencies"][name] for name in ("parquet", "excel", "dask"))
    allowed = [one for held in (project["dependencies"], *extras) for one in held]
    bounds = dict(re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\w.]+)", one).groups() for one in allowed)
    lines = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
    lowest = dict(line.split("==") for line in lines if not line.startswith("#"))
    for name, bound in bounds.items():
        assert f"{lowest[name]}.0".startswith(f"{bound}."), name


def test_ci_runs_the_gate():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text(encoding="utf-8")
