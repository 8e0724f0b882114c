"""Evidence and results under other names of latents and states.

Verdicts are sentences, written when the model was learned. Where they name a latent, or a state of
it, they get the new name; a word that also occurs in the name of an observed variable is left
alone, because it may mean that one. Other candidates have latents of their own and keep their
names.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mixoracle.model import LatentModel
from mixoracle.report.evidence import Alternative, Evidence
from mixoracle.report.folder import (
    EVIDENCE_FILE,
    FIGURES_FOLDER,
    STATES_FILE,
    STATES_FOLDER,
    Result,
    rewrite_states,
    write_json,
    write_report,
)
from mixoracle.report.parts import rewrite_parts


def renamed_evidence(evidence: Evidence, old: LatentModel, new: LatentModel) -> Evidence:
    """The evidence of the model ``old`` in the words of ``new``, the same under other names."""
    if (old.latent_names, old.state_names) == (new.latent_names, new.state_names):
        return evidence
    said = _translation(old, new)
    verdicts = tuple(
        replace(
            verdict,
            message=said(verdict.message),
            offenders=tuple(tuple(map(said, own)) for own in verdict.offenders),
        )
        for verdict in evidence.verdicts
    )
    overall = evidence.verdict
    if overall is not None:
        overall = replace(overall, reasons=tuple(map(said, overall.reasons)))
    alternatives = tuple(_renamed(other, old, said) for other in evidence.alternatives)
    return replace(
        evidence,
        verdicts=verdicts,
        failure=said(evidence.failure),
        verdict=overall,
        alternatives=alternatives,
    )


def _renamed(other: Alternative, old: LatentModel, said: Callable[[str], str]) -> Alternative:
    """An alternative that differs in one thing has the latents of the answer, but for that."""
    if not other.change:
        return other
    if other.latent_names != old.latent_names:
        return replace(other, change=said(other.change))
    names, rare = tuple(map(said, other.latent_names)), tuple(map(said, other.rare))
    return replace(other, change=said(other.change), latent_names=names, rare=rare)


def _translation(old: LatentModel, new: LatentModel) -> Callable[[str], str]:
    """From a sentence about ``old`` to the same about ``new``."""
    words: dict[str, str] = {}
    for j, name in enumerate(old.latent_names):
        whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        if any(whole.search(observed) for observed in old.observed_names):
            continue
        words[name] = new.latent_names[j]
        states = zip(old.states_of(j), new.states_of(j), strict=True)
        words |= {f"{name}={s}": f"{new.latent_names[j]}={t}" for s, t in states}
    # The longest first: a state is named with its latent.
    listed = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    if not listed:
        return str
    pattern = re.compile(rf"(?<!\w)({listed})(?!\w)")
    return lambda sentence: pattern.sub(lambda found: words[found[1]], sentence)


def write_renamed(folder: Path, source: Path, held: Result, model: LatentModel) -> None:
    """Fill a folder with the result of another one, under the names of ``model``."""
    result = replace(held, model=model, evidence=renamed_evidence(held.evidence, held.model, model))
    shutil.copytree(
        source, folder, ignore=shutil.ignore_patterns(FIGURES_FOLDER), dirs_exist_ok=True
    )
    model.save(folder)
    write_json(folder / EVIDENCE_FILE, result.evidence.to_json(), indent=None)
    if (source / STATES_FILE).is_file():
        rewrite_states(folder / STATES_FILE, held.model, model)
    if (source / STATES_FOLDER).is_dir():
        rewrite_parts(folder / STATES_FOLDER, held.model, model)
    write_report(folder, result)
    if (source / FIGURES_FOLDER).is_dir():
        from mixoracle.report.saving import save_figures

        save_figures(model, result.evidence, folder / FIGURES_FOLDER)
