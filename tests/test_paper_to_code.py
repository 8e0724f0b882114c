"""docs/paper-to-code.md must not rot: what it names exists, and it leaves nothing out."""

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "docs" / "paper-to-code.md"
METHOD = ROOT / "docs" / "method.md"
PAPER = ROOT.parent / "shared" / "paper.tex"
KINDS = "definition|assumption|lemma|theorem|corollary|observation|remark|example|problem|algorithm"


def rows():
    """The cells of each table row: statement, what it says, code, tests."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return [row for row in cells if len(row) == 4 and row[0].startswith("`")]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def resolve(path):
    """Import the longest module prefix of a dotted path and follow the rest as attributes."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(path)


CODE = sorted({path for row in rows() for path in quoted(row[2])})
TESTS = sorted({path for row in rows() for path in quoted(row[3])})


@pytest.mark.parametrize("path", CODE)
def test_code_that_the_table_names_exists(path):
    assert path.startswith("mixoracle.")
    assert resolve(path) is not None


@pytest.mark.parametrize(
    "path",
    sorted(set(re.findall(r"`([a-z_]+(?:\.[A-Za-z_]+)+)`", METHOD.read_text(encoding="utf-8")))),
)
def test_code_that_the_method_names_exists(path):
    assert resolve(f"mixoracle.{path}") is not None


@pytest.mark.parametrize("path", TESTS)
def test_tests_that_the_table_names_exist(path):
    assert (ROOT / path).is_file()


def test_a_statement_with_code_has_a_test_and_one_without_says_why():
    for statement, _, code, tests in rows():
        assert bool(quoted(code)) == bool(quoted(tests)), statement
        assert quoted(code) or code, statement


def statements_of(paper):
    """The label of each statement; "section, kind n" for the n-th without one in a section."""
    text = re.sub(r"(?<!\\)%.*", "", paper)
    sections = [
        (found.start(), found.group(1))
        for found in re.finditer(r"\\label\{((?:sec|app):[^}]*)\}", text)
    ]
    unlabelled = Counter()
    for found in re.finditer(rf"\\begin\{{({KINDS})\}}(.*?)\\end\{{\1\}}", text, flags=re.DOTALL):
        kind, body = found.groups()
        labels = [
            label
            for label in re.findall(r"\\label\{([^}]*)\}", body)
            if not label.startswith(("eq:", "fig:"))
        ]
        yield from labels
        if not labels:
            section = [name for start, name in sections if start < found.start()][-1]
            unlabelled[section, kind] += 1
            yield f"{section}, {kind} {unlabelled[section, kind]}"


def test_statements_are_found_with_and_without_labels():
    sample = r"""
    \section{S}\label{sec:s}
    \begin{lemma}\label{lem:a} \begin{equation}\label{eq:b}\end{equation}\end{lemma}
    \begin{remark} one \end{remark} \begin{remark} two \end{remark}
    """
    assert list(statements_of(sample)) == ["lem:a", "sec:s, remark 1", "sec:s, remark 2"]


@pytest.mark.skipif(not PAPER.exists(), reason="the paper's source does not lie beside the project")
def test_every_statement_of_the_paper_is_in_the_table():
    listed = {name for row in rows() for name in quoted(row[0])}
    needed = set(statements_of(PAPER.read_text(encoding="utf-8")))
    assert len(needed) > 40
    assert not needed - listed
