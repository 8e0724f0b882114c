"""Stated confidence and overall verdict against the truth, from clean problems to hopeless ones.

Problems are drawn by number: a setting of the paper, 50 to 10 000 rows, and one of four kinds. Of
'noise' standard deviations are 0.1 to 3 times those of the paper (0.01 to 0.3) and only the
first one to five columns of each variable are measured; of 'faults' the rows are spoiled as
``faults.py`` does; of 'none' there is no discrete cause at all (``bench_no_cause.py``). All
problems count, and nothing was chosen by what came out: a problem on which the learner fails is
wrong and carries a doubt.

Printed: for the counts k(X_i), the edges of Γ, the adjacencies and the arrows of Λ, and the states
of single rows, how often a statement of each confidence is right, with the expected calibration
error; and how many right and wrong answers (Γ and all domain sizes) each overall verdict has. Of a
right answer a doubt is false if what it puts in doubt is right: a doubt about the probabilities of
single cases is true where the components were given another shape, one about the rest that is
behind the measurements where they were made dependent or a continuous cause is behind them, one
about P(H) where it is off by more than
0.1 in total variation. A wrong answer is quiet if no doubt speaks of its causes or states.
Outcomes are kept in a file, one line each, and an interrupted run goes on with it; ``--show``
prints what the file holds, ``--figure`` draws the reliability diagrams, and ``--fit`` prints what
confidence is worth under each verdict, for ``trust/confidence.py``; the problems for that are other
ones than those of the tables.

    python benchmarks/bench_calibration.py --keep FILE [--problems P] [--first-seed S] [--jobs J]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from bench_no_cause import KINDS
from faults import FAULTS, fault_problem
from mixoracle import LatentGraphLearner, LatentModel, Observations
from mixoracle.datasets import paper_problem
from mixoracle.errors import MixoracleError
from mixoracle.metrics import compare, compare_states
from mixoracle.trust.confidence import RIGHT_COUNTS, RIGHT_DRIVES, RIGHT_EDGES
from settings import SETTINGS

# Few of the largest: a spoiled problem of 10 000 rows takes as long as a hundred small ones.
ROWS = {50: 0.15, 100: 0.15, 200: 0.15, 500: 0.2, 1_000: 0.2, 3_000: 0.1, 10_000: 0.05}
BINS = (0.0, 0.05, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0)
STATED = ("counts", "drives", "adjacencies", "arrows", "states")
# Faults that make measurements dependent within states; all others change shapes or single values.
DEPENDENT = ("nuisance", "drift", "local dependence")
# Of 'none' these have something else behind them all, though nothing discrete.
SHARED = ("factor", "circle", "walks")
# What a doubt may speak of besides causes and states, as the reasons begin.
REST = "that nothing else is behind the measurements"
SHAPES = "the probabilities of single cases"
PROBABILITIES = ("how likely joint states are", "the probabilities, because")
# Statements of one problem that are kept of each kind at most.
MOST = 200


@dataclass
class Drawn:
    """A problem; ``model``, ``states`` and ``dag`` are None as far as there is no such truth."""

    kind: str
    observations: Observations
    model: LatentModel | None = None
    states: np.ndarray | None = None
    dag: frozenset[tuple[int, int]] | None = None


def n_rows(seed: int) -> int:
    """How many rows the problem of one number has."""
    rng = np.random.default_rng([seed, 2_027])
    return int(rng.choice(list(ROWS), p=list(ROWS.values())))


def draw(seed: int) -> Drawn:
    """The problem of one number."""
    rng = np.random.default_rng([seed, 2_026])
    kind = str(rng.choice(["clean", "noise", "faults", "none"]))
    setting = SETTINGS[rng.integers(len(SETTINGS))]
    n_samples = n_rows(seed)
    if kind == "none":
        name = str(rng.choice(list(KINDS)))
        rows = KINDS[name](rng, n_samples)
        return Drawn(f"none: {name}", Observations.from_array(rows))
    if kind == "faults":
        fault = str(rng.choice([name for name in FAULTS if name != "clean"]))
        observations, model = fault_problem(fault, setting, n_samples, seed)
        problem = paper_problem(model=model, n_samples=n_samples, random_state=seed)
        states = problem.states
        if observations.n_samples < n_samples or fault == "rows five times":
            times = 5
            states = np.repeat(states[: n_samples // times], times, axis=0)
        return Drawn(f"faults: {fault}", observations, model, states)
    problem = paper_problem(*setting, n_samples=n_samples, random_state=seed)
    observations = problem.observations
    if kind == "noise":
        scale = float(10.0 ** rng.uniform(-1.0, np.log10(3.0)))
        observations = noisier(problem, scale, int(rng.integers(1, 6)), rng)
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


def judge(seed: int) -> dict:
    """Learn one problem and hold everything that is stated against the truth.

    What is kept: how the answer was judged and why, whether it is right, and pairs (stated, right)
    for each statement.
    """
    problem = draw(seed)
    size = problem.observations.n_samples
    outcome = {"seed": seed, "kind": problem.kind, "rows": size, "level": "doubt", "right": False}
    stated: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    outcome |= {"reasons": ["failed"], "stated": stated}
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            learner = LatentGraphLearner(random_state=0).fit(problem.observations)
        except MixoracleError:
            return outcome
    model = learner.model_
    outcome["seconds"] = time.process_time() - start
    outcome |= {"sizes": list(model.domain_sizes), "source": learner.source_}
    verdict = learner.verdict_
    outcome |= {"level": verdict.level, "grade": verdict.grade, "reasons": list(verdict.reasons)}
    for i in range(model.n_observed):
        count = learner.counts_[{i}]
        if count.confidence is not None:
            stated["counts"].append((count.confidence, int(count) == true_count(problem.model, i)))
    if problem.model is None:
        outcome["right"] = model.n_latent == 0
        stated["drives"] += [(float(p), False) for p in learner.drive_posterior_.ravel()]
        return outcome
    found = compare(problem.model, model)
    outcome["right"] = found.bipartite_exact and found.domains_exact
    outcome["true_sizes"] = list(problem.model.domain_sizes)
    outcome["joint_tv"] = found.joint_tv if outcome["right"] else None
    _judge_latents(problem, learner, stated)
    return outcome


def true_count(model: LatentModel | None, i: int) -> int:
    """k(X_i) of the truth, which is 1 where there is no discrete cause."""
    return 1 if model is None else int(np.prod([model.domain_sizes[j] for j in model.parents(i)]))


def _judge_latents(problem: Drawn, learner: LatentGraphLearner, stated: dict) -> None:
    """Edges and states, of the latents that stand for a true one by the rows."""
    matching = compare_states(problem.states, learner.states_).matching
    true_of = {j: i for i, j in enumerate(matching.latents) if j is not None}
    m = learner.model_.n_latent
    for j in range(m):
        driven = problem.model.bipartite[:, true_of[j]] if j in true_of else None
        for i, share in enumerate(learner.drive_posterior_[:, j]):
            stated["drives"].append((float(share), driven is not None and bool(driven[i])))
    posterior = learner.edge_posterior_
    for a in range(m if posterior and problem.dag is not None else 0):
        for b in range(m):
            arrow = (true_of.get(a), true_of.get(b))
            forward, backward = arrow in problem.dag, arrow[::-1] in problem.dag
            if a != b:
                stated["arrows"].append((float(posterior.arrows[a, b]), forward))
            if a < b:
                share = float(posterior.adjacency[a, b])
                stated["adjacencies"].append((share, forward or backward))
    if matching.states is None:
        return
    rows = slice(0, MOST // max(m, 1))
    for found_j, shares in enumerate(learner.predict_proba(problem.observations)):
        true_j = true_of[found_j]
        named = np.array(matching.states[true_j])[problem.states[rows, true_j]]
        for share, state in zip(shares[rows], named, strict=True):
            stated["states"].append((float(share.max()), int(share.argmax()) == int(state)))


def reliability(pairs: list[tuple[float, bool]]) -> tuple[list[tuple[float, float, int]], float]:
    """How often statements of each confidence are right, and the expected calibration error."""
    stated, right = np.array([p for p, _ in pairs]), np.array([r for _, r in pairs], dtype=float)
    cells, error = [], 0.0
    for low, high in zip(BINS, (*BINS[1:], np.inf), strict=True):
        inside = (stated >= low) & (stated < high)
        if inside.any():
            cell = (float(stated[inside].mean()), float(right[inside].mean()), int(inside.sum()))
            error += inside.mean() * abs(cell[0] - cell[1])
            cells.append(cell)
    return cells, error


def is_true(reason: str, outcome: dict) -> bool:
    """Whether what a doubt about a right answer speaks of is not right."""
    subject, kind = reason.removeprefix("In doubt: "), outcome["kind"]
    if subject.startswith(REST):
        return any(name in kind for name in (*DEPENDENT, *SHARED))
    if subject.startswith(SHAPES):
        return kind.startswith("faults") and not any(name in kind for name in DEPENDENT)
    if subject.startswith(PROBABILITIES):
        return (outcome.get("joint_tv") or 0.0) > 0.1
    return False


def is_quiet(outcome: dict) -> bool:
    """Whether a wrong answer carries no doubt about its causes or states."""
    beside = (SHAPES, *PROBABILITIES)
    return all(
        reason.removeprefix("In doubt: ").startswith(beside) for reason in outcome["reasons"]
    )


def show_verdicts(outcomes: list[dict]) -> None:
    """Print how right and wrong answers were judged."""
    head = ("believe", "part", "doubt", "false doubt", "quiet")
    print(f"{'verdict':22s}" + "".join(f"{word:>13s}" for word in head))
    for kind in ("clean", "noise", "faults", "none", ""):
        for right in (True, False):
            held = [o for o in outcomes if o["kind"].startswith(kind) and o["right"] is right]
            levels = Counter(outcome["level"] for outcome in held)
            false = sum(not all(is_true(why, o) for why in o["reasons"]) for o in held)
            numbers = [*(levels[level] for level in head[:3])]
            numbers += [false, 0] if right else [0, sum(map(is_quiet, held))]
            row = "".join(f"{number:13d}" for number in numbers)
            print(f"{kind or 'all':10s}{'right' if right else 'wrong':12s}{row}")


def show_worth(outcomes: list[dict]) -> None:
    """Print how often statements are right under each grade where the evidence says 0 and 1."""
    worths = {"counts": RIGHT_COUNTS, "drives": RIGHT_DRIVES, "adjacencies": RIGHT_EDGES}
    for name, now in worths.items():
        for grade, worth in now.items():
            pairs = [
                p for o in outcomes if o.get("grade") == grade for p in o["stated"].get(name, ())
            ]
            if pairs:
                stated, right = np.array(pairs, dtype=float).T
                evidence = (stated - worth[0]) / (worth[1] - worth[0])
                design = np.column_stack([1.0 - evidence, evidence])
                found = np.linalg.lstsq(design, right, rcond=None)[0]
                print(f"{name:8s}{grade:8s} {found.round(3)} of {len(pairs)} statements")


def show(outcomes: list[dict]) -> None:
    """Print the tables."""
    print(f"{len(outcomes)} problems; stated→right (how many)")
    for name in STATED:
        pairs = [pair for outcome in outcomes for pair in outcome["stated"].get(name, ())]
        if pairs:
            cells, error = reliability(pairs)
            shown = "  ".join(f"{said:.2f}→{right:.2f} ({n})" for said, right, n in cells)
            print(f"{name:12s} ECE {error:.3f}: {shown}")
    show_verdicts(outcomes)


def draw_figure(outcomes: list[dict], path: Path) -> None:
    """Reliability diagrams: stated confidence against how often it was right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3 * len(STATED), 3.2), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(STATED), sharey=True), STATED, strict=True):
        cells, error = reliability([p for o in outcomes for p in o["stated"].get(name, ())])
        axes.plot([0, 1], [0, 1], color="0.8", linewidth=1)
        said, right, sizes = map(np.array, zip(*cells, strict=True))
        axes.scatter(said, right, s=8 + 60 * np.sqrt(sizes / sizes.max()), color="#2b6cb0")
        axes.set_title(f"{name} (ECE {error:.3f})", fontsize=10)
        axes.set_xlabel("stated")
    figure.axes[0].set_ylabel("right")
    figure.savefig(path)


def read(path: Path) -> list[dict]:
    """The outcomes that a file holds, each problem once.

    A line that a killed run left unfinished is passed over.
    """
    outcomes = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            outcome = json.loads(line)
        except json.JSONDecodeError:
            continue
        outcomes[outcome["seed"]] = outcome
    return list(outcomes.values())


def run(seeds: Iterable[int], keep: Path, jobs: int) -> None:
    """Judge the problems that the file does not hold yet, in the order of their numbers."""
    done = {outcome["seed"] for outcome in read(keep)}
    left = [seed for seed in seeds if seed not in done]
    found = Parallel(n_jobs=jobs, return_as="generator")(delayed(judge)(seed) for seed in left)
    with keep.open("a", encoding="utf-8") as stream:
        for outcome in found:
            stream.write(json.dumps(outcome) + "\n")
            stream.flush()


def main() -> None:
    """Run what is left to do, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--keep", type=Path, required=True, help="the file of the outcomes")
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--fewest", type=int, default=0, help="rows that a problem has at least")
    parser.add_argument("--most", type=int, default=10_000, help="and at most")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="run nothing, show what was kept")
    parser.add_argument("--figure", type=Path, help="draw the reliability diagrams")
    parser.add_argument("--fit", action="store_true", help="what confidence is worth")
    parser.add_argument("--quiet-mistakes", action="store_true", help="list them by number")
    arguments = parser.parse_args()
    first, last = arguments.first_seed, arguments.first_seed + arguments.problems
    seeds = [
        seed for seed in range(first, last) if arguments.fewest <= n_rows(seed) <= arguments.most
    ]
    if not arguments.show:
        run(seeds, arguments.keep, arguments.jobs)
    outcomes = read(arguments.keep)
    show(outcomes)
    if arguments.fit:
        show_worth(outcomes)
    if arguments.figure:
        draw_figure(outcomes, arguments.figure)
    if arguments.quiet_mistakes:
        for outcome in outcomes:
            if not outcome["right"] and is_quiet(outcome):
                print(f"quiet: {outcome['seed']} {outcome['kind']} {outcome['rows']} rows")


if __name__ == "__main__":
    main()
