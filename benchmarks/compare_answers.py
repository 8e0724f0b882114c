"""Does a change of the code change an answer? 300 problems of every kind, learned and compared.

``record FILE`` learns all problems with the version that is installed and keeps Γ, the domain
sizes, P(H), the states of all rows and the seconds. ``compare BEFORE AFTER`` says of two such
files, made by two versions, how many answers are the same, and names those that are not. Neither
the order of the latents nor the names of their states matter; a file that was cut short is compared
as far as it goes.

Both versions have to draw the same problems; a fingerprint of the observations proves it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from mixoracle import LatentGraphLearner, Observations
from mixoracle.datasets import item_problem, kind_problem, paper_problem, random_model, with_gaps
from mixoracle.datasets.shapes import reshape_components
from mixoracle.errors import AssumptionWarning
from settings import SETTINGS

# No seed of any table in the docs.
_FIRST_SEED = 77_000
_KIND_SETTINGS = ((2, 6, 3), (2, 7, 4), (3, 7, 3), (3, 8, 3), (3, 8, 4))
_ITEM_SETTINGS = ((2, 20), (2, 25), (3, 20), (3, 25), (3, 30))
# P(H) and the share of rows in another state that rounding may explain.
_SAME_PROBABILITY = 1e-9


@dataclass(frozen=True)
class Case:
    """One problem: the group that it belongs to, its name, and how it is drawn and learned."""

    group: str
    name: str
    draw: Callable[[], Observations]
    family: str | None = None


def cases() -> list[Case]:
    """The 300 problems."""
    return [*_paper_cases(), *_overlap_cases(), *_kind_cases(), *_missing_cases(), *_item_cases()]


def _paper_cases() -> Iterator[Case]:
    for setting, seed in product(SETTINGS, range(_FIRST_SEED, _FIRST_SEED + 5)):
        for samples in (1_000, 10_000):
            yield Case(f"N={samples}", f"{setting} {seed}", _paper(setting, samples, seed))


def _overlap_cases() -> Iterator[Case]:
    regimes: dict[str, tuple[dict[str, float | int], str | None]] = {
        "σ=0.03": ({"scale": 0.03}, None),
        "σ=0.1": ({"scale": 0.1}, None),
        "R^3": ({"width": 3}, None),
        "R^2": ({"width": 2}, None),
        "ball": ({}, "ball"),
        "heavy": ({}, "heavy"),
        "laplace": ({}, "laplace"),
        "skewed": ({}, "skewed"),
    }
    for (regime, (choices, shape)), setting in product(regimes.items(), SETTINGS):
        yield Case(regime, f"{setting}", _overlapping(setting, _FIRST_SEED, choices, shape))


def _kind_cases() -> Iterator[Case]:
    for kind, setting in product(("categorical", "counts", "gamma", "mixed"), _KIND_SETTINGS):
        for seed in range(_FIRST_SEED, _FIRST_SEED + 3):
            family = "gamma" if kind == "gamma" else None
            yield Case(kind, f"{setting} {seed}", _kind(setting, kind, seed), family)


def _missing_cases() -> Iterator[Case]:
    for share, setting in product((0.1, 0.3), SETTINGS):
        for seed in (_FIRST_SEED, _FIRST_SEED + 1):
            draw = _with_missing(setting, share, seed)
            yield Case(f"{100 * share:g} % missing", f"{setting} {seed}", draw)


def _item_cases() -> Iterator[Case]:
    for items, seed in product(_ITEM_SETTINGS, range(_FIRST_SEED, _FIRST_SEED + 4)):
        yield Case("items", f"{items} {seed}", _items(items, seed))


def _paper(setting: tuple[int, int, int], samples: int, seed: int) -> Callable[[], Observations]:
    return lambda: paper_problem(*setting, samples, seed, "code").observations


def _overlapping(
    setting: tuple[int, int, int],
    seed: int,
    choices: dict[str, float | int],
    shape: str | None,
) -> Callable[[], Observations]:
    def draw() -> Observations:
        model = random_model(*setting, seed, covariance="code", **choices)
        if shape is not None:
            model = reshape_components(model, shape)
        return paper_problem(model=model, n_samples=10_000, random_state=seed).observations

    return draw


def _kind(setting: tuple[int, int, int], kind: str, seed: int) -> Callable[[], Observations]:
    return lambda: kind_problem(*setting, 5_000, seed, kind).observations


def _with_missing(
    setting: tuple[int, int, int], share: float, seed: int
) -> Callable[[], Observations]:
    return lambda: with_gaps(paper_problem(*setting, 5_000, seed, "code").observations, share, seed)


def _items(setting: tuple[int, int], seed: int) -> Callable[[], Observations]:
    return lambda: item_problem(*setting, 3_000, seed).observations


def learn(case_number: int) -> dict[str, object]:
    """Learn one problem and take the answer apart into plain values."""
    case = cases()[case_number]
    observations = case.draw()
    learner = LatentGraphLearner(families=case.family, random_state=0)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner.fit(observations)
    return {
        "group": case.group,
        "name": case.name,
        "data": hashlib.sha256(np.ascontiguousarray(observations.values).tobytes()).hexdigest(),
        "seconds": time.process_time() - start,
        "adjacency": learner.model_.bipartite.astype(int).tolist(),
        "domain_sizes": list(learner.model_.domain_sizes),
        "joint": learner.model_.joint.table.ravel().tolist(),
        "states": learner.states_.tolist(),
    }


def record(path: Path, jobs: int) -> None:
    """Learn all problems and keep the answers, one line each."""
    numbers = range(len(cases()))
    answers = Parallel(n_jobs=jobs, return_as="generator")(delayed(learn)(n) for n in numbers)
    with path.open("w", encoding="utf-8") as file:
        for answer in answers:
            file.write(json.dumps(answer) + "\n")
            file.flush()


def differences(before: dict[str, object], after: dict[str, object]) -> list[str]:
    """What differs between two answers to one problem, in words."""
    if before["data"] != after["data"]:
        return ["other observations"]
    if _structure(before) != _structure(after):
        return [f"Γ or domains: {before['domain_sizes']} became {after['domain_sizes']}"]
    order = _matching(before, after)
    found = []
    n_rows, sizes = len(before["states"]), before["domain_sizes"]
    first_states, second_states = (
        np.reshape(answer["states"], (n_rows, len(sizes))) for answer in (before, after)
    )
    second_states = second_states[:, order]
    names = [
        _same_names(first_states[:, j], second_states[:, j], size) for j, size in enumerate(sizes)
    ]
    first = np.reshape(before["joint"], sizes)
    second = np.transpose(np.reshape(after["joint"], after["domain_sizes"]), order)
    distance = 0.5 * float(np.abs(first - (second[np.ix_(*names)] if names else second)).sum())
    if distance > _SAME_PROBABILITY:
        found.append(f"P(H) by {distance:.2g}")
    renamed = [np.argsort(name)[second_states[:, j]] for j, name in enumerate(names)]
    moved = np.mean(np.any(first_states != np.reshape(renamed, (len(sizes), n_rows)).T, axis=1))
    if moved > 0:
        found.append(f"states of {100 * moved:.3f} % of the rows")
    return found


def _same_names(
    before: NDArray[np.int64], after: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Which state of ``after`` each state of ``before`` is: most rows are in both."""
    table = np.bincount(before * size + after, minlength=size * size).reshape(size, size)
    return np.asarray(linear_sum_assignment(-table)[1])


def _structure(answer: dict[str, object]) -> list[tuple[tuple[int, ...], int]]:
    columns = np.array(answer["adjacency"], dtype=int).T.tolist()
    return sorted(zip(map(tuple, columns), answer["domain_sizes"], strict=True))


def _matching(before: dict[str, object], after: dict[str, object]) -> list[int]:
    """For each latent of ``before`` the one of ``after`` with the same children (no twins)."""
    theirs = np.array(after["adjacency"], dtype=int).T.tolist()
    return [theirs.index(column) for column in np.array(before["adjacency"], dtype=int).T.tolist()]


def compare(before: Path, after: Path) -> None:
    """Print how many answers are the same, group by group, and the ratio of the times."""
    first, second = (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in (before, after)
    )
    same: dict[str, list[bool]] = defaultdict(list)
    ratio: dict[str, list[float]] = defaultdict(list)
    told = []
    if len(first) != len(second):
        print(f"{len(first)} answers before, {len(second)} after: the first of both are compared")
    for old, new in zip(first, second, strict=False):
        found = differences(old, new)
        same[old["group"]].append(not found)
        ratio[old["group"]].append(new["seconds"] / old["seconds"])
        told += [f"{old['group']} {old['name']}: {'; '.join(found)}"] if found else []
    print(f"{'group':<16}{'problems':>9}{'same':>6}{'time after/before (median)':>28}")
    for group, held in same.items():
        print(f"{group:<16}{len(held):>9}{sum(held):>6}{np.median(ratio[group]):>28.2f}")
    everything = [is_same for held in same.values() for is_same in held]
    times = [value for held in ratio.values() for value in held]
    print(f"{'all':<16}{len(everything):>9}{sum(everything):>6}{np.median(times):>28.2f}")
    for line in told:
        print(line)


def main(argv: list[str] | None = None) -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="learn all problems with this version")
    recording.add_argument("file", type=Path)
    recording.add_argument("--jobs", type=int, default=2)
    comparing = commands.add_parser("compare", help="compare what two versions recorded")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    choices = parser.parse_args(argv)
    if choices.command == "record":
        record(choices.file, choices.jobs)
    else:
        compare(choices.before, choices.after)


if __name__ == "__main__":
    main()
