"""How far answers and seconds depend on each number that the core was given.

Every field of :class:`mixoracle.settings.Budget` and :class:`mixoracle.settings.Priors` is halved
and doubled, one at a time, and the same problems are learned again: overlapping components, few
dimensions, heavy tails, answers, counts, missing values and single items. The table
says on how many problems Γ and all domain sizes were exactly right, on how many the answer is not
that of the default, and the ratio of the times. Problems are small, so that all variants are
learned within the hour; the first line is the default itself.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass, fields, replace

from joblib import Parallel, delayed

from mixoracle import LatentGraphLearner
from mixoracle.datasets import (
    Problem,
    item_problem,
    kind_problem,
    paper_problem,
    random_model,
    with_gaps,
)
from mixoracle.datasets.shapes import reshape_components
from mixoracle.errors import AssumptionWarning, MixoracleError
from mixoracle.metrics import compare
from mixoracle.settings import Budget, Priors, Settings

_ROWS = 1_000
_SETTING = (2, 5, 3)

Answer = tuple[bool, tuple[tuple[bytes, int], ...], float]


def problems(seed: int) -> list[Problem]:
    """One problem of every kind."""
    return [
        paper_problem(*_SETTING, _ROWS, seed, "code"),
        _overlapping(seed, scale=0.1),
        _overlapping(seed, width=2),
        _overlapping(seed, shape="heavy"),
        kind_problem(*_SETTING, _ROWS, seed, "categorical"),
        kind_problem(*_SETTING, _ROWS, seed, "counts"),
        _with_missing(seed),
        item_problem(2, 12, _ROWS, seed),
    ]


def _overlapping(
    seed: int, scale: float = 0.01, width: int = 5, shape: str | None = None
) -> Problem:
    model = random_model(*_SETTING, seed, covariance="code", scale=scale, width=width)
    model = model if shape is None else reshape_components(model, shape)
    return paper_problem(model=model, n_samples=_ROWS, random_state=seed)


def _with_missing(seed: int) -> Problem:
    whole = paper_problem(*_SETTING, _ROWS, seed, "code")
    return replace(whole, observations=with_gaps(whole.observations, 0.2, seed))


def learn(problem: Problem, settings: Settings) -> Answer:
    """Whether the structure is exact, the structure itself, and the seconds of CPU."""
    learner = LatentGraphLearner(random_state=0)
    learner._settings = settings
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        try:
            learner.fit(problem.observations)
        except MixoracleError:
            return False, (), time.process_time() - start
    seconds = time.process_time() - start
    found = compare(problem.model, learner.model_)
    columns = zip(learner.model_.bipartite.T, learner.model_.domain_sizes, strict=True)
    structure = tuple(sorted((column.tobytes(), size) for column, size in columns))
    return found.bipartite_exact and found.domains_exact, structure, seconds


@dataclass(frozen=True)
class Variant:
    """One number, halved or doubled."""

    record: str
    name: str
    factor: float
    settings: Settings


def variants(only: str) -> list[Variant]:
    """All numbers whose name contains ``only``, halved and doubled."""
    made = []
    for record in (Budget(), Priors()):
        for field in fields(record):
            value = getattr(record, field.name)
            for factor in (0.5, 2.0):
                changed = max(1, int(value * factor)) if isinstance(value, int) else value * factor
                other = replace(record, **{field.name: changed})
                settings = Settings(other) if isinstance(other, Budget) else Settings(priors=other)
                made.append(Variant(type(record).__name__, field.name, factor, settings))
    return [variant for variant in made if only in variant.name]


def line(name: str, default: object, halves: list[str]) -> str:
    """One line of the table."""
    return f"{name:<36}{default!s:>12}" + "".join(f"{half:>26}" for half in halves)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=1, help="problems of each kind")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only numbers whose name contains this")
    parser.add_argument("--jobs", type=int, default=1)
    choices = parser.parse_args(argv)
    seeds = range(choices.first_seed, choices.first_seed + choices.seeds)
    drawn = [problem for seed in seeds for problem in problems(seed)]

    def learn_all(settings: Settings) -> list[Answer]:
        return list(Parallel(n_jobs=choices.jobs)(delayed(learn)(p, settings) for p in drawn))

    learn_all(Settings())  # so that imports and caches are not the default's cost
    base = learn_all(Settings())
    print(line("number", "value", ["halved: exact/other/time", "doubled: exact/other/time"]))
    print(line(f"default, {len(drawn)} problems", "", [_summary(base, base)]), flush=True)
    found = variants(choices.only)
    for half, double in zip(found[::2], found[1::2], strict=True):
        default = getattr(Budget() if half.record == "Budget" else Priors(), half.name)
        told = [_summary(learn_all(variant.settings), base) for variant in (half, double)]
        print(line(f"{half.record}.{half.name}", default, told), flush=True)


def _summary(answers: list[Answer], base: list[Answer]) -> str:
    exact = sum(answer[0] for answer in answers)
    other = sum(answer[1] != known[1] for answer, known in zip(answers, base, strict=True))
    return f"{exact} / {other} / {_seconds(answers) / _seconds(base):.2f}"


def _seconds(answers: list[Answer]) -> float:
    return sum(answer[2] for answer in answers)


if __name__ == "__main__":
    main()
