"""Studies as a page: tables and figures of one or more results folders, beside the paper's.

The page stands alone (figures are inside it); beside it lie the figures as SVG and PNG, the
tables as CSV, and the headline as Markdown for a README. Writing it again from the same results
gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mixoracle.experiments import published
from mixoracle.experiments.analysis import load_sources
from mixoracle.experiments.figures import study_drawings
from mixoracle.experiments.tables import study_tables
from mixoracle.report.lettering import page_environment

_TITLES = {
    "paper": "The paper's study",
    "small": "The paper's small study",
    "overlap": "Overlapping components",
    "samples": "Sample size",
    "size": "Larger problems",
    "families": "Noise that is not Gaussian",
    "search": "Searches of the latent graph",
}
# Hundreds of rows that only a program wants: in the CSV, not on the page.
_CSV_ONLY = "_points"


def write_report(folders: Sequence[Path], out: Path) -> Path:
    """Write the report on the studies in ``folders`` to ``out``; return the page's path."""
    studies = load_sources(folders)
    for folder in (out / "figures", out / "tables"):
        folder.mkdir(parents=True, exist_ok=True)
    sections, headlines = [], []
    for name, sources in studies.items():
        tables, drawings = study_tables(name, sources), study_drawings(name, sources)
        for drawing in drawings:
            (out / "figures" / f"{drawing.name}.svg").write_text(drawing.svg, encoding="utf-8")
            (out / "figures" / f"{drawing.name}.png").write_bytes(drawing.png)
        for table in tables:
            (out / "tables" / f"{table.name}.csv").write_text(table.to_csv(), encoding="utf-8")
        headlines.append(f"### {_TITLES[name]}\n\n{tables[0].to_markdown()}")
        shown = [table for table in tables if not table.name.endswith(_CSV_ONLY)]
        sections.append((_TITLES[name], sources, shown, drawings))
    (out / "headline.md").write_text("\n".join(headlines), encoding="utf-8")
    template = page_environment("mixoracle.experiments").get_template("study.html.j2")
    page = out / "report.html"
    text = template.render(sections=sections, citation=published.CITATION)
    page.write_text(text, encoding="utf-8")
    return page
