"""The report in a real browser: quiet, self-contained, usable, and in one piece at any width."""

import numpy as np
import pytest

from mixoracle.datasets import kind_problem
from mixoracle.report import html
from mixoracle.report.svg import draw

WIDTHS = [1280, 390]
SIZES = [(2, 3), (4, 8), (5, 60)]
HOSTILE = (
    "<script>window.broken = 1</script>",
    "\"><img src=x onerror='window.broken = 1'>",
    'it\'s "quoted" & <b>bold</b>',
    "x" * 300,
    "many words " * 27,
    "\u202eright to left \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{ROCKET} \N{PILE OF POO} emoji \u6f22\u5b57",
    "{{ 7 * 7 }} ${7*7} </style></script>",
)

# Scripts that a browser runs; the numbers of the pictures are an inert block of data.
PROGRAMS = "[...document.querySelectorAll('script')].filter(s => !s.type.includes('json')).length"

# What is left of a box when all that clips it has clipped it.
CLIPPED = """
var clips = new Map();
var clip = (up) => {
  if (!up) return [-Infinity, -Infinity, Infinity, Infinity];
  if (!clips.has(up)) {
    let [l, t, r, b] = clip(up.parentElement);
    const style = getComputedStyle(up);
    if (style.overflowX !== 'visible' || style.overflowY !== 'visible') {
      const outer = up.getBoundingClientRect();
      l = Math.max(l, outer.left); t = Math.max(t, outer.top);
      r = Math.min(r, outer.right); b = Math.min(b, outer.bottom);
    }
    clips.set(up, [l, t, r, b]);
  }
  return clips.get(up);
};
var clipped = (e) => {
  const box = e.getBoundingClientRect();
  const [l, t, r, b] = clip(e.parentElement);
  return {
    l: Math.max(l, box.left), t: Math.max(t, box.top),
    r: Math.min(r, box.right), b: Math.min(b, box.bottom), e,
  };
};
"""

# Pairs of boxes that share more than a pixel's breadth although neither contains the other.
OVERLAPS = (
    CLIPPED
    + """
(() => {
  const shown = (e) => e.checkVisibility();
  const found = [];
  const check = (selector) => {
    const boxes = [...document.querySelectorAll(selector)].filter(shown).map(clipped);
    boxes.sort((p, q) => p.t - q.t);
    boxes.forEach((p, i) => {
      // From top to bottom: boxes that begin below this one cannot overlap it.
      for (let k = i + 1; k < boxes.length && boxes[k].t < p.b - 1; k++) {
        const q = boxes[k];
        const w = Math.min(p.r, q.r) - Math.max(p.l, q.l);
        const h = Math.min(p.b, q.b) - q.t;
        if (w > 1 && h > 1 && !p.e.contains(q.e) && !q.e.contains(p.e)) {
          found.push([selector, p.e.textContent.slice(0, 40), q.e.textContent.slice(0, 40), w, h]);
        }
      }
    });
  };
  check('h1, h2, h3, h4, p, li, dt, dd, nav a, summary, caption, .fact, table, svg.graph, '
    + '.picture, .panels, figcaption, select');
  check('.graph text');
  check('.chooser .pick');
  check('td, th');
  check('.effect summary > span');
  return found;
})()
"""
)

# What sticks out of the window, or text that sticks out of its own chip, pill or cell.
STICKS_OUT = (
    CLIPPED
    + """
(() => {
  const found = [];
  const width = document.documentElement.clientWidth;
  for (const e of document.querySelectorAll('body *')) {
    const {l, t, r, b} = clipped(e);
    if (e.checkVisibility() && r > l && b > t && (r > width + 1 || l < -1)) {
      found.push(['window', e.tagName, e.className.baseVal ?? e.className, l, r]);
    }
  }
  for (const g of document.querySelectorAll('.graph .chip, .graph .latent')) {
    const outer = g.querySelector('rect').getBoundingClientRect();
    for (const text of g.querySelectorAll('text')) {
      const box = text.getBoundingClientRect();
      if (box.left < outer.left - 1 || box.right > outer.right + 1) {
        found.push(['chip', text.textContent, box.width, outer.width]);
      }
    }
  }
  return found;
})()
"""
)


class LateEvents(list):
    """Events of the browser, among which the load of an earlier page comes after the clearing."""

    def clear(self):
        super().clear()
        self.append({"method": "Page.loadEventFired", "params": {"timestamp": 0.0}})


def test_a_page_is_open_when_it_is_loaded_itself(browser, tmp_path, monkeypatch):
    slow = "const end = performance.now() + 300; while (performance.now() < end);"
    page = tmp_path / "slow.html"
    page.write_text(f"<p>first</p><script>{slow}</script><p>last</p><script>{slow}</script>")
    monkeypatch.setattr(browser, "events", LateEvents())
    browser.open(page)
    assert browser.run("document.readyState") == "complete"


def test_a_page_on_paper_has_been_told_so(browser, tmp_path):
    page = tmp_path / "busy.html"
    # Styles that never rest: the page is told of paper later than it is drawn.
    page.write_text(
        "<style>[title] p { color: red }</style><p>text</p><script>"
        "setInterval(() => document.body.toggleAttribute('title'), 0);"
        "const paper = matchMedia('print'); window.heard = 0;"
        "paper.addEventListener('change', () => { window.heard += 1; });</script>"
    )
    browser.open(page)
    for changes in (1, 3, 5, 7, 9):
        browser.show_on("print")
        assert browser.run("heard") == changes
        browser.show_on("")


@pytest.fixture(scope="module")
def page(make_result, tmp_path_factory):
    """Write the report of a drawn problem and return its path; each is made once."""
    made = {}

    def make(n_latent, n_observed, **names):
        key = (n_latent, n_observed, *names.values())
        if key not in made:
            path = tmp_path_factory.mktemp("report") / "report.html"
            result = make_result(n_latent, n_observed, seed=2, **names)
            path.write_text(html.render(result), encoding="utf-8")
            made[key] = path
        return made[key]

    return make


@pytest.fixture(scope="module", params=["categorical", "mixed"])
def kind_page(request, make_result, tmp_path_factory):
    """The report of levels, or of a mixture with gaps, with everything unfolded."""
    problem = kind_problem(2, 6, 3, 400, random_state=1, kind=request.param)
    levels = [
        tuple(None if held is None else (*HOSTILE[:3], "d") for held in block)
        for block in problem.observations.levels
    ]
    result = make_result(model=problem.model, levels=levels, share_missing=0.1)
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html.render(result), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def hostile_page(page):
    latents = ("<script>window.broken = 2</script>", "\u202e'\"&<H>", "H" * 300)
    return page(3, len(HOSTILE), observed_names=HOSTILE, latent_names=latents)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_opens_from_disk_without_a_sound(browser, page, size, width, scheme):
    path = page(*size)
    browser.open(path, width, scheme=scheme)
    assert browser.complaints() == []
    assert browser.requests() == [path.resolve().as_uri()]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("size", SIZES)
def test_nothing_overlaps_or_sticks_out(browser, page, size, width):
    browser.open(page(*size), width)
    assert browser.run(OVERLAPS) == []
    assert browser.run(STICKS_OUT) == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert browser.run(OVERLAPS) == []
    assert browser.run(STICKS_OUT) == []


def test_the_checks_of_the_layout_can_fail(browser, page):
    browser.open(page(2, 3))
    browser.run("document.querySelector('h1').style.marginBottom = '-40px'")
    browser.run("document.querySelector('.graph .chip text').textContent = 'x'.repeat(90)")
    assert browser.run(OVERLAPS)
    assert browser.run(STICKS_OUT)


def visible_panels(browser):
    return browser.run(
        "[...document.querySelectorAll('.panel')].filter(p => p.offsetParent !== null)"
        ".map(p => p.id)"
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_a_click_on_a_latent_shows_its_table(browser, page, make_result, width):
    browser.open(page(4, 8), width)
    assert visible_panels(browser) == ["latent-0"]
    model = make_result(4, 8, seed=2).model
    for j in (2, 3, 1):
        browser.click(f".latent[data-latent='{j}'] rect")
        assert visible_panels(browser) == [f"latent-{j}"]
        cells = browser.run(
            f"[...document.querySelectorAll('#latent-{j} .states tbody td:nth-child(2)')]"
            ".map(cell => Number(cell.textContent))"
        )
        expected = model.joint.marginal([j]).table
        np.testing.assert_allclose(cells, expected, atol=5e-4)
        top = browser.run(
            f"document.querySelector('#latent-{j} .states').getBoundingClientRect().y"
        )
        assert 0 <= top < 900
        pressed = "[...document.querySelectorAll('.latent[aria-pressed=true]')]"
        assert browser.run(f"{pressed}.map(e => e.dataset.latent)") == [str(j)]
    assert browser.complaints() == []


def test_a_click_lights_what_the_latent_drives(browser, page, make_result):
    browser.open(page(4, 8))
    model = make_result(4, 8, seed=2).model
    browser.click(".latent[data-latent='1'] rect")
    lit = browser.run(
        "[...document.querySelectorAll('.group.on .chip')].map(c => Number(c.dataset.observed))"
    )
    assert sorted(lit) == list(model.children(1))


def test_the_keyboard_reaches_and_chooses_latents(browser, page):
    browser.open(page(4, 8))
    browser.run("document.querySelector('nav a:last-child').focus()")
    browser.press("Tab", "Tab")
    browser.press("Tab", "Tab")
    assert browser.run("document.activeElement.dataset.latent") == "1"
    browser.press("Enter", "Enter", "\r")
    assert visible_panels(browser) == ["latent-1"]
    browser.press("Tab", "Tab")
    browser.press(" ", "Space", " ")
    assert visible_panels(browser) == ["latent-2"]


@pytest.mark.parametrize("width", WIDTHS)
def test_levels_and_gaps_stay_in_one_piece(browser, kind_page, width):
    browser.open(kind_page, width)
    browser.run("document.querySelectorAll('details').forEach((held) => { held.open = true; })")
    assert browser.complaints() == []
    assert browser.run("window.broken") is None
    assert browser.run(OVERLAPS) == []
    assert browser.run(STICKS_OUT) == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelectorAll('.parts[open] table').length") >= 6


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_names_do_no_harm(browser, hostile_page, width):
    browser.open(hostile_page, width)
    assert browser.complaints() == []
    assert len(browser.requests()) == 1
    assert browser.run("window.broken") is None
    assert browser.run(PROGRAMS) == 1
    assert browser.run("document.querySelectorAll('img, b:not(.fact b)').length") == 0
    assert browser.run(OVERLAPS) == []
    assert browser.run(STICKS_OUT) == []
    titles = browser.run(
        "[...document.querySelectorAll('.chip')].sort((a, b) => a.dataset.observed - "
        "b.dataset.observed).map(c => c.querySelector('title').textContent)"
    )
    assert titles == list(HOSTILE)


def test_the_policy_stops_foreign_scripts(browser, hostile_page, tmp_path):
    """If escaping ever failed, the policy is the second wall: it has to be there and to hold."""
    text = hostile_page.read_text(encoding="utf-8")
    attacked = tmp_path / "attacked.html"
    attacked.write_text(
        text.replace("<footer>", "<script>window.broken = 3</script><img src=x><footer>"),
        encoding="utf-8",
    )
    browser.open(attacked)
    assert browser.run("window.broken") is None
    assert any("Content Security Policy" in str(event) for event in browser.complaints())


def test_dark_is_dark_and_light_is_light(browser, page):
    def paper():
        colour = browser.run("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(",")))

    browser.open(page(2, 3), scheme="light")
    assert paper() > 3 * 200
    browser.open(page(2, 3), scheme="dark")
    assert paper() < 3 * 60


def test_print_shows_every_latent(browser, page):
    browser.open(page(4, 8))
    browser.show_on("print")
    try:
        assert len(visible_panels(browser)) == 4
    finally:
        browser.show_on("")


def test_without_scripts_everything_is_there(browser, page):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page(4, 8))
        assert len(visible_panels(browser)) == 4
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_the_picture_alone_opens_too(browser, make_result, tmp_path):
    model = make_result(3, len(HOSTILE), observed_names=HOSTILE).model
    path = tmp_path / "graph.svg"
    path.write_text(draw(model), encoding="utf-8")
    browser.open(path)
    assert browser.complaints() == []
    assert browser.run("document.documentElement.nodeName") == "svg"
    assert browser.run("document.querySelectorAll('script').length") == 0


def test_an_answer_without_latents_is_a_page_too(browser, make_result, no_latents, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(html.render(make_result(model=no_latents)), encoding="utf-8")
    browser.open(path)
    assert browser.complaints() == []
    assert browser.run(OVERLAPS) == []
    assert browser.run("document.querySelector('.lead').textContent") == (
        "No hidden cause was found behind 400 cases of 2 measurements."
    )


def test_where_there_is_no_browser_none_is_found(driver, monkeypatch, tmp_path):
    monkeypatch.setenv("MIXORACLE_CHROMIUM", str(tmp_path / "no-such-browser"))
    assert driver.find_browser() is None
