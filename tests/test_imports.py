import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mixoracle

ROOT = Path(__file__).parent.parent
HEAVY = {"sklearn", "pandas", "matplotlib", "networkx", "scipy", "numpy", "rich", "jinja2"}


def modules_after(statement):
    """The top-level modules that a fresh interpreter has loaded after one statement."""
    script = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_neither_the_package_nor_the_command_line_loads_anything_heavy():
    loaded = modules_after("import mixoracle\nimport mixoracle.cli")
    assert "mixoracle" in loaded
    assert not loaded & HEAVY


def test_no_stage_loads_an_optional_or_heavy_package():
    stages = ("oracles", "bipartite", "latent", "structure")
    loaded = modules_after("\n".join(f"import mixoracle.{stage}" for stage in stages))
    assert not loaded & {"sklearn", "pandas", "matplotlib", "networkx", "ges", "causallearn"}


@pytest.mark.parametrize("name", mixoracle.__all__)
def test_every_public_name_resolves_and_is_listed(name):
    assert getattr(mixoracle, name) is not None
    assert name in dir(mixoracle)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'LatentGraphLerner'"):
        _ = mixoracle.LatentGraphLerner


# --- the import rules of pyproject.toml: kept here, and able to fail ---


def lint_imports(folder):
    script = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run(
        [script, "--config", ROOT / "pyproject.toml", "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(folder)},
    )
    # Older versions of rich colour what goes into a pipe.
    done.stdout = re.sub("\x1b" + r"\[[\d;]*m", "", done.stdout)
    return done


@pytest.fixture
def source_copy(tmp_path):
    shutil.copytree(
        ROOT / "src" / "mixoracle",
        tmp_path / "mixoracle",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return tmp_path


def test_the_import_rules_are_kept(source_copy):
    done = lint_imports(source_copy)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("module", "statement", "broken"),
    [
        ("bipartite/extra.py", "import mixoracle.latent", "Stages do not import stages"),
        ("structure/extra.py", "import mixoracle.oracles.exact", "Stages do not import stages"),
        ("oracles/extra.py", "import mixoracle.metrics", "Stages know only errors"),
        ("model/extra.py", "import mixoracle.oracles.protocol", "The records know nothing"),
        ("families/extra.py", "import mixoracle.model.joint", "A family knows nothing"),
        ("families/extra.py", "import mixoracle.observations", "Each layer knows only"),
        ("learner.py", "import mixoracle.datasets", "Each layer knows only those below it"),
        ("learner.py", "import mixoracle.metrics", "Each layer knows only those below it"),
        ("inference/refine.py", "import mixoracle.learner", "Each layer knows only those below it"),
        ("stray.py", "import mixoracle.errors", "Each layer knows only those below it"),
    ],
)
def test_a_forbidden_import_is_caught(source_copy, module, statement, broken):
    package = source_copy / "mixoracle"
    if "learner" in statement:
        (package / "learner.py").write_text("")
    target = package / module
    target.write_text(f"{statement}\n")
    done = lint_imports(source_copy)
    assert done.returncode == 1, done.stdout
    assert any(
        line.startswith(broken) and " BROKEN" in line for line in done.stdout.splitlines()
    ), done.stdout


def test_the_learner_may_use_every_stage(source_copy):
    stages = ("oracles", "bipartite", "latent", "structure", "assumptions", "observations")
    learner = "".join(f"import mixoracle.{stage}\n" for stage in stages)
    (source_copy / "mixoracle" / "learner.py").write_text(learner)
    done = lint_imports(source_copy)
    assert done.returncode == 0, done.stdout
