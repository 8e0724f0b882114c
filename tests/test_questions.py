"""docs/questions.md is a program: its blocks run in order and print what it says."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

GUIDE = (Path(__file__).parent.parent / "docs" / "questions.md").read_text(encoding="utf-8")
PAIR = re.compile(r"^```python\n(.*?)^```\n```text\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def test_the_guide_prints_what_it_says():
    pairs = PAIR.findall(GUIDE)
    assert len(pairs) == GUIDE.count("```python") == 6
    shared = {}
    for program, expected in pairs:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(program, "questions.md", "exec"), shared)
        assert printed.getvalue() == expected
