"""The pictures of a report in a real browser: drawn when seen, chosen, asked, printed."""

import json

import numpy as np
import pytest

from mixoracle.datasets import kind_problem
from mixoracle.model import CPDAG, DiagonalComponents, GaussianComponents, JointTable, LatentModel
from mixoracle.report import html
from mixoracle.report.evidence import Alternative, Step

DRAWN = "document.querySelectorAll('[data-drawn]').length"
PICTURES = "document.querySelectorAll('[data-picture]').length"
# Waits until the pictures near the window are drawn.
SETTLED = "new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)))"

# The least contrast of any text that is seen with the paper behind it.
CONTRAST = """
(() => {
  const paint = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const channels = (colour) => {
    paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, w, k) => {
    const v = c[k] / 255;
    return sum + w * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  }, 0);
  const paper = (e) => {
    for (; e; e = e.parentElement) {
      const c = channels(getComputedStyle(e).backgroundColor);
      if (c[3] === 255) return c;
    }
    return [255, 255, 255, 255];
  };
  const found = [];
  const letters = 'p, li, th, td, h1, h2, h3, summary, text, button, dt, a';
  for (const e of document.querySelectorAll(letters)) {
    if (!e.checkVisibility() || !e.textContent.trim()) continue;
    const style = getComputedStyle(e);
    const ink = channels(e.namespaceURI.endsWith('svg') ? style.fill : style.color);
    const [a, b] = [light(ink), light(paper(e))].sort((p, q) => q - p);
    const contrast = (a + 0.05) / (b + 0.05);
    if (ink[3] < 255 || contrast >= 4.5) continue;
    found.push([e.tagName, e.textContent.slice(0, 30), contrast]);
  }
  return found;
})()
"""


@pytest.fixture(scope="module")
def machine():
    """Two causes; numbers in one column, a block, an item, and a measurement of no cause."""
    near = np.array([[0.0], [2.5]])
    block = np.array([[0.0, 0.0, 0.0], [4.0, 4.0, 0.0], [8.0, 0.0, 4.0]])
    return LatentModel(
        observed_names=["heat", "power", "vibration", "noise"],
        latent_names=["wear", "load"],
        bipartite=[[1, 0], [1, 0], [0, 1], [0, 0]],
        domain_sizes=(2, 3),
        joint=JointTable(np.array([[0.3, 0.2, 0.1], [0.1, 0.1, 0.2]])),
        latent_graph=CPDAG(2, frozenset({(0, 1)})),
        components=[
            DiagonalComponents(near, np.ones((2, 1))),
            DiagonalComponents(3 * near, np.full((2, 1), 9.0)),
            GaussianComponents(block, np.stack([np.eye(3)] * 3)),
            DiagonalComponents(np.zeros((1, 1)), np.ones((1, 1))),
        ],
    )


@pytest.fixture(scope="module")
def result(make_result, machine):
    from dataclasses import replace

    result = make_result(model=machine, n_samples=300)
    path = (
        Step(None, 200.0, (2, 3), ((0, 1), (2,)), True),
        Step(100.0, 50.0, (2,), ((0,),), False),
    )
    other = Alternative(12.0, (6,), ((0, 1, 2),), ("H1",))
    return replace(result, evidence=replace(result.evidence, path=path, alternatives=(other,)))


@pytest.fixture(scope="module")
def page(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures") / "report.html"
    path.write_text(html.render(result), encoding="utf-8")
    return path


def shown(browser, selector):
    """Scroll to a picture and wait for it."""
    browser.run(
        f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})"
    )
    browser.run(SETTLED)


def test_pictures_are_drawn_when_they_come_into_view(browser, page):
    browser.open(page)
    browser.run(SETTLED)
    assert browser.run(DRAWN) < browser.run(PICTURES) / 2
    for picture in ("profile", "certainty", "strip", "heat", "path"):
        shown(browser, f"[data-picture={picture}]")
        assert browser.run(f"!!document.querySelector('[data-picture={picture}] svg[aria-label]')")
    assert browser.complaints() == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_text_can_be_read(browser, page, width, scheme):
    browser.open(page, width, scheme=scheme)
    for picture in ("profile", "distribution", "certainty", "strip", "heat", "path"):
        shown(browser, f"[data-picture={picture}]")
    assert browser.run(CONTRAST) == []
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_a_choice_of_state_filters_everything(browser, page):
    browser.open(page)
    shown(browser, ".cause:not([hidden]) [data-picture=distribution]")
    tile = "document.querySelector('.cause:not([hidden]) [data-picture=distribution]')"
    assert browser.run(f"{tile}.querySelectorAll('[aria-label=area]').length") == 2
    browser.click(".pick-states:not([hidden]) .pick-state[data-state='1']")
    browser.run(SETTLED)
    assert browser.run(f"{tile}.querySelectorAll('[aria-label=area]').length") == 1
    listed = browser.run(
        "[...document.querySelectorAll('.cause:not([hidden]) .least tbody tr')]"
        ".filter(row => row.checkVisibility()).map(row => row.dataset.state)"
    )
    assert set(listed) == {"1"}
    browser.click(".pick-cause[data-latent='1']")
    browser.run(SETTLED)
    visible = "[...document.querySelectorAll('.cause')].filter(c => !c.hidden)"
    assert browser.run(f"{visible}.map(c => c.dataset.latent)") == ["1"]
    assert browser.complaints() == []


def test_the_graph_chooses_what_is_pictured(browser, page):
    browser.open(page)
    browser.click(".latent[data-latent='1'] rect")
    pressed = "document.querySelector('.pick-cause[aria-pressed=true]').dataset.latent"
    assert browser.run(pressed) == "1"


def test_the_profile_has_units(browser, page, result):
    browser.open(page)
    shown(browser, "[data-picture=profile]")
    picture = "document.querySelector('[data-picture=profile]')"
    assert "standard deviations" in browser.run(f"{picture}.textContent")
    browser.click(".pick-units[data-units=yes]")
    browser.run(SETTLED)
    mean = next(e for e in result.evidence.effects if e.latent == 0).means[1][0]
    assert f"{mean:.4g}" in browser.run(f"{picture}.textContent")


def test_hovering_names_row_state_and_probability(browser, page):
    browser.open(page)
    tile = ".cause:not([hidden]) [data-picture=distribution]"
    shown(browser, tile)
    x, y = browser.run(
        f"(() => {{ const dot = document.querySelector('{tile} [aria-label=dot] *');"
        "const b = dot.getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    for step in (3, 0):
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + step, y=y)
    browser.run(SETTLED)
    said = browser.run(f"document.querySelector('{tile} [aria-label=tip]').textContent")
    assert "case " in said
    assert "wear: state" in said
    assert "probability 0." in said or "probability 1." in said


def test_printing_unfolds_and_draws_everything(browser, page):
    browser.open(page, scheme="dark")
    browser.show_on("print")
    try:
        browser.run(SETTLED)
        assert browser.run(DRAWN) == browser.run(PICTURES)
        assert browser.run("document.querySelectorAll('details:not([open])').length") == 0
        hidden = (
            "[...document.querySelectorAll('main table')].filter(t => !t.checkVisibility()).length"
        )
        assert browser.run(hidden) == 0
        assert browser.run("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
        assert browser.run(CONTRAST) == []
    finally:
        browser.show_on("")
    browser.run(SETTLED)
    assert browser.run("document.querySelectorAll('.effect[open]').length") == 0


def test_every_kind_of_data_is_drawn_without_complaint(browser, make_result, tmp_path):
    for kind in ("categorical", "counts", "mixed"):
        problem = kind_problem(2, 4, 3, 250, random_state=1, kind=kind, width=1 + (kind == "mixed"))
        levels = problem.observations.levels
        result = make_result(model=problem.model, levels=levels, share_missing=0.05, n_samples=250)
        path = tmp_path / f"{kind}.html"
        path.write_text(html.render(result), encoding="utf-8")
        browser.open(path)
        browser.show_on("print")
        browser.run(SETTLED)
        drawn = browser.run("document.querySelectorAll('[data-picture] svg').length")
        browser.show_on("")
        assert drawn == browser.run(PICTURES) > 4
        assert browser.complaints() == []


def test_a_report_of_ten_measurements_is_small(make_result):
    assert len(html.render(make_result(3, 10)).encode()) < 1_000_000


def test_the_numbers_cannot_end_their_block(make_result):
    page = html.render(make_result(2, 4, latent_names=("</script><b>", "<!--")))
    block = page.split('id="numbers">')[1].split("</script>")[0]
    assert json.loads(block)["causes"][0]["name"] == "</script><b>"
    assert "<" not in block
