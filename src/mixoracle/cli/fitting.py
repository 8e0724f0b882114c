"""Run the learner for the command line, and write down how it was run.

The learner never gets ``strict``: a result with a failed assumption is still worth looking at, so
it is written, and only the exit code tells. Whether an assumption failed that matters is the
learner's own judgement, which it gives as a warning. What it passed over in the data it says as a
warning too; both reach the user as sentences.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixoracle._arrays import Floats
from mixoracle.background import Background
from mixoracle.errors import AssumptionWarning, DataWarning, InvalidInputError
from mixoracle.inference.passes import spread_over
from mixoracle.learner import LatentGraphLearner
from mixoracle.model import LatentModel
from mixoracle.model.reading import Reading
from mixoracle.observations import ChunkedObservations
from mixoracle.oracles.run import Stage
from mixoracle.report.evidence import Evidence
from mixoracle.report.folder import ALTERNATIVES_FOLDER, STATES_FOLDER, Result, write_result
from mixoracle.report.gathering import gather
from mixoracle.report.resampling import Resampled
from mixoracle.report.run import run_record

if TYPE_CHECKING:
    from mixoracle.cli.given import Input
    from mixoracle.cli.terminal import Stages

GATHERING = "gathering the evidence"
WRITING = "writing the result"
RESAMPLING = "learning from halves of the cases"
NO_ALTERNATIVES = (
    "there are no alternatives: no other candidate fits well enough to be looked at, and the "
    "evidence leaves no single thing open"
)
# The stages that the learner names, with how long each takes beside the others (those of the
# projection on tests of binary items). A stage that is missing here is shown without a forecast:
# the signature oracle calls the other one where it cannot see.
_PLANS: Mapping[str, Sequence[tuple[str, float]]] = {
    "signature": (
        (Stage.PREPARING, 0.12),
        (Stage.SEGMENTING, 0.27),
        (Stage.PAIRING, 0.13),
        # Passed over where the quick answer stands; else they take longer than all the others.
        (Stage.JOINING, 0.06),
        (Stage.DECODING, 0.06),
        (Stage.REFINING, 0.02),
        (Stage.SEARCHING, 0.03),
        (Stage.CHECKING, 0.16),
        (GATHERING, 0.03),
        (WRITING, 0.02),
    ),
    "projection": (
        (Stage.PREPARING, 0.02),
        (Stage.MIXTURE, 0.66),
        (Stage.DECODING, 0.14),
        (Stage.REFINING, 0.08),
        (Stage.SEARCHING, 0.01),
        (Stage.CHECKING, 0.03),
        (GATHERING, 0.03),
        (WRITING, 0.03),
    ),
    "kmeans": (
        (Stage.PREPARING, 0.005),
        (Stage.COUNTING, 0.945),
        (Stage.REFINING, 0.03),
        (Stage.SEARCHING, 0.001),
        (Stage.CHECKING, 0.004),
        (GATHERING, 0.005),
        (WRITING, 0.01),
    ),
}
# What each 10 000 rows add to that: structure is learned from no more rows than are worth it.
_BY_ROWS: Mapping[str, Mapping[str, float]] = {
    "signature": {Stage.PREPARING: 0.10, Stage.REFINING: 0.08, Stage.CHECKING: 0.03}
}


def plan_of(oracle: str, n_rows: int) -> tuple[tuple[str, float], ...]:
    """The stages of learning from so many rows, each with its share of the time.

    There are none for an oracle of the user's own.
    """
    added = _BY_ROWS.get(oracle, {})
    work = [
        (stage, once + added.get(stage, 0.0) * n_rows / 10_000)
        for stage, once in _PLANS.get(oracle, ())
    ]
    total = sum(own for _, own in work)
    return tuple((stage, own / total) for stage, own in work)


def learn_into(
    folder: Path,
    data: Path,
    given: Input,
    settings: Mapping[str, Any],
    tell: Stages,
    kept: Path | None = None,
    **remarks: Any,
) -> tuple[LatentGraphLearner, Result]:
    """Learn and fill a folder with everything that a result is; ``remarks`` go to run.json.

    ``kept`` is the file that holds resamples until all of them are done.
    """
    learner, evidence, probabilities = fit(given, tell, settings)
    if settings.get("bootstrap"):
        evidence = replace(evidence, support=resampled(learner, tell, settings, kept))
    if settings.get("held_out"):
        judged = learner.held_out(random_state=settings["seed"])
        evidence = replace(evidence, notes=(*evidence.notes, *judged.sentences()))
    if settings.get("alternatives") and not learner.alternatives_:
        evidence = replace(evidence, notes=(*evidence.notes, NO_ALTERNATIVES))
    if given.chunked is not None:
        evidence = _with_states(folder, learner.model_, given.chunked, evidence, settings, tell)
    tell(WRITING)
    files = given.files or (data,)
    shown = data.name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more"
    source = {"file": shown, "sha256": _digest(files), "declared": dict(given.families)}
    run = run_record(given.observations, evidence, source, settings, tell.timings)
    if learner.passes_ is not None:
        run["data"] |= {"rows": learner.passes_.n_rows, "sample": given.observations.n_samples}
        run["passes"] = asdict(learner.passes_)
    run.update(remarks)
    result = Result(learner.model_, evidence, run)
    id_title = settings.get("id_column") or "row"
    # Of a table in chunks only a sample was seen.
    in_memory = given.chunked is None
    states, aside = (learner.states_, learner.set_aside_) if in_memory else (None, None)
    write_result(folder, result, states, probabilities, given.ids, id_title, aside)
    if settings.get("alternatives"):
        _write_alternatives(folder, learner)
    return learner, result


def fit(
    given: Input, tell: Stages, settings: Mapping[str, Any]
) -> tuple[LatentGraphLearner, Evidence, list[Floats]]:
    """Learn, and gather evidence and probabilities of states while the data are at hand."""
    learner = LatentGraphLearner(
        oracle=settings["oracle"],
        latent_search=settings["search"],
        max_components=settings["max_components"],
        n_jobs=settings["jobs"],
        random_state=settings["seed"],
        progress=tell,
        families=dict(given.families) or None,
        set_aside=settings["set_aside"],
        resolution=settings["resolution"],
        knowledge=read_knowledge(settings),
        exposure=settings.get("exposure"),
        n_latents=settings.get("latents"),
        domain_sizes=settings.get("sizes"),
        n_init=settings.get("starts") or "auto",
        time_limit=settings.get("time_limit"),
        memory_limit=_bytes(settings.get("memory_limit")),
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.fit(given.observations if given.chunked is None else given.chunked)
    failures, passed_over = _sorted_out(caught)
    tell(GATHERING)
    notes = [*given.notes, *passed_over]
    probabilities = learner.predict_proba(given.observations)
    rows = learner.learned_rows()
    evidence = gather(learner, rows, "; ".join(failures), notes, probabilities)
    return learner, evidence, probabilities


def _with_states(
    folder: Path,
    model: LatentModel,
    chunked: ChunkedObservations,
    evidence: Evidence,
    settings: Mapping[str, Any],
    tell: Stages,
) -> Evidence:
    """Write the states of all rows, and note what was met on the way."""
    from mixoracle.report.parts import write_parts

    unseen = write_parts(
        folder / STATES_FOLDER, model, chunked, spread_over(settings["jobs"]), tell
    )
    notes = [
        f"{name}: {lost:,} cells hold a level that the sample does not; they count as missing"
        for name, lost in unseen.items()
    ]
    return replace(evidence, notes=(*evidence.notes, *notes))


def _bytes(gigabytes: float | None) -> float | None:
    return None if gigabytes is None else 1e9 * gigabytes


def _write_alternatives(folder: Path, learner: LatentGraphLearner) -> None:
    """Each other candidate as a model that can be asked, compared and exported."""
    held = learner.model_.reading
    plain = held and Reading(
        held.columns,
        held.levels,
        exposure=held.exposure,
        repeated=held.repeated,
        units=held.units,
    )
    for number, other in enumerate(learner.alternatives_, 1):
        replace(other.model, reading=plain).save(folder / ALTERNATIVES_FOLDER / str(number))


def read_knowledge(settings: Mapping[str, Any]) -> Background | None:
    """What is known beforehand, from the file of ``--knowledge`` or of ``--qmatrix``."""
    knowledge, qmatrix = settings.get("knowledge"), settings.get("qmatrix")
    if knowledge and qmatrix:
        raise InvalidInputError(
            "--knowledge and --qmatrix both say which measurements a cause drives; give one"
        )
    if knowledge:
        return Background.read(knowledge)
    return Background.read_qmatrix(qmatrix) if qmatrix else None


def kept_resamples(out: Path) -> Path:
    """Where resamples are kept until the result is whole: the same command goes on with them."""
    target = out.resolve()
    return target.with_name(f".{target.name}-resamples.jsonl")


def resampled(
    learner: LatentGraphLearner, tell: Stages, settings: Mapping[str, Any], kept: Path | None
) -> Resampled:
    """Learn again from halves of the rows, and say how far it is and how long it will take."""
    began = time.perf_counter()
    done_before: list[int] = []

    def progress(done: int, total: int) -> None:
        done_before.append(done)
        spent, n_new = time.perf_counter() - began, done - done_before[0] + 1
        left = spent / n_new * (total - done)
        if done == total or done % max(1, total // 10) == 0:
            tell(f"{RESAMPLING}: {done} of {total} (about {left:.0f} s left)")

    tell(RESAMPLING)
    support = learner.bootstrap(
        settings["bootstrap"],
        n_jobs=settings["jobs"],
        random_state=settings["seed"],
        keep=kept,
        progress=progress,
    )
    return Resampled.of(support, learner.model_)


def _sorted_out(caught: Sequence[warnings.WarningMessage]) -> tuple[list[str], list[str]]:
    """Failures and notes on the data, each said once; any other warning goes on."""
    failures, passed_over = [], []
    for warning in caught:
        if issubclass(warning.category, AssumptionWarning):
            failures.append(str(warning.message))
        elif issubclass(warning.category, DataWarning):
            passed_over.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return list(dict.fromkeys(failures)), list(dict.fromkeys(passed_over))


def _digest(files: Sequence[Path]) -> str:
    """The digest of all files, one after the other."""
    found = hashlib.sha256()
    for path in files:
        with path.open("rb") as stream:
            hashlib.file_digest(stream, lambda: found)
    return found.hexdigest()
