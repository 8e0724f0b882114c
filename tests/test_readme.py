import io
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def blocks(language):
    return [code for found, code in FENCE.findall(README) if found == language]


def test_python_blocks_print_what_the_readme_says():
    programs, outputs = blocks("python"), blocks("text")
    assert programs
    assert len(programs) == len(outputs)
    for program, expected in zip(programs, outputs, strict=True):
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(program, "README.md", "exec"), {"__name__": "readme"})
        assert printed.getvalue() == expected


def test_make_commands_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    commands = [line.split() for block in blocks("sh") for line in block.splitlines()]
    assert commands
    for program, target, *_ in commands:
        assert program == "make"
        assert target in targets


def test_it_is_short():
    assert len(README.splitlines()) <= 120


def test_the_picture_is_what_its_script_draws(tmp_path):
    drawn = tmp_path / "graph.svg"
    script = ROOT / "examples" / "recover_a_graph.py"
    subprocess.run([sys.executable, script, drawn], check=True, capture_output=True)
    assert drawn.read_text(encoding="utf-8") == (ROOT / "docs" / "graph.svg").read_text(
        encoding="utf-8"
    )
