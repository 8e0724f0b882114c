"""What a claim about an edge among hidden causes is worth: how often each kind of claim is right.

The ten settings of the paper, each over many seeds and several numbers of rows, learned from the
data alone. Printed for each number of rows: the precision of 'causes', 'probably causes' and 'may
cause', and how many of the true arrows they claim; how often edges that are said to be absent are,
and how often those that were 'not seen' are not there; and of all adjacencies found, how many are
right. All problems count: claims about a hidden cause that matches none of the true ones are wrong,
and true arrows of causes that were not found are not claimed.

    python benchmarks/bench_arrows.py [--seeds S] [--rows 300 1000 3000 10000] [--jobs J]
"""

from __future__ import annotations

import warnings
from collections import Counter
from itertools import product

from joblib import Parallel, delayed

from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem
from mixoracle.metrics import compare, compare_states
from mixoracle.trust.edges import Claim, pair_supports
from settings import SETTINGS, problem_options

ARROWS = (Claim.CAUSES, Claim.PROBABLY, Claim.MAY)


def judge(setting: tuple[int, int, int], seed: int, n_samples: int, covariance: str) -> Counter:
    """One problem: how many claims of each kind there are, and how many of them are right."""
    problem = paper_problem(*setting, n_samples=n_samples, random_state=seed, covariance=covariance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    found = compare(problem.model, learner.model_)
    # Matched by the rows alone: a matching by edges would flatter the edges.
    matching = compare_states(problem.states, learner.states_).matching.latents
    true_of = {j: i for i, j in enumerate(matching) if j is not None}
    arrows = problem.dag or frozenset()
    tally = Counter(problems=1, arrows=len(arrows))
    tally["exact"] += found.bipartite_exact and found.domains_exact
    for pair in pair_supports(learner.model_, n_samples, learner.edge_posterior_):
        first, second = true_of.get(pair.first), true_of.get(pair.second)
        forward = (first, second) in arrows
        adjacent = forward or (second, first) in arrows
        if pair.claim in ARROWS:
            right = forward
        elif pair.claim is Claim.OPEN:
            right = adjacent
        else:
            right = not adjacent
        tally[pair.claim, "said"] += 1
        tally[pair.claim, "right"] += right
    return tally


def main() -> None:
    """Run every number of rows and print a line for each."""
    parser = problem_options(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1_000, 3_000, 10_000])
    parser.add_argument("--covariance", choices=["text", "code"], default="text")
    arguments = parser.parse_args()
    print("right of said, and share of the true arrows that is claimed")
    print("     N problems " + " ".join(f"{claim:>22s}" for claim in Claim))
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    for n_samples in arguments.rows:
        tallies = Parallel(n_jobs=arguments.jobs)(
            delayed(judge)(setting, seed, n_samples, arguments.covariance)
            for setting, seed in product(SETTINGS, seeds)
        )
        total = sum(tallies, Counter())
        shown = []
        for claim in Claim:
            said, right = total[claim, "said"], total[claim, "right"]
            share = f"{right / total['arrows']:5.0%}" if claim in ARROWS else "     "
            shown.append(f"{right / said if said else float('nan'):6.3f} of {said:5d} {share}")
        print(f"{n_samples:6d} {total['problems']:5d} ({total['exact']} exact) " + " ".join(shown))


if __name__ == "__main__":
    main()
