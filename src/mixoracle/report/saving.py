"""All pictures of a result as PNG and PDF files, equal in bytes for equal results."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixoracle.model import LatentModel
from mixoracle.report import plots, svg
from mixoracle.report.claims import sureness
from mixoracle.report.evidence import Evidence
from mixoracle.report.figures import graph_size, plot
from mixoracle.report.profiles import MAX_PROFILE_LINES, profile_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DPI = 200


def save_figures(model: LatentModel, evidence: Evidence, folder: Path) -> list[Path]:
    """Write all pictures as PNG and PDF into a folder; return what was written."""
    from matplotlib.figure import Figure

    figures = {"graph": Figure(graph_size(svg.lay_out(model)), layout="constrained")}
    sure = sureness(model, evidence.edges, evidence.drive_support)
    plot(model, figures["graph"].add_subplot(), sure)
    figures |= _pictures(model, evidence)
    folder.mkdir(exist_ok=True)
    return [path for name, figure in figures.items() for path in _save(figure, folder / name)]


def _pictures(model: LatentModel, evidence: Evidence) -> dict[str, Figure]:
    """All pictures but the graph, by the name of their file; those of a latent with its number."""
    from matplotlib.figure import Figure

    figures: dict[str, Figure] = {}

    def axes(name: str, width: float, height: float) -> Axes:
        figures[name] = Figure((width, height), layout="constrained")
        return figures[name].add_subplot()

    columns = evidence.columns
    for j in range(model.n_latent):
        number = f"-{j + 1}"
        lines = len(profile_of(evidence.effects, columns, j)[:MAX_PROFILE_LINES])
        if lines:
            plots.plot_profile(
                model,
                evidence.effects,
                columns,
                j,
                axes(f"profile{number}", 6.0, 1.1 + 0.26 * lines),
            )
        pictures = plots.distribution_pictures(
            model, columns, evidence.shapes, evidence.scatters, j
        )
        if pictures:
            figures[f"distributions{number}"] = Figure(layout="constrained")
            plots.draw_distributions(
                figures[f"distributions{number}"], model, columns, pictures, evidence.sample, j
            )
        if evidence.certainty:
            plots.plot_certainty(
                model, evidence.certainty[j], j, axes(f"certainty{number}", 4.5, 2.8)
            )
    if model.n_latent:
        plots.plot_states(model, evidence.strip, axes("states", 7.0, 0.9 + 0.5 * model.n_latent))
    if model.n_latent > 1:
        plots.plot_joint(model, 0, 1, axes("joint", 4.5, 3.0))
    if len(evidence.path) > 1:
        plots.plot_path(
            evidence.path, evidence.n_samples, axes("path", 6.0, 1.1 + 0.32 * len(evidence.path))
        )
    return figures


def _save(figure: Figure, stem: Path) -> list[Path]:
    written = []
    # Without dates, equal results give equal files.
    undated: dict[str, dict[str, Any]] = {".png": {}, ".pdf": {"CreationDate": None}}
    with warnings.catch_warnings():
        # A name may hold letters that no font here has; a box in their place is all one can do.
        warnings.filterwarnings("ignore", message="(?s).*missing from font.*")
        for ending, metadata in undated.items():
            path = stem.with_suffix(ending)
            figure.savefig(path, dpi=_DPI, metadata=metadata)
            # Everything has its place now, and need not look for it again.
            figure.set_layout_engine("none")
            written.append(path)
    return written
