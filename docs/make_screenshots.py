"""Make the pictures of the terminal and of the report that README and docs show.

Run ``python docs/make_screenshots.py``. It runs the demo, learns from two tables that ship with the
package, draws a problem of 300 measurements, opens their reports in Chromium, and leaves the
pictures in ``docs/images``. With the name of a folder it also leaves every section of each report
there, light, dark, at the width of a phone, and as PDF: to be looked at before a release.
"""

import io
import os
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
COLUMNS = 100
# The driver of the browser belongs to the tests of the report.
sys.path.insert(0, str(ROOT / "tests" / "report"))

from chromium import HOW_TO_INSTALL, Browser, find_browser  # noqa: E402

from conftest import RUN, answer_of  # noqa: E402
from mixoracle import LatentGraphLearner, Observations  # noqa: E402
from mixoracle.datasets import load_cells, load_skills  # noqa: E402
from mixoracle.model import CPDAG, DiagonalComponents, JointTable, LatentModel  # noqa: E402
from mixoracle.model.posterior import state_probabilities  # noqa: E402
from mixoracle.report.folder import Result  # noqa: E402
from mixoracle.report.gathering import gather  # noqa: E402
from mixoracle.report.html import render  # noqa: E402

PAGE = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 22px 26px; background: {background}; color: {foreground};
  display: inline-block; }}
pre {{ margin: 0; font: 14px/1.32 "DejaVu Sans Mono", Menlo, Consolas, monospace; }}
{stylesheet}
</style><body><pre>{code}</pre></body>"""


SECTIONS = ("graph", "states", "joint", "measurements", "next", "assumptions", "evidence")
# Everything of a section that is near enough to the window is drawn after this many seconds.
DRAWN = "new Promise((done) => setTimeout(done, 400))"
# So much of a section is shown; the rest is more of the same.
TALLEST = 1500


def main(folder: Path | None = None) -> None:
    """Make all pictures anew; ``folder`` gets those that are only looked at."""
    path = find_browser()
    if path is None:
        sys.exit(f"screenshots need a browser: {HOW_TO_INSTALL}")
    IMAGES.mkdir(exist_ok=True)
    browser = Browser(path)
    try:
        with TemporaryDirectory() as scratch:
            scratched = Path(scratch)
            picture_terminal(browser, scratched, ["demo"], "terminal-demo.png")
            picture_terminal(browser, scratched, ["check", "demo-result"], "terminal-check.png")
            picture_report(browser, scratched / "demo-result" / "report.html")
            reports = {"numbers": scratched / "demo-result" / "report.html"} | made(scratched)
            for kind, report in reports.items():
                browser.open(report, width=1280, height=TALLEST)
                picture_section(browser, "states", IMAGES / f"gallery-report-{kind}.png")
                if folder is not None:
                    look(browser, report, folder / kind)
    finally:
        browser.close()
    for picture in IMAGES.glob("*.png"):
        shrink(picture)


def picture_terminal(browser: Browser, folder: Path, arguments: list[str], name: str) -> None:
    """Run a command as in a terminal and picture what it prints."""
    program = Path(sys.executable).parent / "mixoracle"
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    done = subprocess.run(
        [program, *arguments], cwd=folder, env=environment, capture_output=True, check=True
    )
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ mixoracle {' '.join(arguments)}", style="bold"))
    console.print(Text.from_ansi(done.stdout.decode("utf-8")))
    page = folder / "terminal.html"
    page.write_text(console.export_html(theme=SVG_EXPORT_THEME, code_format=PAGE), encoding="utf-8")
    browser.open(page, width=1000)
    size = browser.run(
        "(() => { const b = document.body.getBoundingClientRect();"
        "return {x: 0, y: 0, width: Math.ceil(b.width), height: Math.ceil(b.height)}; })()"
    )
    browser.screenshot(IMAGES / name, clip=size, full=True)


def picture_report(browser: Browser, report: Path) -> None:
    """Picture the head of the report with its graph."""
    for scheme in ("light", "dark"):
        browser.open(report, width=1280, scheme=scheme)
        browser.click(".latent[data-latent='1'] rect")
        browser.run("scrollTo(0, 0)")
        bottom = browser.run("document.getElementById('states').getBoundingClientRect().top")
        clip = {"x": 0, "y": 0, "width": 1280, "height": round(bottom) - 20}
        browser.screenshot(IMAGES / f"report-{scheme}.png", clip=clip, full=True)
    browser.open(report, width=390)
    clip = {"x": 0, "y": 0, "width": 390, "height": 1700}
    browser.screenshot(IMAGES / "report-phone.png", clip=clip, full=True)


def picture_section(browser: Browser, section: str, picture: Path) -> None:
    """Picture a section of the report that is open, with what is drawn when it is seen."""
    browser.run(f"document.getElementById('{section}').scrollIntoView()")
    browser.run(DRAWN)
    # Where it sticks to the window, the choice of causes would lie over a picture.
    browser.run(
        "document.querySelectorAll('.chooser').forEach(c => { c.style.position = 'static'; })"
    )
    top, height, width = browser.run(
        f"(() => {{ const b = document.getElementById('{section}').getBoundingClientRect();"
        "return [b.top + scrollY, b.height, innerWidth]; })()"
    )
    clip = {"x": 0, "y": top, "width": width, "height": min(height, TALLEST)}
    browser.screenshot(picture, clip=clip, full=True)


def made(folder: Path) -> dict[str, Path]:
    """Reports of items, of counts, and of 300 measurements."""
    persons = Observations.from_frame(load_skills().frame, id="person")
    fitted = {
        "items": LatentGraphLearner(random_state=0, n_init=1).fit(persons),
        "counts": LatentGraphLearner(random_state=0, n_init=1, exposure="depth").fit(
            load_cells().frame
        ),
    }
    reports = {
        kind: learner.report(folder / kind) / "report.html" for kind, learner in fitted.items()
    }
    reports["many"] = folder / "many.html"
    reports["many"].write_text(render(many()), encoding="utf-8")
    return reports


def many(n_observed: int = 300, n_samples: int = 3000) -> Result:
    """A problem of many measurements that is known, since learning it takes minutes."""
    sizes, rng = (2, 3, 4), np.random.default_rng(0)
    components = []
    for i in range(n_observed):
        means = rng.permutation(sizes[i % 3])[:, None] * rng.uniform(2.0, 6.0)
        components.append(DiagonalComponents(means, np.ones_like(means)))
    model = LatentModel(
        observed_names=[f"sensor {i + 1}" for i in range(n_observed)],
        latent_names=["mode", "load", "wear"],
        bipartite=np.eye(3)[np.arange(n_observed) % 3],
        domain_sizes=sizes,
        joint=JointTable(rng.dirichlet(np.full(24, 4.0)).reshape(sizes)),
        latent_graph=CPDAG(3),
        components=components,
    )
    fitted, observations = answer_of(model, n_samples, assumptions_=())
    blocks = [observations[name] for name in model.observed_names]
    evidence = gather(fitted, observations, probabilities=state_probabilities(model, blocks))
    return Result(model, evidence, RUN)


def look(browser: Browser, report: Path, folder: Path) -> None:
    """Picture all of a report: light, dark, at the width of a phone, and on paper."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, width, scheme in (
        ("light", 1280, "light"),
        ("dark", 1280, "dark"),
        ("phone", 390, "light"),
    ):
        browser.open(report, width=width, height=TALLEST, scheme=scheme)
        for section in SECTIONS:
            picture_section(browser, section, folder / f"{name}-{section}.png")
    browser.open(report, scheme="dark")
    printed = browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
    (folder / "paper.pdf").write_bytes(b64decode(printed["data"]))


def shrink(picture: Path) -> None:
    """Keep 256 colours, which is all that these pages show to the eye."""
    image = Image.open(picture).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    image.save(picture, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
