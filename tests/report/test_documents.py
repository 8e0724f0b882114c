import re
from pathlib import Path

import matplotlib as mpl

PAGE = Path(__file__).parents[2] / "docs" / "report.md"


def test_the_example_runs(tmp_path, monkeypatch, capsys):
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    with mpl.rc_context({"backend": "agg"}):
        exec(compile(program, PAGE.name, "exec"), {"__name__": "example"})
        from matplotlib import pyplot

        pyplot.close("all")
    assert (tmp_path / "graph.pdf").read_bytes().startswith(b"%PDF")
    assert re.fullmatch(r"\[\d+(, \d+){4}\]\n", capsys.readouterr().out)
