"""Which skills does a test measure? Learned from the answers, and held against the experts' view.

Three real tests of right and wrong answers, each with a Q-matrix: which skills experts think each
item needs. For each test this prints what the Q-matrix promises (where it breaks the subset
condition, no data can show the skills' joint distribution), what is learned from the items as they
are, how far that agrees with the experts, how common each profile of skills is, and the verdicts.
Where the Q-matrix is identifiable the same is told of the model that takes it as given, so that the
two can be weighed by their BIC. One test is also learned with the items of the same skills taken
together.

Run ``python examples/skills.py FOLDER`` or set ``MIXORACLE_DATA``; the folder holds
``ecpe/ecpe_items.csv``, ``ecpe/ecpe_qmatrix.csv``, and so on.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mixoracle import (
    CPDAG,
    Background,
    JointTable,
    KnownLatent,
    LatentGraphLearner,
    LatentModel,
    Observations,
)
from mixoracle.assumptions import Verdict, column_independence, no_twins, subset_condition
from mixoracle.errors import AssumptionWarning
from mixoracle.metrics import compare

TESTS = ("ecpe", "probability", "fractions")
# Nine of its items need two skills, and items of equal needs are several: they can be grouped.
GROUPED = "ecpe"
SEED = 0
# Rarer profiles are counted together.
PROFILES_SHOWN = 12


def main(argv: Sequence[str] | None = None) -> None:
    """Report on each test."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get("MIXORACLE_DATA"))
    parser.add_argument("--tests", nargs="+", choices=TESTS, default=TESTS)
    parser.add_argument("--starts", type=int, help="starts of each search; until two agree if not")
    choices = parser.parse_args(argv)
    if choices.folder is None:
        sys.exit("name the folder of the tests on the command line or by MIXORACLE_DATA")
    for name in choices.tests:
        items = Path(choices.folder) / name / f"{name}_items.csv"
        experts = items.with_name(f"{name}_qmatrix.csv")
        for path in (items, experts):
            if not path.is_file():
                sys.exit(f"{path} is not there; name the folder that holds {name}/{path.name}")
        needs = pd.read_csv(experts).astype(bool)
        report(name, Observations.read(items), needs, choices.starts)
        if name == GROUPED:
            groups, needs = grouped(Observations.read(items).names, needs)
            report(
                f"{name}, items grouped", Observations.read(items, groups), needs, choices.starts
            )


def grouped(items: Sequence[str], needs: pd.DataFrame) -> tuple[dict[str, list[str]], pd.DataFrame]:
    """The items of each set of skills as one group, and the Q-matrix of the groups."""
    groups: dict[str, list[str]] = {}
    for item, row in zip(items, needs.to_numpy(), strict=True):
        groups.setdefault(f"for {skill_names(needs.columns, row)}", []).append(item)
    return groups, needs.drop_duplicates()


def report(
    title: str, answers: Observations, needs: pd.DataFrame, starts: int | None = None
) -> None:
    """Print what the experts say and what the data say."""
    print(f"== {title}: {answers.n_samples} persons, {answers.n_observed} observed variables")
    expert = expert_model(answers.names, needs)
    print("\nThe expert Q-matrix")
    for verdict in (no_twins(expert), subset_condition(expert), column_independence(expert)):
        print_verdict(verdict)
    learner = learned(answers, starts)
    print(f"\nLearned from the answers, BIC {learner.bic_:.1f}\n{learner.model_}")
    print_agreement(expert, learner.model_)
    print_findings(learner, answers)
    if subset_condition(expert).holds:
        given = learned(answers, starts, as_given(needs))
        print(f"\nWith the expert Q-matrix as given, BIC {given.bic_:.1f}\n{given.model_}")
        print_findings(given, answers)
    print()


def learned(
    answers: Observations, starts: int | None, knowledge: Background | None = None
) -> LatentGraphLearner:
    """A fitted learner; its warnings are the verdicts, which are printed in full."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner = LatentGraphLearner(
            random_state=SEED, knowledge=knowledge, n_init="auto" if starts is None else starts
        )
        return learner.fit(answers)


def as_given(needs: pd.DataFrame) -> Background:
    """The Q-matrix as knowledge: which items need each skill, which do not, two states each."""
    latents = [
        KnownLatent(
            skill,
            children=[int(item) for item in np.flatnonzero(needs[skill])],
            exactly=True,
            domain_size=2,
        )
        for skill in needs.columns
    ]
    return Background(latents, complete=True)


def print_findings(learner: LatentGraphLearner, answers: Observations) -> None:
    """Print the profiles, the verdicts and the alternatives."""
    print_profiles(learner, answers)
    print("\nVerdicts")
    for verdict in learner.assumptions_:
        print_verdict(verdict)
    print("\nAlternatives")
    for other in learner.alternatives_:
        sizes = " × ".join(map(str, other.model.domain_sizes)) or "no latents"
        how = "worse" if other.bic_gap >= 0 else "better"
        print(f"  {sizes}: BIC {other.bic:.1f}, {how} by {abs(other.bic_gap):.1f}")


def expert_model(items: Sequence[str], needs: pd.DataFrame) -> LatentModel:
    """The Q-matrix as Γ; what experts do not say (P(H), Λ) is left even and empty."""
    sizes = (2,) * needs.shape[1]
    return LatentModel(
        observed_names=tuple(items),
        latent_names=tuple(needs.columns),
        bipartite=needs.to_numpy(),
        domain_sizes=sizes,
        joint=JointTable(np.full(sizes, 0.5 ** len(sizes))),
        latent_graph=CPDAG.from_dag([], len(sizes)),
    )


def print_agreement(expert: LatentModel, found: LatentModel) -> None:
    """Print both graphs side by side, the learned latents under the names of their skills."""
    comparison = compare(expert, found)
    skills = {
        latent: expert.latent_names[j]
        for j, latent in enumerate(comparison.matching.latents)
        if latent is not None
    }
    names = [skills.get(j, f"({name})") for j, name in enumerate(found.latent_names)]
    print("\nLearned latents that stand for a skill, by the best matching")
    for j, skill in sorted(skills.items()):
        print(f"  {found.latent_names[j]} for {skill}")
    print(
        f"  edges that only the data have: {comparison.bipartite_extra}, that only the experts "
        f"have: {comparison.bipartite_missing}, of {int(expert.bipartite.sum())} the experts have"
    )
    width = max(map(len, expert.observed_names))
    column = max(len(skill_names(expert.latent_names, row)) for row in expert.bipartite)
    print(f"  {'':<{width}}  {'experts':<{max(column, 7)}}  data")
    for item, asked, seen in zip(
        expert.observed_names, expert.bipartite, found.bipartite, strict=True
    ):
        by_experts = skill_names(expert.latent_names, asked)
        print(f"  {item:<{width}}  {by_experts:<{max(column, 7)}}  {skill_names(names, seen)}")


def print_profiles(learner: LatentGraphLearner, answers: Observations) -> None:
    """Print the joint states from the most common on, with how much those in them solve."""
    table = learner.model_.joint.table
    solved = np.nanmean(answers.values, axis=1)
    print(f"\nProfiles ({', '.join(learner.model_.latent_names)})")
    order = np.argsort(-table, axis=None, kind="stable")
    for cell in order[:PROFILES_SHOWN]:
        state = np.unravel_index(cell, table.shape)
        inside = np.all(learner.states_ == np.array(state), axis=1)
        known = f"solve {100 * solved[inside].mean():.0f} %" if inside.any() else "nobody is in it"
        print(f"  {tuple(map(int, state))}  {100 * table[state]:5.1f} %  {known}")
    rest = order[PROFILES_SHOWN:]
    if len(rest):
        print(f"  {len(rest)} more: {100 * table.flat[rest].sum():.1f} % together")


def print_verdict(verdict: Verdict) -> None:
    """Print a verdict, and all that break the assumption where that is few words."""
    print(f"  {verdict}")
    if verdict.label == "assum:ssc" and verdict.offenders:
        pairs = "; ".join(f"{inner} within {outer}" for inner, outer in verdict.offenders)
        print(f"    all {len(verdict.offenders)} ordered pairs: {pairs}")


def skill_names(names: Iterable[str], chosen: Iterable[bool]) -> str:
    """The names that are chosen, joined."""
    return "+".join(name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen)


if __name__ == "__main__":
    main()
