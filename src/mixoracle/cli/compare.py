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
    from mixoracle.report.evidence import Alternative


@click.command("compare", epilog=example("mixoracle compare result-2023 result-2024"))
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@output_options
def command(first: Path, second: Path, quiet: bool, as_json: bool) -> None:
    """Say what FIRST and SECOND, results of learn or saved models, have in common.

    Hidden causes and their states are matched first, since their names and order mean nothing.
    RESULT and RESULT/alternatives/1, which learn --alternatives leaves, also by how well they fit.
    """
    from mixoracle.metrics.differences import differences
    from mixoracle.model import LatentModel
    from mixoracle.report.words import fits

    _refuse_missing(first, second)
    one, other = LatentModel.load(first), LatentModel.load(second)
    found = differences(one, other)
    agreement = _agreement((first, one), (second, other))
    shares = [] if agreement is None else list(agreement.accuracy)
    other_fit = _alternative_of(first, second)
    document: dict[str, Any] = {
        "same_graph": found.is_same_graph,
        "latents": [asdict(pair) for pair in found.latents],
        "edges": [list(edge) for edge in found.edges],
        "joint_tv": found.joint_tv if isfinite(found.joint_tv) else None,
        "same_states": [share if isfinite(share) else None for share in shares] or None,
        "only_first": list(found.only_first),
        "only_second": list(found.only_second),
        "bic_gap": None if other_fit is None else other_fit.bic_gap,
    }
    terminal = answer(document, quiet, as_json)
    says = "the same graph" if found.is_same_graph else "different graphs"
    names = _called(first, second)
    terminal.print(f"{names[0]} and {names[1]} have {says}, up to names.", markup=False)
    if other_fit is not None:
        why = f", but {other_fit.rejected}" if other_fit.rejected else ""
        line = f"Alternative {names[1]} {fits(other_fit)}{why}."
        terminal.print(line, markup=False, soft_wrap=True)
    for line in found.sentences(*names):
        terminal.print(line, markup=False, soft_wrap=True)
    agreements = [
        f"{name} {share:.1%}"
        for name, share in zip(one.latent_names, shares, strict=False)
        if isfinite(share)
    ]
    if agreements:
        terminal.print(f"Cases in the same state: {', '.join(agreements)}.", markup=False)


def _refuse_missing(*folders: Path) -> None:
    """Say what to do about a folder that is not there."""
    from mixoracle.errors import InvalidInputError
    from mixoracle.report.folder import ALTERNATIVES_FOLDER

    for folder in folders:
        if folder.is_dir():
            continue
        what = "compare takes folders that mixoracle learn or LatentModel.save made"
        held = folder.parent
        if held.name != ALTERNATIVES_FOLDER:
            raise InvalidInputError(f"{what}; there is no folder {folder}: check its name")
        if held.is_dir():
            numbers = sorted((own.name for own in held.iterdir()), key=lambda n: (len(n), n))
            raise InvalidInputError(
                f"{what}; {held.parent} has no alternative {folder.name}: there are "
                f"{', '.join(numbers) or 'none'}"
            )
        raise InvalidInputError(
            f"{what}; {held.parent} holds no alternatives: learn again with --alternatives, unless "
            "a note of the result says that there are none"
        )


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


def _alternative_of(first: Path, second: Path) -> Alternative | None:
    """What is known of ``second`` as an alternative of ``first``; None where it is none."""
    from mixoracle.report.evidence import Evidence
    from mixoracle.report.folder import ALTERNATIVES_FOLDER, EVIDENCE_FILE, read_json

    folder, place = first.resolve(), second.resolve()
    if place.parent != folder / ALTERNATIVES_FOLDER or not place.name.isdecimal():
        return None
    if not (folder / EVIDENCE_FILE).is_file():
        return None
    held = Evidence.from_json(read_json(folder / EVIDENCE_FILE)).alternatives
    number = int(place.name)
    return held[number - 1] if 1 <= number <= len(held) else None
