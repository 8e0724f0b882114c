"""The commands that README and docs show, run one after the other as they stand there."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "command-line.md"]
# The most that a page should cost to load, as the images lie in the repository for good.
MAX_IMAGE_BYTES = 200_000


def commands(document):
    blocks = re.findall(r"^```console\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_commands_work(run, document):
    lines = commands(document)
    assert lines
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "mixoracle"
        result = run(*arguments)
        assert result.exit_code == 0, f"{line}\n{result.output}"


def test_the_table_of_commands_is_complete(run):
    page = (ROOT / "docs" / "command-line.md").read_text()
    listed = re.findall(r"^\| `([a-z]+)(?: [A-Z ]+)?` \|", page, re.MULTILINE)
    shown = re.findall(r"^  ([a-z]+)  ", run("--help").output.split("Commands:")[1], re.MULTILINE)
    assert listed == shown


def test_pictures_are_small():
    pictures = list((ROOT / "docs" / "images").iterdir())
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size < MAX_IMAGE_BYTES, picture.name
