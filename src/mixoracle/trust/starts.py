"""The same search from several starts: the best answer is kept, and how many starts reached it.

One mixture over all variables ends in one of many local optima, and which one depends on where it
starts. So it is started again until the best answer was reached twice, or until the starts are used
up, and each answer is improved by small changes (:mod:`~mixoracle.trust.climbing`). Where a
continuous cause explains the data better, every start ends at other pieces of it: two of them are
enough to say so. Mixtures of single variables hardly have that trouble: where they gave the answer,
one start is enough, unless more are asked for. Only from few rows they merge components that all
variables together tell apart, and small changes are tried there, too.

The starts are the same for every seed, because an answer that depends on the seed is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from mixoracle._checks import check_whole
from mixoracle.decoding.explanation import Structure
from mixoracle.inference import rival
from mixoracle.oracles.candidate import Candidate
from mixoracle.oracles.decoded import DecodingOracle
from mixoracle.oracles.protocol import CandidateOracle
from mixoracle.oracles.run import Stage, to_log
from mixoracle.solving import Solution, Solver, one_of_each
from mixoracle.trust.climbing import climbed

# Starts at most where nobody says how many.
MOST_STARTS = 6
# Answers of starts at which no further one is needed.
ENOUGH_AGREE = 2
# The oracle whose answers depend on where it starts.
_RESTARTED = "projection"
# So few rows that what was learned from them is tried again: small changes of it, and whether it
# fits rows that were not seen. With so few, that is quick.
SMALL_SAMPLE = 200

Starts = int | Literal["auto"]


@dataclass(frozen=True, eq=False)
class Started:
    """What several starts led to.

    ``solutions`` are refined, best first and one of each structure; ``candidates`` are those of the
    start that led to the best one, ``n_starts`` how many there were and ``n_agreed`` how many of
    them ended at the best structure.
    """

    solutions: list[Solution]
    candidates: tuple[Candidate, ...]
    n_starts: int
    n_agreed: int


def check_starts(n_init: Starts) -> None:
    """Refuse what is neither "auto" nor a number of starts."""
    if n_init != "auto":
        check_whole("n_init", n_init, at_least=1)


def solve_from_starts(solver: Solver, oracle: CandidateOracle, n_init: Starts) -> Started:
    """Look for candidates and refine them, from one start or from several."""
    found: list[tuple[tuple[Candidate, ...], list[Solution]]] = []
    improve = _Improving(oracle)
    settings = solver.run.settings

    def looks_continuous(answer: Solution) -> bool:
        verdict = rival.check(answer.prepared, answer.graph, answer.refinement, settings)
        return verdict.holds is False

    while not found or (
        _goes_on([solutions[0] for _, solutions in found], n_init, looks_continuous)
        and not settings.clock.leaves_out("further starts")
    ):
        started = _again(solver, len(found)) if found else solver
        candidates = oracle.candidates(solver.prepared, started.run)
        started.run.report(Stage.REFINING)
        solutions = started.solve_all(candidates)
        found.append((candidates, improve(started, solutions)))
    order = sorted(range(len(found)), key=lambda start: found[start][1][0].rank)
    best = found[order[0]]
    others = sorted(
        (
            solution
            for start in order
            for solution in found[start][1][1 if start == order[0] else 0 :]
        ),
        key=lambda solution: solution.rank,
    )
    return Started(
        one_of_each([best[1][0], *others]),
        best[0],
        len(found),
        _n_agreed([solutions[0] for _, solutions in found]),
    )


def _again(solver: Solver, number: int) -> Solver:
    """The same from another start; its stages were shown once and are not shown again."""
    solver.run.report(Stage.RESTARTING)
    rng = solver.run.rng.spawn(1)[0]
    return replace(solver, run=replace(solver.run, rng=rng, start=number, report=to_log))


class _Improving:
    """Improves the best of the solutions of each start; answers that were improved are known."""

    def __init__(self, oracle: CandidateOracle) -> None:
        self._oracle = oracle
        self._known: dict[Structure, Solution] = {}

    def __call__(self, solver: Solver, solutions: list[Solution]) -> list[Solution]:
        """What the best one leads to, and then the same solutions."""
        best = solutions[0]
        if best.source != _RESTARTED and not self._has_few_rows(solver):
            return solutions
        if best.structure not in self._known:
            self._known[best.structure] = climbed(solver, best)
        return one_of_each([self._known[best.structure], *solutions])

    def _has_few_rows(self, solver: Solver) -> bool:
        """Whether labels of few rows led to the answer, and nobody said how it should be found."""
        return (
            solver.prepared.n_samples <= SMALL_SAMPLE
            and isinstance(self._oracle, DecodingOracle)
            and self._oracle.max_components is None
            and solver.run.max_components is None
            and solver.method == "auto"
        )


def _goes_on(
    answers: list[Solution], n_init: Starts, looks_continuous: Callable[[Solution], bool]
) -> bool:
    """Whether another start is worth it."""
    if n_init != "auto":
        return len(answers) < n_init
    if all(answer.source != _RESTARTED for answer in answers):
        return False
    if len(answers) >= MOST_STARTS or _n_agreed(answers) >= ENOUGH_AGREE:
        return False
    last = answers[-ENOUGH_AGREE:]
    return len(last) < ENOUGH_AGREE or not all(map(looks_continuous, last))


def _n_agreed(answers: list[Solution]) -> int:
    """How many answers have the structure of the best one."""
    best = min(answers, key=lambda answer: answer.rank)
    return sum(answer.structure == best.structure for answer in answers)
