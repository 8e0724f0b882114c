"""What a claim about an edge among hidden causes is worth: how often each kind of claim is right.

The ten settings of the paper, each over many seeds and several numbers of rows, learned from the
data alone. Printed for each number of rows: the precision of 'causes', 'probably causes' and 'may
cause', and how many of the true arrows they claim; how often edges that are said to be absent are,
and how often those that were 'not seen' are not there; and of all adjacencies found, how many are
right. All problems count: claims about a hidden cause that matches none of the true ones are wrong,
and true arrows of causes that were not found are not claimed. With ``--known-states`` nothing is
learned but Λ, from the true states of the rows, which takes a hundredth of the time. Outcomes are
kept in a file if one is given, and an interrupted run goes on with it.

    python benchmarks/bench_arrows.py [--seeds S] [--rows 300 1000 3000 10000] [--known-states]
                                      [--keep FILE]
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from mixoracle import JointTable, LatentGraphLearner, LatentModel, structure
from mixoracle.datasets import Problem, paper_problem
from mixoracle.metrics import compare, compare_states
from mixoracle.structure import EdgePosterior
from mixoracle.trust.edges import Claim, pair_supports, posterior_of
from settings import SETTINGS, problem_options

ARROWS = (Claim.CAUSES, Claim.PROBABLY, Claim.MAY)


def judge(
    setting: tuple[int, int, int], seed: int, n_samples: int, covariance: str, known: bool
) -> Counter:
    """One problem: how many claims of each kind there are, and how many of them are right."""
    problem = paper_problem(*setting, n_samples=n_samples, random_state=seed, covariance=covariance)
    arrows = problem.dag or frozenset()
    tally = Counter(problems=1, arrows=len(arrows))
    if known:
        model = with_counted_states(problem)
        posterior = posterior_of(model, n_samples)
        true_of = {j: j for j in range(model.n_latent)}
        tally["exact"] += 1
    else:
        model, posterior, true_of, exact = learned(problem)
        tally["exact"] += exact
    for pair in pair_supports(model, n_samples, posterior):
        first, second = true_of.get(pair.first), true_of.get(pair.second)
        forward = (first, second) in arrows
        adjacent = forward or (second, first) in arrows
        if pair.claim in ARROWS:
            right = forward
        elif pair.claim is Claim.OPEN:
            right = adjacent
        else:
            right = not adjacent
        tally[f"{pair.claim}: said"] += 1
        tally[f"{pair.claim}: right"] += right
    return tally


def with_counted_states(problem: Problem) -> LatentModel:
    """The true model with P(H) and Λ from the states of the rows."""
    truth, n_samples = problem.model, len(problem.states)
    table = np.zeros(truth.domain_sizes)
    np.add.at(table, tuple(problem.states.T), 1.0 / n_samples)
    joint = JointTable(table / table.sum())
    return LatentModel(
        observed_names=truth.observed_names,
        latent_names=truth.latent_names,
        bipartite=truth.bipartite,
        domain_sizes=truth.domain_sizes,
        joint=joint,
        latent_graph=structure.learn(joint, n_samples),
    )


def learned(
    problem: Problem,
) -> tuple[LatentModel, EdgePosterior | None, dict[int, int], bool]:
    """What is learned from the rows: model, posterior, true latents, whether Γ is exact."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    found = compare(problem.model, learner.model_)
    # Matched by the rows alone: a matching by edges would flatter the edges.
    matching = compare_states(problem.states, learner.states_).matching.latents
    true_of = {j: i for i, j in enumerate(matching) if j is not None}
    exact = found.bipartite_exact and found.domains_exact
    return learner.model_, learner.edge_posterior_, true_of, exact


def tallied(n_samples: int, arguments: argparse.Namespace) -> Counter:
    """The sum over all problems with so many rows; those that the file holds are not run again."""
    covariance, known, keep = arguments.covariance, arguments.known_states, arguments.keep
    lines = keep.read_text(encoding="utf-8").splitlines() if keep and keep.is_file() else []
    done = {key: Counter(tally) for key, tally in map(json.loads, lines)}
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    chosen = {
        repr((setting, seed, n_samples, covariance, known)): (setting, seed)
        for seed, setting in product(seeds, SETTINGS)
    }
    left = [key for key in chosen if key not in done]
    found = Parallel(n_jobs=arguments.jobs, return_as="generator")(
        delayed(judge)(*chosen[key], n_samples, covariance, known) for key in left
    )
    for key, tally in zip(left, found, strict=True):
        done[key] = tally
        if keep:
            with keep.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps([key, tally]) + "\n")
    return sum((done[key] for key in chosen), Counter())


def main() -> None:
    """Run every number of rows and print a line for each."""
    parser = problem_options(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1_000, 3_000, 10_000])
    parser.add_argument("--covariance", choices=["text", "code"], default="text")
    parser.add_argument("--known-states", action="store_true", help="learn nothing but Λ")
    parser.add_argument("--keep", type=Path, help="the file of the outcomes")
    arguments = parser.parse_args()
    print("right of said, and share of the true arrows that is claimed")
    print("     N problems " + " ".join(f"{claim:>22s}" for claim in Claim))
    for n_samples in arguments.rows:
        total = tallied(n_samples, arguments)
        shown = []
        for claim in Claim:
            said, right = total[f"{claim}: said"], total[f"{claim}: right"]
            share = f"{right / total['arrows']:5.0%}" if claim in ARROWS else "     "
            shown.append(f"{right / said if said else float('nan'):6.3f} of {said:5d} {share}")
        print(f"{n_samples:6d} {total['problems']:5d} ({total['exact']} exact) " + " ".join(shown))


if __name__ == "__main__":
    main()
