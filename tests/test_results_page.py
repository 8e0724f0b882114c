"""docs/results.md runs and prints what it says."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

PAGE = (Path(__file__).parent.parent / "docs" / "results.md").read_text(encoding="utf-8")


def test_the_page_prints_what_it_says():
    ((program, expected),) = re.findall(
        r"^```python\n(.*?)^```\n```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
    )
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(program, "results.md", "exec"), {})
    assert printed.getvalue() == expected
