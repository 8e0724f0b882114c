"""Reports of data whose every name is an attack, opened in a real browser."""

import numpy as np
import pytest

from mixoracle.datasets import kind_problem
from mixoracle.report import html
from mixoracle.report.folder import new_folder, read_result, write_result

ATTACKS = (
    "<script>window.broken = 1</script>",
    "\"'><svg onload=window.broken=1>",
    "<!--<script>{{ 7 * 7 }}",
    "\u202e\u2066\u2067right to left \u200f\u061c",
    '=HYPERLINK("http://x","click")',
    "-->]]></style></title><iframe src=x>",
    "javascript:window.broken=1",
    "y" * 10_000,
)
RUN_ATTACK = "</title><script>window.broken = 4</script>"


@pytest.fixture(scope="module")
def attacked(make_result, tmp_path_factory):
    """A whole result folder: names, levels, file, settings and versions are attacks."""
    problem = kind_problem(2, len(ATTACKS), 3, 300, random_state=1, kind="categorical")
    levels = [
        tuple(None if held is None else (*ATTACKS[:4], *"defgh")[: len(held)] for held in block)
        for block in problem.observations.levels
    ]
    run = {
        "data": {"file": RUN_ATTACK, "rows": 300, "missing": 0.0, "sha256": RUN_ATTACK},
        "settings": {RUN_ATTACK: [RUN_ATTACK], "drop": {"a": RUN_ATTACK}},
        "timings": {RUN_ATTACK: 0.01},
        "versions": {"mixoracle": RUN_ATTACK, RUN_ATTACK: "3"},
        "platform": RUN_ATTACK,
        "finished": RUN_ATTACK,
    }
    result = make_result(
        model=problem.model,
        observed_names=ATTACKS,
        # Observed names with line breaks are refused; those of latents are anybody's choice.
        latent_names=("<svg/onload=window.broken=2>\r\n\t\u2028\u2029", "z" * 10_000),
        levels=levels,
        n_samples=300,
        run=run,
    )
    states = np.zeros((300, 2), dtype=np.int64)
    with new_folder(tmp_path_factory.mktemp("attacked") / "result") as folder:
        write_result(
            folder, result, states, [np.ones((300, s)) / s for s in problem.model.domain_sizes]
        )
        place = folder.parent.parent / "result"
    return place, result


def test_no_script_of_the_data_runs(browser, attacked):
    browser.open(attacked[0] / "report.html")
    assert browser.complaints() == []
    assert len(browser.requests()) == 1
    assert browser.run("window.broken") is None
    assert browser.run("[...document.querySelectorAll('script')].map(s => s.type)") == [
        "application/json",
        "",
    ]
    assert browser.run("document.querySelectorAll('iframe, img, object').length") == 0
    assert browser.run("document.title").startswith("Hidden causes behind </title>")


@pytest.mark.parametrize("width", [1280, 390])
def test_long_names_stay_inside_of_the_page(browser, attacked, width):
    browser.open(attacked[0] / "report.html", width)
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_the_picture_alone_is_harmless_too(browser, attacked):
    browser.open(attacked[0] / "graph.svg")
    assert browser.complaints() == []
    assert browser.run("document.querySelectorAll('script').length") == 0


def test_the_result_reads_back_with_its_names(attacked):
    held = read_result(attacked[0])
    assert held.model.observed_names == ATTACKS
    assert html.render(held) == (attacked[0] / "report.html").read_text(encoding="utf-8")
