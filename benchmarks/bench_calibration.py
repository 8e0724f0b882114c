"""Stated confidence and overall verdict against the truth, from clean problems to hopeless ones.

Problems are drawn by number: a setting of the paper, 50 to 10 000 rows, and one of four kinds. Of
'noise' the noise is up to three times as large as in the paper and only the first one to five
columns of each variable are measured; of 'faults' the rows are spoiled as ``faults.py`` does; of
'none' there is no discrete cause at all (``bench_no_cause.py``). All problems count, and nothing
was chosen by what came out: a problem on which the learner fails is wrong and carries a doubt.

Printed: for the counts k(X_i), the adjacencies and the arrows of Λ, and the states of single rows,
how often a statement of each confidence is right, with the expected calibration error; and how many
right and wrong answers (Γ and all domain sizes) each overall verdict has.

    python benchmarks/bench_calibration.py [--problems P] [--first-seed S] [--jobs J]
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np
from joblib import Parallel, delayed

from bench_no_cause import KINDS
from faults import FAULTS, fault_problem
from mixoracle import LatentGraphLearner, LatentModel, Observations
from mixoracle.datasets import paper_problem
from mixoracle.errors import MixoracleError
from mixoracle.metrics import compare, compare_states
from settings import SETTINGS

ROWS = (50, 100, 200, 500, 1_000, 3_000, 10_000)
BINS = (0.0, 0.05, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0)
STATED = ("counts", "adjacencies", "arrows", "states")


@dataclass
class Outcome:
    """What one problem gave: how it was judged, and pairs (stated, right) for each statement."""

    kind: str
    level: str = "doubt"
    right: bool = False
    stated: dict[str, list[tuple[float, bool]]] = field(default_factory=lambda: defaultdict(list))


@dataclass
class Drawn:
    """A problem; ``model``, ``states`` and ``dag`` are None as far as there is no such truth."""

    kind: str
    observations: Observations
    model: LatentModel | None = None
    states: np.ndarray | None = None
    dag: frozenset[tuple[int, int]] | None = None


def draw(seed: int) -> Drawn:
    """The problem of one number."""
    rng = np.random.default_rng([seed, 2_026])
    kind = str(rng.choice(["clean", "noise", "faults", "none"]))
    setting = SETTINGS[rng.integers(len(SETTINGS))]
    n_samples = int(rng.choice(ROWS))
    if kind == "none":
        name = str(rng.choice(list(KINDS)))
        rows = KINDS[name](rng, n_samples)
        return Drawn(f"none: {name}", Observations.from_array(rows))
    if kind == "faults":
        fault = str(rng.choice([name for name in FAULTS if name != "clean"]))
        observations, model = fault_problem(fault, setting, max(n_samples, 500), seed)
        return Drawn(f"faults: {fault}", observations, model)
    problem = paper_problem(*setting, n_samples=n_samples, random_state=seed)
    observations = problem.observations
    if kind == "noise":
        observations = noisier(problem, float(rng.uniform(1.0, 3.0)), int(rng.integers(1, 6)), rng)
    return Drawn(kind, observations, problem.model, problem.states, problem.dag)


def noisier(problem, scale: float, width: int, rng: np.random.Generator) -> Observations:
    """The first columns of each variable, with the noise of the paper many times."""
    model = problem.model
    labels = model.component_of_states(problem.states)
    blocks = {}
    for i, (name, held) in enumerate(zip(model.observed_names, model.components, strict=True)):
        arrays = held.arrays()
        factors = np.linalg.cholesky(arrays["covariances"])[labels[:, i]]
        noise = rng.standard_normal((len(labels), factors.shape[-1]))
        rows = arrays["means"][labels[:, i]] + scale * np.einsum("nab,nb->na", factors, noise)
        blocks[name] = rows[:, :width]
    return Observations.from_arrays(blocks)


def judge(seed: int) -> Outcome:
    """Learn one problem and hold everything that is stated against the truth."""
    problem = draw(seed)
    outcome = Outcome(problem.kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            learner = LatentGraphLearner(random_state=0).fit(problem.observations)
        except MixoracleError:
            return outcome
    outcome.level = learner.verdict_.level
    if problem.model is None:
        outcome.right = learner.model_.n_latent == 0
        return outcome
    found = compare(problem.model, learner.model_)
    outcome.right = found.bipartite_exact and found.domains_exact
    for i in range(problem.model.n_observed):
        count = learner.counts_[{i}]
        if count.confidence is not None:
            sizes = [problem.model.domain_sizes[j] for j in problem.model.parents(i)]
            outcome.stated["counts"].append((count.confidence, int(count) == np.prod(sizes)))
    if problem.states is not None:
        _judge_latents(problem, learner, outcome)
    return outcome


def _judge_latents(problem: Drawn, learner: LatentGraphLearner, outcome: Outcome) -> None:
    """Edges and states, of the latents that stand for a true one by the rows."""
    matching = compare_states(problem.states, learner.states_).matching
    true_of = {j: i for i, j in enumerate(matching.latents) if j is not None}
    posterior = learner.edge_posterior_
    for a in range(learner.model_.n_latent if posterior else 0):
        for b in range(learner.model_.n_latent):
            arrow = (true_of.get(a), true_of.get(b))
            forward, backward = arrow in problem.dag, arrow[::-1] in problem.dag
            if a != b:
                outcome.stated["arrows"].append((float(posterior.arrows[a, b]), forward))
            if a < b:
                stated = float(posterior.adjacency[a, b])
                outcome.stated["adjacencies"].append((stated, forward or backward))
    if matching.states is None:
        return
    rows = slice(0, 200)
    for found_j, shares in enumerate(learner.predict_proba(problem.observations)):
        true_j = true_of[found_j]
        named = np.array(matching.states[true_j])[problem.states[rows, true_j]]
        for share, state in zip(shares[rows], named, strict=True):
            outcome.stated["states"].append((float(share.max()), int(share.argmax()) == int(state)))


def reliability(pairs: list[tuple[float, bool]]) -> tuple[list[str], float]:
    """How often statements of each confidence are right, and the expected calibration error."""
    stated, right = np.array([p for p, _ in pairs]), np.array([r for _, r in pairs], dtype=float)
    cells, error = [], 0.0
    for low, high in zip(BINS, (*BINS[1:], np.inf), strict=True):
        inside = (stated >= low) & (stated < high)
        if inside.any():
            error += inside.mean() * abs(stated[inside].mean() - right[inside].mean())
            cells.append(f"{stated[inside].mean():.2f}→{right[inside].mean():.2f} ({inside.sum()})")
    return cells, error


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quiet-mistakes", action="store_true", help="list them by number")
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.problems)
    outcomes = Parallel(n_jobs=arguments.jobs)(delayed(judge)(seed) for seed in seeds)
    print(f"{len(outcomes)} problems; stated→right (how many)")
    for name in STATED:
        pairs = [pair for outcome in outcomes for pair in outcome.stated[name]]
        if pairs:
            cells, error = reliability(pairs)
            print(f"{name:12s} ECE {error:.3f}: {'  '.join(cells)}")
    print(f"{'verdict':22s}{'believe':>10s}{'part':>10s}{'doubt':>10s}")
    for kind in ("clean", "noise", "faults", "none"):
        for right in (True, False):
            held = [o for o in outcomes if o.kind.startswith(kind) and o.right is right]
            levels = Counter(outcome.level for outcome in held)
            row = "".join(f"{levels[level]:10d}" for level in ("believe", "part", "doubt"))
            print(f"{kind:10s}{'right' if right else 'wrong':12s}{row}")
    if arguments.quiet_mistakes:
        for seed, outcome in zip(seeds, outcomes, strict=True):
            if not outcome.right and outcome.level == "believe":
                print(f"quiet: {seed} {outcome.kind}")


if __name__ == "__main__":
    main()
