"""Data as the world gives them: how often Γ and all domain sizes are exactly right.

The ten settings of the paper, each spoiled in the ways that ``faults.py`` lists. Beside the share
of exact answers stand the median seconds of CPU, and of the wrong answers how many are doubted.
A problem that fails counts as not exact. ``--keep FILE`` writes every problem down as it is done;
the same command goes on from there, and ``--table`` prints what there is.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np

from faults import FAULTS, FURTHER, fault_problem
from mixoracle import LatentGraphLearner
from mixoracle.errors import AssumptionWarning, DataWarning, MixoracleError
from mixoracle.metrics import compare
from settings import SETTINGS

Outcome = dict[str, object]


def run(fault: str, setting: tuple[int, int, int], samples: int, seed: int) -> Outcome:
    """Whether the structure was exact, the seconds, whether something failed, and the answer."""
    observations, model = fault_problem(fault, setting, samples, seed)
    outcome: Outcome = {"fault": fault, "setting": list(setting), "samples": samples, "seed": seed}
    outcome |= {"exact": False, "doubted": True, "found": None, "true": list(model.domain_sizes)}
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", DataWarning)
        try:
            learner = LatentGraphLearner(random_state=seed).fit(observations)
        except MixoracleError as error:
            return outcome | {"seconds": time.process_time() - start, "error": str(error)}
    seconds = time.process_time() - start
    found = compare(model, learner.model_)
    return outcome | {
        "seconds": seconds,
        "exact": found.bipartite_exact and found.domains_exact,
        "doubted": learner.verdict_.level != "believe",
        "found": list(learner.model_.domain_sizes),
        "resolution": learner.resolution_,
    }


def print_table(outcomes: list[Outcome]) -> None:
    """One line for each fault, and one for all."""
    print(
        f"{'fault':<22}{'problems':>9}{'exact':>7}{'%':>8}{'median s':>10}{'max s':>8}"
        f"{'wrong, doubted':>16}"
    )
    for fault in FAULTS | FURTHER:
        own = [outcome for outcome in outcomes if outcome["fault"] == fault]
        if not own:
            continue
        wrong = [outcome for outcome in own if not outcome["exact"]]
        seconds = [float(str(outcome["seconds"])) for outcome in own]
        print(
            f"{fault:<22}{len(own):>9}{len(own) - len(wrong):>7}"
            f"{100 * (1 - len(wrong) / len(own)):>8.1f}{np.median(seconds):>10.2f}"
            f"{max(seconds):>8.2f}{sum(bool(o['doubted']) for o in wrong):>10} of {len(wrong)}"
        )
    exact = [bool(outcome["exact"]) for outcome in outcomes]
    print(f"{'all':<22}{len(exact):>9}{sum(exact):>7}{100 * np.mean(exact):>8.1f}")


def main(argv: list[str] | None = None) -> None:
    """Run what is not kept yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=4_000, help="rows of each problem")
    parser.add_argument("--seeds", type=int, default=1, help="problems of each setting")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--faults", default="", help="only those whose name contains this")
    parser.add_argument("--further", action="store_true", help="those made after the method")
    parser.add_argument("--keep", type=Path, help="a file of lines of JSON, one a problem")
    parser.add_argument("--table", action="store_true", help="print what is kept, run nothing")
    choices = parser.parse_args(argv)
    kept: list[Outcome] = []
    if choices.keep and choices.keep.exists():
        kept = [json.loads(line) for line in choices.keep.read_text().splitlines()]
    if choices.table:
        print_table(kept)
        return
    done = {
        (o["fault"], tuple(o["setting"]), o["samples"], o["seed"]): o  # type: ignore[arg-type]
        for o in kept
    }
    keys = [
        (fault, setting, choices.samples, seed)
        for seed in range(choices.first_seed, choices.first_seed + choices.seeds)
        for setting in SETTINGS
        for fault in (FURTHER if choices.further else FAULTS)
        if choices.faults in fault
    ]
    # In an order drawn once, so that a run which is stopped has seen some of everything.
    for place in np.random.default_rng(0).permutation(len(keys)):
        key = keys[place]
        if key not in done:
            done[key] = run(*key)
            if choices.keep:
                with choices.keep.open("a") as file:
                    print(json.dumps(done[key]), file=file, flush=True)
    outcomes = [done[key] for key in keys]
    print_table(outcomes)


if __name__ == "__main__":
    main()
