"""Make the pictures of the terminal and of the report that README and docs show.

Run ``python docs/make_screenshots.py``. It runs the demo, opens its report in Chromium at the
width of a desk and of a phone, and leaves the pictures in ``docs/images``.
"""

import io
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

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

PAGE = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 22px 26px; background: {background}; color: {foreground};
  display: inline-block; }}
pre {{ margin: 0; font: 14px/1.32 "DejaVu Sans Mono", Menlo, Consolas, monospace; }}
{stylesheet}
</style><body><pre>{code}</pre></body>"""


def main() -> None:
    """Make all pictures anew."""
    path = find_browser()
    if path is None:
        sys.exit(f"screenshots need a browser: {HOW_TO_INSTALL}")
    IMAGES.mkdir(exist_ok=True)
    browser = Browser(path)
    try:
        with TemporaryDirectory() as scratch:
            folder = Path(scratch)
            picture_terminal(browser, folder, ["demo"], "terminal-demo.png")
            picture_terminal(browser, folder, ["check", "demo-result"], "terminal-check.png")
            picture_report(browser, folder / "demo-result" / "report.html")
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
    """Picture the head of the report with its graph, and the measurements."""
    for scheme in ("light", "dark"):
        browser.open(report, width=1280, scheme=scheme)
        browser.click(".latent[data-latent='1'] rect")
        browser.run("scrollTo(0, 0)")
        bottom = browser.run("document.getElementById('joint').getBoundingClientRect().top")
        clip = {"x": 0, "y": 0, "width": 1280, "height": round(bottom) - 20}
        browser.screenshot(IMAGES / f"report-{scheme}.png", clip=clip, full=True)
    browser.open(report, width=1280)
    top, bottom = browser.run(
        "['joint', 'assumptions'].map(i => document.getElementById(i).getBoundingClientRect().top)"
    )
    clip = {"x": 0, "y": round(top) - 20, "width": 1280, "height": round(bottom - top) - 20}
    browser.screenshot(IMAGES / "report-evidence.png", clip=clip, full=True)
    browser.open(report, width=390)
    clip = {"x": 0, "y": 0, "width": 390, "height": 1700}
    browser.screenshot(IMAGES / "report-phone.png", clip=clip, full=True)


def shrink(picture: Path) -> None:
    """Keep 256 colours, which is all that these pages show to the eye."""
    image = Image.open(picture).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    image.save(picture, optimize=True)


if __name__ == "__main__":
    main()
