"""From results to numbers: averages and rates with intervals, by arm and setting.

Nothing is left out: every run of a group counts in its numbers. A run that ended with an error
found no edge, so its SHD is the number of true edges; the average over the answered runs alone,
which is what the paper prints, is given beside it. Averages come with a 95 % percentile bootstrap
interval, rates with a 95 % Wilson interval.

Assumption: runs are independent, which holds within an arm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path

import numpy as np

from mixoracle.errors import InvalidInputError
from mixoracle.experiments.results import Result, StudyRecord, load
from mixoracle.experiments.studies import Conditions, Setting

# The two-sided 95 % quantile of the normal distribution, for Wilson's interval.
_Z = 1.959963984540054
_BOOTSTRAP_DRAWS = 2_000
# The bootstrap's own seed: the same results give the same report.
_BOOTSTRAP_SEED = 20_211_206


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % confidence interval."""

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise InvalidInputError(
                f"an interval should hold its value; got {self.low}, {self.value}, {self.high}"
            )


def mean_interval(values: Iterable[float]) -> Interval | None:
    """The mean with its percentile bootstrap interval; None of nothing."""
    held = np.fromiter(values, dtype=np.float64)
    if not held.size:
        return None
    rng = np.random.default_rng(_BOOTSTRAP_SEED)
    means = rng.choice(held, (_BOOTSTRAP_DRAWS, held.size)).mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    value = float(held.mean())
    # A handful of values, one of them rare, can have a mean beyond its own percentiles.
    return Interval(value, min(float(low), value), max(float(high), value))


def rate_interval(successes: int, total: int) -> Interval | None:
    """A share with its Wilson interval; None of nothing.

    >>> rate_interval(9, 10)
    Interval(value=0.9, low=0.5958499732047615, high=0.9821237869049271)
    """
    if total == 0:
        return None
    share = successes / total
    weight = _Z**2 / total
    centre = (share + weight / 2) / (1 + weight)
    reach = _Z * sqrt(share * (1 - share) / total + weight / (4 * total)) / (1 + weight)
    # At 0 and at 1 the formula meets the share itself, up to rounding.
    return Interval(
        share, min(max(centre - reach, 0.0), share), max(min(centre + reach, 1.0), share)
    )


@dataclass(frozen=True)
class Summary:
    """The summary of a group of runs.

    ``shd`` is over all runs, ``shd_answered`` over those that the paper would have counted.
    ``tv`` and ``limit_tv`` are over the runs with the right domain sizes, where there is a
    distance. Stages: ``failed_oracle`` is step (a), ``failed_graph`` (b) to (d), ``failed_else``
    the rest; of the second ``fallbacks`` still gave an answer, which is in ``shd``.
    """

    runs: int
    fallbacks: int
    failed_oracle: Interval | None
    failed_graph: Interval | None
    failed_else: Interval | None
    shd: Interval | None
    shd_answered: Interval | None
    largest_shd: int | None
    limit_shd: Interval | None
    uce: Interval | None
    exact: Interval | None
    limit_exact: Interval | None
    gamma: Interval | None
    sizes: Interval | None
    tv: Interval | None
    limit_tv: Interval | None
    accuracy: Interval | None
    seconds: Interval | None
    edges: Interval | None
    edge_range: tuple[int, int] | None


def summarise(results: Sequence[Result]) -> Summary:
    """Sum up a group of runs."""
    total = len(results)
    distances = [shd for shd in map(counted_shd, results) if shd is not None]
    answered = [r.score.shd for r in results if r.score and r.status == "answered"]
    limits = [r.limit for r in results if r.limit]
    scores = [r.score for r in results if r.score]
    comparable = [(r.score.tv, r.limit.tv) for r in results if r.score and r.limit]
    edges = [r.edges for r in results if r.edges is not None]

    def share(holds: Callable[[Result], bool]) -> Interval | None:
        return rate_interval(sum(map(holds, results)), total)

    return Summary(
        runs=total,
        fallbacks=sum(r.status == "fallback" for r in results),
        failed_oracle=share(lambda r: r.stage == "oracle"),
        failed_graph=share(lambda r: r.stage == "graph"),
        failed_else=share(lambda r: r.stage in ("draw", "search", "compare")),
        shd=mean_interval(distances),
        shd_answered=mean_interval(answered),
        largest_shd=max(distances, default=None),
        limit_shd=mean_interval(limit.shd for limit in limits),
        uce=mean_interval(scored.uce for scored in scores),
        exact=share(lambda r: bool(r.score and r.score.exact)),
        limit_exact=share(lambda r: bool(r.limit and r.limit.exact)),
        gamma=share(lambda r: bool(r.gamma)),
        sizes=share(lambda r: bool(r.sizes)),
        tv=mean_interval(tv for tv, _ in comparable if tv is not None),
        limit_tv=mean_interval(
            limit for tv, limit in comparable if tv is not None and limit is not None
        ),
        accuracy=mean_interval(r.accuracy for r in results if r.accuracy is not None),
        seconds=mean_interval(r.seconds for r in results if r.seconds is not None),
        edges=mean_interval(edges),
        edge_range=(min(edges), max(edges)) if edges else None,
    )


def counted_shd(result: Result) -> int | None:
    """The SHD with which a run counts: all true edges are missing where there is no answer."""
    return result.edges if result.score is None else result.score.shd


@dataclass(frozen=True)
class Cell:
    """The runs of one source with one arm and one setting; a setting of None is all of them."""

    source: str
    arm: str
    samples: int
    setting: Setting | None
    summary: Summary


@dataclass(frozen=True)
class Source:
    """A study under the name by which the report calls it."""

    label: str
    record: StudyRecord

    def settings(self) -> tuple[Setting, ...]:
        """All (m, n) of the study, in ascending order."""
        return tuple(sorted({s for arm in self.record.study.arms for s in arm.settings}))

    def cells(self, *, by_setting: bool) -> list[Cell]:
        """One summary for each arm, or for each arm and setting that has runs."""
        found = []
        for arm in self.record.study.arms:
            for setting in self.settings() if by_setting else (None,):
                chosen = [
                    r
                    for r in self.record.results
                    if r.arm == arm.label and setting in (None, (r.m, r.n))
                ]
                if chosen:
                    size = arm.conditions.n_samples
                    found.append(Cell(self.label, arm.label, size, setting, summarise(chosen)))
        return found


def load_sources(folders: Sequence[Path]) -> dict[str, list[Source]]:
    """Read studies, grouped by the name of the study, each under a label of its own.

    A source is called by its oracle, and by its folder as well where that is not enough.
    """
    if len({folder.resolve() for folder in folders}) != len(folders):
        raise InvalidInputError("a study should be named once only; the same folder came twice")
    grouped: dict[str, list[tuple[Path, Source]]] = {}
    for folder in folders:
        record = load(folder)
        if not record.results:
            raise InvalidInputError(f"{folder} has no results yet; run the study first")
        asked = record.study.arms[0].conditions
        noise = "" if asked.covariance == "code" else f", {asked.covariance} noise"
        source = Source(f"{asked.oracle}{noise}", record)
        grouped.setdefault(record.study.name, []).append((folder, source))
    sources = {}
    for name, group in grouped.items():
        plain = [source.label for _, source in group]
        sources[name] = [
            source
            if plain.count(source.label) == 1
            else replace(source, label=f"{source.label} ({folder.name})")
            for folder, source in group
        ]
        if len({source.label for source in sources[name]}) != len(group):
            raise InvalidInputError(
                f"two folders of the study {name!r} have the same name and oracle; rename one"
            )
    return sources


Problem = tuple[tuple[int, int, int], Setting, Conditions]


def on_shared_problems(sources: Sequence[Source]) -> list[Cell]:
    """Summaries over the problems that every source has solved; empty where there are none.

    Two runs have the same problem when they have the same seed, setting and conditions, the
    oracle apart.
    """
    solved: list[dict[Problem, Result]] = []
    for source in sources:
        study = source.record.study
        tasks = [(study.task(result.run), result) for result in source.record.results]
        solved.append(
            {
                (task.entropy, task.setting, replace(task.conditions, oracle="signature")): result
                for task, result in tasks
            }
        )
    shared = set.intersection(*(set(held) for held in solved)) if len(solved) > 1 else set()
    if not shared:
        return []
    sizes = {conditions.n_samples for _, _, conditions in shared}
    arm = "N=" + ", ".join(map(str, sorted(sizes)))
    return [
        # By number, not in the order of a set: means of the same runs are then the same bytes.
        Cell(source.label, arm, max(sizes), None, summarise([held[p] for p in held if p in shared]))
        for source, held in zip(sources, solved, strict=True)
    ]
