"""Studies as a page: tables and figures of one or more results folders, beside the paper's.

The page stands alone (figures are inside it); beside it lie the figures as SVG and PNG, the
tables as CSV, and the headline as Markdown for a README. Writing it again from the same results
gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mixoracle.experiments import published
from mixoracle.experiments.analysis import Source, load_sources
from mixoracle.experiments.figures import Drawing, study_drawings
from mixoracle.experiments.tables import Table, study_tables
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


@dataclass(frozen=True)
class Section:
    """The part of the page about one study."""

    title: str
    sources: tuple[Source, ...]
    tables: tuple[Table, ...]
    drawings: tuple[Drawing, ...]

    @property
    def tables_shown(self) -> tuple[Table, ...]:
        """The tables for readers."""
        return tuple(table for table in self.tables if not table.name.endswith(_CSV_ONLY))


def write_report(folders: Sequence[Path], out: Path) -> Path:
    """Write the report on the studies in ``folders`` to ``out``; return the page's path."""
    sections = [
        Section(
            _TITLES[name],
            tuple(sources),
            tuple(study_tables(name, sources)),
            tuple(study_drawings(name, sources)),
        )
        for name, sources in load_sources(folders).items()
    ]
    for folder in (out / "figures", out / "tables"):
        folder.mkdir(parents=True, exist_ok=True)
    for section in sections:
        for drawing in section.drawings:
            (out / "figures" / f"{drawing.name}.svg").write_text(drawing.svg, encoding="utf-8")
            (out / "figures" / f"{drawing.name}.png").write_bytes(drawing.png)
        for table in section.tables:
            (out / "tables" / f"{table.name}.csv").write_text(table.to_csv(), encoding="utf-8")
    headlines = "\n".join(
        f"### {section.title}\n\n{section.tables[0].to_markdown()}" for section in sections
    )
    (out / "headline.md").write_text(headlines, encoding="utf-8")
    template = page_environment("mixoracle.experiments").get_template("study.html.j2")
    page = out / "report.html"
    text = template.render(sections=sections, citation=published.CITATION)
    page.write_text(text, encoding="utf-8")
    return page
