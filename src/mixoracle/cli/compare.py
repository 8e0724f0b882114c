"""``mixoracle compare``: two results side by side."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mixoracle.cli.terminal import answer, example, output_options

if TYPE_CHECKING:
    from mixoracle.metrics import StateAgreement
    from mixoracle.model import LatentModel


@click.command("compare", epilog=example("mixoracle compare result-2023 result-2024"))
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@output_options
def command(first: Path, second: Path, quiet: bool, as_json: bool) -> None:
    """Say what FIRST and SECOND, results of learn or saved models, have in common.

    Hidden causes and their states are matched first, since their names and order mean nothing.
    """
    from mixoracle.metrics.differences import differences
    from mixoracle.model import LatentModel

    one, other = LatentModel.load(first), LatentModel.load(second)
    found = differences(one, other)
    agreement = _agreement((first, one), (second, other))
    shares = [] if agreement is None else list(agreement.accuracy)
    document: dict[str, Any] = {
        "same_graph": found.is_same_graph,
        "latents": [asdict(pair) for pair in found.latents],
        "edges": [list(edge) for edge in found.edges],
        "joint_tv": found.joint_tv if isfinite(found.joint_tv) else None,
        "same_states": [share if isfinite(share) else None for share in shares] or None,
        "only_first": list(found.only_first),
        "only_second": list(found.only_second),
    }
    terminal = answer(document, quiet, as_json)
    says = "the same graph" if found.is_same_graph else "different graphs"
    names = _called(first, second)
    terminal.print(f"{names[0]} and {names[1]} have {says}, up to names.", markup=False)
    for line in found.sentences(*names):
        terminal.print(line, markup=False, soft_wrap=True)
    agreements = [
        f"{name} {share:.1%}"
        for name, share in zip(one.latent_names, shares, strict=False)
        if isfinite(share)
    ]
    if agreements:
        terminal.print(f"Cases in the same state: {', '.join(agreements)}.", markup=False)


def _called(first: Path, second: Path) -> tuple[str, str]:
    """Short names of the two, the whole paths where they would be the same."""
    short = first.resolve().name, second.resolve().name
    return (str(first), str(second)) if short[0] == short[1] else short


def _agreement(
    first: tuple[Path, LatentModel], second: tuple[Path, LatentModel]
) -> StateAgreement | None:
    """How often the states agree, where both folders hold them for the same number of cases."""
    from mixoracle.metrics import compare_states
    from mixoracle.report.folder import STATES_FILE, read_states

    held = []
    for folder, model in (first, second):
        if not (folder / STATES_FILE).is_file():
            return None
        held.append(read_states(folder / STATES_FILE, model))
    return compare_states(*held) if len(held[0]) == len(held[1]) else None
