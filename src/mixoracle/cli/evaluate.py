"""``mixoracle evaluate``: how far a result is from a known truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mixoracle.cli.simulate import TRUTH_FOLDER
from mixoracle.cli.terminal import console, example, output_options, print_json

if TYPE_CHECKING:
    from mixoracle.metrics import Comparison, StateAgreement
    from mixoracle.model import LatentModel


@click.command("evaluate", epilog=example("mixoracle evaluate result problem"))
@click.argument("result", type=click.Path())
@click.argument("truth", type=click.Path())
@output_options
def command(result: str, truth: str, quiet: bool, as_json: bool) -> None:
    """Compare RESULT, a folder that learn made, with TRUTH.

    TRUTH is a folder that simulate made, or any saved model. Latents and states are matched
    first, since their names and order mean nothing.
    """
    from mixoracle.metrics import compare
    from mixoracle.report import text

    estimate, true = _load(Path(result)), _load(_true_folder(Path(truth)))
    found = compare(true, estimate)
    agreement = _agreement(Path(result), estimate, _true_folder(Path(truth)), true)
    if as_json:
        print_json(_document(found, agreement))
    terminal = console(quiet or as_json)
    for line in text.comparison_lines(found, true.latent_names, agreement):
        terminal.print(line, markup=False)


def _true_folder(truth: Path) -> Path:
    inner = truth / TRUTH_FOLDER
    return inner if inner.is_dir() else truth


def _load(folder: Path) -> LatentModel:
    from mixoracle.model import LatentModel

    return LatentModel.load(folder)


def _agreement(
    result: Path, estimate: LatentModel, truth: Path, true: LatentModel
) -> StateAgreement | None:
    """How often the states are right, where both folders hold them for the same cases."""
    from mixoracle.metrics import compare_states
    from mixoracle.report.folder import STATES_FILE, read_states

    files = (truth / STATES_FILE, result / STATES_FILE)
    if not all(file.is_file() for file in files):
        return None
    ours, theirs = read_states(files[1], estimate), read_states(files[0], true)
    return compare_states(theirs, ours) if len(ours) == len(theirs) else None


def _document(found: Comparison, agreement: StateAgreement | None) -> dict[str, Any]:
    from math import isfinite

    return {
        "shd": found.shd,
        "extra": found.extra,
        "missing": found.missing,
        "reversed": found.reversed,
        "unoriented_correct": found.unoriented_correct,
        "bipartite_exact": found.bipartite_exact,
        "domains_exact": found.domains_exact,
        "joint_tv": found.joint_tv if isfinite(found.joint_tv) else None,
        "states_right": None
        if agreement is None
        else [share if isfinite(share) else None for share in agreement.accuracy],
    }
