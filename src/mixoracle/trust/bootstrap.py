"""How stable an answer is: the learner on many halves of the rows, aligned with the whole.

Half of the rows, drawn without replacement, is a sample that could have been: no row occurs twice,
which a mixture would take for a state of its own. An estimate on half of the rows scatters about
that on all of them as much as that scatters about the truth (the variance of the difference is
2/N − 1/N), so quantiles over halves are intervals for the answer itself. What needs all the rows to
be seen is seen less often in halves: supports are cautious.

Preparing the data is done once; halves share units, families and values that were set aside. The
same seed gives the same halves for every number of jobs, and a file keeps what is done, so that an
interrupted run goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mixoracle._arrays import Integers
from mixoracle._checks import check_jobs, check_whole, make_generator, n_workers
from mixoracle._clock import NO_LIMIT
from mixoracle._steps import Tell, tell_nobody
from mixoracle._threads import one_thread
from mixoracle.decoding.explanation import structure_of
from mixoracle.errors import AssumptionWarning, DataWarning, InvalidInputError
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import LatentModel
from mixoracle.oracles.protocol import CandidateOracle
from mixoracle.oracles.run import Report, reporting, to_log
from mixoracle.solving import Solution, Solver
from mixoracle.trust import kept
from mixoracle.trust.aligning import Sighting, align
from mixoracle.trust.held_out import HeldOut, judge
from mixoracle.trust.latent_search import LatentSearch, LatentSearchStep
from mixoracle.trust.starts import SMALL_SAMPLE, solve_from_starts
from mixoracle.trust.support import Support

# Fewer rows make no halves that could show anything.
FEWEST_ROWS = 20
# Few rows are learned from again without one of so many parts.
PARTS = 5
# How progress calls it.
RESAMPLING = "learning from halves of the rows"


class Bootstrapping:
    """What a learner that can be resampled has."""

    # What the last fit left; None in a copy from a file, which holds no data.
    _resampler: Resampler | None
    progress: bool | Report

    def bootstrap(
        self,
        n_resamples: int = 100,
        n_jobs: int | None = 1,
        random_state: int | np.random.Generator | None = None,
        *,
        keep: str | Path | None = None,
        progress: bool | Tell | None = None,
    ) -> Support:
        """How often each part of the answer is found again in halves of the rows.

        Parameters
        ----------
        n_resamples : int
        n_jobs : int or None
            Resamples that are worked on at the same time; None is 1. Within
            ``joblib.parallel_config``, 1 takes the number of jobs from there.
        random_state : int, numpy.random.Generator or None
        keep : path, optional
            A file that holds what is done, so that an interrupted run goes on with it. A file that
            no bootstrap wrote is refused.
        progress : bool or function, optional
            Show how many are done, as the learner's own ``progress`` does if left out; a function
            is called with the number of resamples that are done and of all.
        """
        resampler = self._resampling()
        with _telling(progress, self.progress) as tell:
            return resampler.support(n_resamples, n_jobs, random_state, keep, tell)

    def held_out(
        self, n_splits: int = 2, random_state: int | np.random.Generator | None = None
    ) -> HeldOut:
        """How much better the answer fits rows that it was not learned from than its rivals.

        One latent for everything, no latent at all, and a continuous cause. The rows are split
        into ``n_splits`` parts, and each is judged by what is learned from the others.
        """
        return self._resampling().held_out(n_splits, random_state)

    def _resampling(self) -> Resampler:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "model_")
        if self._resampler is None:
            raise InvalidInputError(
                "this needs the rows that were learned from, and a learner from a file does not "
                "hold them; call fit again"
            )
        return self._resampler

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {**state, "_resampler": None} if isinstance(state, dict) else state


@contextmanager
def _telling(progress: bool | Tell | None, of_learner: bool | Report) -> Iterator[Tell]:
    """Whom to tell how many resamples are done: the user's function, a spinner, or the log."""
    if callable(progress):
        yield progress
        return
    if progress is not None and not isinstance(progress, bool):
        raise InvalidInputError(
            "progress should be True, False or a function of the numbers of resamples that are "
            f"done and of all; got {progress!r}: leave it out to do as the learner does"
        )
    with reporting(of_learner if progress is None else progress) as report:
        report(RESAMPLING)
        yield lambda done, total: report(f"{RESAMPLING}: {done} of {total}")


@dataclass(frozen=True, eq=False)
class Resampler:
    """All that is needed to learn again from some of the rows.

    ``model`` is the answer, ``states`` (N, m) the states of the prepared rows in it, in the order
    of the observations; ``search`` finds Λ.
    """

    prepared: Prepared
    model: LatentModel
    states: Integers
    oracle: CandidateOracle
    solver: Solver
    search: LatentSearch

    @classmethod
    def of(
        cls,
        solver: Solver,
        oracle: CandidateOracle,
        search: str | LatentSearchStep,
        model: LatentModel,
        states: Integers,
    ) -> Resampler:
        """What a fit leaves; progress is reported per resample, not per stage."""
        quiet = replace(solver, run=replace(solver.run, report=to_log))
        return cls(solver.prepared, model, states, oracle, quiet, LatentSearch(search))

    def support(
        self,
        n_resamples: int = 100,
        n_jobs: int | None = 1,
        random_state: int | np.random.Generator | None = None,
        keep: str | Path | None = None,
        tell: Tell = tell_nobody,
    ) -> Support:
        """Learn from ``n_resamples`` halves and count what is found again.

        ``keep`` is a file that holds what is done; ``tell`` is called with how many are.
        """
        check_whole("n_resamples", n_resamples, at_least=1)
        if n_jobs is not None:
            check_jobs(n_jobs)
        rng = make_generator(random_state)
        seed = random_state if isinstance(random_state, int) else int(rng.integers(1 << 32))
        keep = None if keep is None else Path(keep)
        self._refuse_too_few()
        done = kept.read(keep, self._fingerprint(seed))
        left = [number for number in range(n_resamples) if number not in done]
        for number, sighting in self._sightings(left, n_jobs, seed):
            done[number] = sighting
            kept.append(keep, number, sighting)
            tell(len(done), n_resamples)
        chosen = [done[number] for number in range(n_resamples)]
        return Support.of(chosen, self.model)

    def _sightings(
        self, numbers: list[int], n_jobs: int | None, seed: int
    ) -> Iterator[tuple[int, Sighting]]:
        """The resamples as they come, one after the other or side by side."""
        from joblib import Parallel, delayed

        # None is 1, unless joblib's settings say otherwise (a Dask cluster).
        workers = None if n_jobs in (None, 1) else n_workers(n_jobs, len(numbers))
        parallel = Parallel(n_jobs=workers, return_as="generator")
        found = parallel(delayed(self.sight)(number, seed) for number in numbers)
        yield from zip(numbers, found, strict=True)

    @one_thread()
    def sight(self, number: int, seed: int) -> Sighting:
        """Learn from one half of the rows, and align the answer with that on all of them."""
        rng = np.random.default_rng([seed, number])
        size = self.prepared.n_samples
        rows = np.sort(rng.choice(size, size // 2, replace=False))
        half = self.prepared.take(rows)
        best = self._learned_from(half, rng)
        # States are matched by their rows, so that neither their order nor units matter.
        joint, states = best.refinement.joint, half.in_own_order(best.refinement.states)
        return align(
            self.states[np.sort(self.prepared.rows[rows])],
            self.model.domain_sizes,
            states,
            joint,
            best.graph.adjacency,
            self.search(joint, half.n_samples, best),
        )

    @one_thread()
    def held_out(
        self, n_splits: int = 2, random_state: int | np.random.Generator | None = None
    ) -> HeldOut:
        """Judge the learner on rows that it did not learn from, each row once."""
        check_whole("n_splits", n_splits, at_least=2)
        self._refuse_too_few()
        if n_splits > self.prepared.n_samples:
            raise InvalidInputError(
                f"n_splits should be at most {self.prepared.n_samples}, the number of different "
                f"rows; got {n_splits}: use fewer parts, of which each is judged by the others"
            )
        judged, settings = [], self.solver.run.settings
        for best, test in self._parts(n_splits, random_state):
            encoded = replace(test, encoders=best.prepared.encoders)
            judged.append(judge(best.prepared, encoded, best.graph, best.refinement, settings))
        return HeldOut.mean(judged)

    def small_sample_check(self) -> HeldOut | None:
        """The same where there are so few rows that chance looks like a cause; None elsewhere."""
        if not self._has_few_rows("the check on rows that were not seen"):
            return None
        return self.held_out(random_state=0)

    @one_thread()
    def comes_back(self) -> bool:
        """Whether so few rows lead to the same answer again, once, if some of them are left out.

        True of answers from more rows, which are not learned again.
        """
        check, clock = "the check whether the answer comes back", self.solver.run.settings.clock
        if not self._has_few_rows(check):
            return True
        own, parts = structure_of(self.model.bipartite, self.model.domain_sizes), self._parts(PARTS)
        return any(best.structure == own or clock.leaves_out(check) for best, _ in parts)

    def _has_few_rows(self, check: str) -> bool:
        """Whether a check of few rows has something to check, and the time for it."""
        is_small = FEWEST_ROWS <= self.prepared.n_samples <= SMALL_SAMPLE
        asked = is_small and self.model.n_latent > 0
        return asked and not self.solver.run.settings.clock.leaves_out(check)

    def _parts(
        self, n_parts: int, random_state: int | np.random.Generator | None = 0
    ) -> Iterator[tuple[Solution, Prepared]]:
        """The rows in parts: what is learned from all but one, and that one."""
        rng = make_generator(random_state)
        part = rng.permutation(np.arange(self.prepared.n_samples) % n_parts)
        for number in range(n_parts):
            test = self.prepared.take(np.flatnonzero(part == number))
            yield self._learned_from(self.prepared.take(np.flatnonzero(part != number)), rng), test

    def _learned_from(self, some: Prepared, rng: np.random.Generator) -> Solution:
        """The best solution for some of the rows."""
        # The time limit was that of the fit.
        settings = replace(self.solver.run.settings, clock=NO_LIMIT)
        run = replace(self.solver.run, rng=rng, n_jobs=1, report=to_log, settings=settings)
        solver = replace(self.solver, prepared=some, run=run, strict=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            warnings.simplefilter("ignore", DataWarning)
            return solve_from_starts(solver, self.oracle, 1).solutions[0]

    def _refuse_too_few(self) -> None:
        if self.prepared.n_samples < FEWEST_ROWS:
            raise InvalidInputError(
                f"learning from parts of the rows needs at least {FEWEST_ROWS} of them; got "
                f"{self.prepared.n_samples}: collect more cases"
            )

    def _fingerprint(self, seed: int) -> str:
        """What resamples that are kept in a file depend on."""
        digest = hashlib.sha256(np.ascontiguousarray(self.states).tobytes())
        digest.update(np.ascontiguousarray(self.prepared.observations.values).tobytes())
        digest.update(repr((seed, self.model.domain_sizes)).encode())
        return digest.hexdigest()
