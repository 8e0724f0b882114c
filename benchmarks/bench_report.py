"""How large a report is, and how long a browser takes to open it.

The models are known, since only the page is measured: ten measurements, and 300 measurements with
as many rows as ``--rows`` says. A page is open when its load event has ended and the pictures near
the window are drawn; ``busy`` is the processor time of the page, which other programs do not
lengthen. ``peak GB`` is the most memory that making all pages so far took, data included. Needs
Chromium; a million rows of 300 measurements are 2.4 GB and take about twice that.
"""

import argparse
import resource
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

ROOT = Path(__file__).parent.parent
# The models and the driver of the browser are those of the pictures in the docs.
sys.path.insert(0, str(ROOT / "docs"))

from make_screenshots import HOW_TO_INSTALL, Browser, find_browser, many  # noqa: E402

from mixoracle.report.html import render  # noqa: E402

OPENED = """
new Promise((done) => {
  const look = () => {
    const held = performance.getEntriesByType("navigation")[0].loadEventEnd;
    if (held) requestAnimationFrame(() => setTimeout(() => done([held, performance.now()]), 0));
    else setTimeout(look, 5);
  };
  look();
})
"""


def main() -> None:
    """Print a line for each report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[3_000, 30_000])
    chosen = parser.parse_args()
    path = find_browser()
    if path is None:
        sys.exit(HOW_TO_INSTALL)
    print("| measurements | rows | made in s | peak GB | MB | loaded in s | busy in s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for n_observed, n_rows in [(10, 3_000), *((300, rows) for rows in chosen.rows)]:
        started = process_time()
        page = render(many(n_observed, n_rows))
        made = process_time() - started
        loaded, busy = opened(path, page)
        size = len(page.encode()) / 1e6
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        line = (n_observed, f"{n_rows:,}", f"{made:.0f}", f"{peak:.1f}", f"{size:.2f}")
        print("|", " | ".join(map(str, (*line, f"{loaded:.2f}", f"{busy:.2f}"))), "|", flush=True)


def opened(path: str, page: str) -> tuple[float, float]:
    """The seconds until a page is loaded, and those that the browser worked on it."""
    browser = Browser(path)
    try:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "report.html"
            file.write_text(page, encoding="utf-8")
            browser.call("Performance.enable", timeDomain="threadTicks")
            browser.open(file, width=1280)
            loaded, _ = browser.run(OPENED)
            metrics = browser.call("Performance.getMetrics")["metrics"]
            busy = next(held["value"] for held in metrics if held["name"] == "TaskDuration")
        return loaded / 1000, busy
    finally:
        browser.close()


if __name__ == "__main__":
    main()
