"""Many seeds on one table: how often the same answer, and the support of what is claimed.

Real tests: ``fractions``, ``ecpe`` and ``probability`` have 12 to 28 items with two answers each,
in the folder of real data (``--data`` or ``MIXORACLE_DATA``). Each is learned from every seed.
Printed: how often each structure (Γ with the domain sizes) came out, with its BIC and how many
starts agreed on it; what share of the pairs of seeds agrees; and of the most frequent one the
verdict, and every edge among the causes with its claim and support.

``--problems P`` draws P problems instead, by number from ``--first-problem`` on, as
``bench_calibration.py`` does (clean, noisy, spoiled, without a cause, 50 to ``--most`` rows), and
prints what share of all pairs of seeds agrees, and which problems have pairs that do not.

Outcomes are kept in a file, and an interrupted run goes on with it.

    python benchmarks/bench_seeds.py --keep FILE [--seeds S] [--only NAME]
    python benchmarks/bench_seeds.py --keep FILE --problems P [--first-problem N] [--seeds 5]
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from bench_calibration import draw, n_rows
from mixoracle import LatentGraphLearner
from mixoracle.decoding.explanation import structure_of
from mixoracle.trust.edges import pair_supports

if TYPE_CHECKING:
    from mixoracle import Observations

TESTS = ("fractions", "probability", "ecpe")


def read_test(folder: Path, name: str) -> pd.DataFrame:
    """The answers, one row a person."""
    path = folder / name / f"{name}_items.csv"
    table = pd.read_csv(path)  # an identifier has more than two values
    return table[[column for column in table.columns if table[column].nunique() == 2]]


def learn(table: pd.DataFrame | Observations, seed: int) -> dict:
    """What one seed leads to."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = LatentGraphLearner(random_state=seed).fit(table)
    model = learner.model_
    names = model.latent_names
    pairs = pair_supports(model, len(learner.states_), learner.edge_posterior_)
    return {
        "seed": seed,
        "structure": repr(structure_of(model.bipartite, model.domain_sizes)),
        "sizes": sorted(model.domain_sizes),
        "bic": learner.bic_,
        "starts": [learner.n_starts_agreed_, learner.n_starts_],
        "level": learner.verdict_.level,
        "reasons": list(learner.verdict_.reasons),
        "edges": [
            [f"{names[p.first]}, {names[p.second]}", str(p.claim), p.forward, p.adjacency]
            for p in pairs
        ],
        "seconds": time.process_time() - start,
    }


def agreeing_pairs(outcomes: list[dict]) -> tuple[int, int]:
    """How many pairs of seeds have the same structure, and how many there are."""
    counts, n = Counter(outcome["structure"] for outcome in outcomes), len(outcomes)
    return sum(k * (k - 1) // 2 for k in counts.values()), n * (n - 1) // 2


def show(name: str, outcomes: list[dict]) -> None:
    """Print what the seeds of one test led to."""
    counts = Counter(outcome["structure"] for outcome in outcomes)
    agree, pairs = agreeing_pairs(outcomes)
    seconds = sum(outcome["seconds"] for outcome in outcomes) / len(outcomes)
    print(
        f"{name}: {len(outcomes)} seeds, {agree / max(pairs, 1):.0%} of pairs agree, "
        f"{seconds:.1f} s of CPU each"
    )
    for structure, count in counts.most_common():
        held = [outcome for outcome in outcomes if outcome["structure"] == structure]
        sizes = " × ".join(map(str, held[0]["sizes"])) or "none"
        starts = ", ".join(f"{a} of {b}" for a, b in sorted({tuple(o["starts"]) for o in held}))
        print(f"  {count:3d} times {sizes}, BIC {held[0]['bic']:.1f}, starts that agree: {starts}")
    best = next(o for o in outcomes if o["structure"] == counts.most_common(1)[0][0])
    print(f"  verdict: {best['level']}")
    for reason in best["reasons"]:
        print(f"    {reason}")
    for pair, claim, forward, adjacency in best["edges"]:
        figures = "" if adjacency is None else f" (arrow {forward:.2f}, edge {adjacency:.2f})"
        print(f"    {pair}: {claim}{figures}")


def show_problems(held: dict[str, list[dict]]) -> None:
    """Print what share of the pairs of seeds agrees, over all problems, and where some do not."""
    agree = pairs = 0
    for name, outcomes in held.items():
        own = agreeing_pairs(outcomes)
        agree, pairs = agree + own[0], pairs + own[1]
        if own[0] < own[1]:
            found = Counter(
                f"{' × '.join(map(str, o['sizes'])) or 'none'} ({o['level']}, BIC {o['bic']:.1f})"
                for o in outcomes
            )
            print(f"{name}: {', '.join(f'{n} times {what}' for what, n in found.most_common())}")
    print(f"{len(held)} problems: {agree} of {pairs} pairs of seeds agree")


def tables(arguments: argparse.Namespace) -> dict[str, pd.DataFrame | Observations]:
    """What is to be learned, by name."""
    if arguments.problems:
        first = arguments.first_problem
        numbers = range(first, first + arguments.problems)
        drawn = {seed: draw(seed) for seed in numbers if n_rows(seed) <= arguments.most}
        return {f"{seed} {held.kind}": held.observations for seed, held in drawn.items()}
    names = TESTS if arguments.only is None else (arguments.only,)
    return {name: read_test(Path(arguments.data), name) for name in names}


def main() -> None:
    """Run what is left to do, then print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("MIXORACLE_DATA"))
    parser.add_argument("--keep", type=Path, required=True, help="the file of the outcomes")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", choices=TESTS)
    parser.add_argument("--problems", type=int, default=0, help="drawn ones, instead of the tests")
    parser.add_argument("--first-problem", type=int, default=820_000)
    parser.add_argument("--most", type=int, default=1_000, help="rows that a problem has at most")
    arguments = parser.parse_args()
    text = arguments.keep.read_text(encoding="utf-8") if arguments.keep.is_file() else ""
    lines = [json.loads(line) for line in text.splitlines()]
    held: dict[str, list[dict]] = {}
    for name, table in tables(arguments).items():
        outcomes = [line for line in lines if line["test"] == name]
        done = {outcome["seed"] for outcome in outcomes}
        for seed in range(arguments.seeds):
            if seed not in done:
                outcomes.append({"test": name, **learn(table, seed)})
                with arguments.keep.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(outcomes[-1]) + "\n")
        held[name] = outcomes
        if not arguments.problems:
            show(name, outcomes)
    if arguments.problems:
        show_problems(held)


if __name__ == "__main__":
    main()
