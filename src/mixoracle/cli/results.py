"""``mixoracle evaluate | report | check``: what can be done with a result that is there already."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mixoracle.cli.simulate import TRUTH_FOLDER
from mixoracle.cli.terminal import answer, example, leave_if_failed, output_options

if TYPE_CHECKING:
    from mixoracle.metrics import Comparison, StateAgreement

_COUNTED = (
    "shd",
    "extra",
    "missing",
    "reversed",
    "unoriented_correct",
    "bipartite_exact",
    "domains_exact",
)


@click.command("evaluate", epilog=example("mixoracle evaluate result problem"))
@click.argument("result", type=click.Path(path_type=Path))
@click.argument("truth", type=click.Path(path_type=Path))
@output_options
def evaluate(result: Path, truth: Path, quiet: bool, as_json: bool) -> None:
    """Compare RESULT, a folder that learn made, with TRUTH.

    TRUTH is a folder that simulate made, or any saved model. Latents and states are matched
    first, since their names and order mean nothing.
    """
    from mixoracle.metrics import compare, compare_states
    from mixoracle.model import LatentModel
    from mixoracle.report import text
    from mixoracle.report.folder import STATES_FILE, read_states

    if (truth / TRUTH_FOLDER).is_dir():
        truth = truth / TRUTH_FOLDER
    models = true, estimate = LatentModel.load(truth), LatentModel.load(result)
    found = compare(true, estimate)
    # How often the states are right, where both folders hold them for the same cases.
    agreement = None
    files = (truth / STATES_FILE, result / STATES_FILE)
    if all(file.is_file() for file in files):
        theirs, ours = map(read_states, files, models)
        agreement = compare_states(theirs, ours) if len(ours) == len(theirs) else None
    terminal = answer(_comparison(found, agreement), quiet, as_json)
    for line in text.comparison_lines(found, true.latent_names, agreement):
        terminal.print(line, markup=False)


def _comparison(found: Comparison, agreement: StateAgreement | None) -> dict[str, Any]:
    def known(value: float) -> float | None:
        return value if isfinite(value) else None

    return {
        **{name: getattr(found, name) for name in _COUNTED},
        "joint_tv": known(found.joint_tv),
        "states_right": agreement and [known(share) for share in agreement.accuracy],
    }


@click.command("report", epilog=example("mixoracle report result --figures"))
@click.argument("result", type=click.Path(path_type=Path))
@click.option("--figures", is_flag=True, help="Also draw PNG and PDF figures into RESULT/figures.")
@output_options
def report(result: Path, figures: bool, quiet: bool, as_json: bool) -> None:
    """Write report.html and graph.svg of RESULT, a folder that learn made, again.

    The data are not needed.
    """
    from mixoracle.report.folder import (
        FIGURES_FOLDER,
        GRAPH_FILE,
        REPORT_FILE,
        read_result,
        write_report,
    )

    held = read_result(result)
    write_report(result, held)
    written = [result / REPORT_FILE, result / GRAPH_FILE]
    if figures:
        from mixoracle.report.saving import save_figures

        written += save_figures(held.model, held.evidence, result / FIGURES_FOLDER)
    names = [str(path) for path in written]
    answer({"written": names}, quiet, as_json).print("Written:", ", ".join(names), markup=False)


@click.command("check", epilog=example("mixoracle check result"))
@click.argument("result", type=click.Path())
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 3 if an assumption fails that matters, or the answer is not to be believed.",
)
@output_options
def check(result: str, strict: bool, quiet: bool, as_json: bool) -> None:
    """Explain each assumption behind RESULT, a folder that learn made, and its verdict."""
    from mixoracle.report import text
    from mixoracle.report.folder import read_result

    held = read_result(result)
    verdicts = held.evidence.verdicts
    terminal = answer({"verdicts": text.verdict_documents(verdicts)}, quiet, as_json)
    terminal.print(text.verdicts_explained(verdicts))
    terminal.print(text.trust_panel(held.model, held.evidence))
    leave_if_failed(strict and held.evidence.is_refused)
