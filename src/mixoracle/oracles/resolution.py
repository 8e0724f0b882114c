"""The same rows at several resolutions: how finely the data are believed, and which answer stands.

Evidence that grows with the number of rows turns every misfit of a family into further states. At
resolution α a row counts as α/(α + N) of one, so that N rows are never worth more than α, and a
misfit below about 1/α nats a row goes unnoticed [1]_. Cuts into pieces are the same at every
resolution; what is merged, and which latents explain it, is decided anew.

Where components are not of their family, a few coarse answers stand beside the finest one, and all
are judged by one measure that does not depend on shapes (:mod:`~mixoracle.labels.association`).

References
----------
.. [1] J. W. Miller, D. B. Dunson. Robust Bayesian inference via coarsening. Journal of the American
   Statistical Association 114 (2019).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from mixoracle._arrays import Integers
from mixoracle.decoding.evidence import score
from mixoracle.families.submixture import Subcomponents
from mixoracle.labels.association import Association
from mixoracle.labels.labelling import Labelling, Rows
from mixoracle.labels.misfit import (
    are_cut_through,
    are_lumps,
    is_family_mostly_wrong,
    is_family_wrong,
)
from mixoracle.labels.single import label_each
from mixoracle.labels.together import are_shattered, settle
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model.joint_states import configurations, n_configurations
from mixoracle.oracles.candidate import Candidate
from mixoracle.oracles.decoded import Decoded
from mixoracle.oracles.local import LocalAnswer
from mixoracle.oracles.run import Run, Stage, steps_of
from mixoracle.settings import Settings


@dataclass(frozen=True)
class Search:
    """The ``rows`` that structure is learned from, ``chosen`` among the prepared ones."""

    prepared: Prepared
    chosen: Integers | slice
    rows: Rows
    seeds: Integers
    run: Run

    @classmethod
    def of(cls, prepared: Prepared, run: Run) -> Search:
        """Draw the rows, and the seed by which each variable is cut into pieces."""
        budget = run.settings.budget
        n_numbers = sum(
            prepared.features(i, slice(0, 1)).shape[1] for i in range(prepared.n_observed)
        )
        affordable = max(budget.mixture_rows, budget.search_entries // n_numbers)
        chosen = prepared.draw(min(budget.search_rows, affordable), run.rng)
        seeds = run.rng.integers(np.iinfo(np.int32).max, size=prepared.n_observed)
        return cls(prepared, chosen, prepared.searched_rows(chosen), seeds, run)

    def alone(self) -> Labelling:
        """The labels of each variable on its own, all rows taken for what they are."""
        return self._label_each(self.rows)

    def has_shattered(self, alone: Labelling) -> bool:
        """Whether families of another shape than the components cut these to pieces.

        There are then more label tuples than could be told apart, and no use in trying. Pieces so
        small that none has a shape show it by being as many as may be.
        """
        settings = self.run.settings
        return (
            self.has_coarser()
            and are_shattered(alone.labels, settings)
            and (
                int(alone.labels.max()) + 1 >= self._limit
                or is_family_wrong(self.rows, alone, settings)
            )
        )

    def finest(self, alone: Labelling) -> tuple[Decoded, bool]:
        """The answer that takes all rows for what they are; whether its labels are too fine."""
        labelling, settings = self._settled(self.rows, alone), self.run.settings
        is_wrong = is_family_wrong(self.rows, labelling, settings)
        if not is_wrong and self.has_coarser():
            is_wrong = are_lumps(self.rows, alone, settings) or are_cut_through(
                self.rows, labelling, settings
            )
        decoded = Decoded.of(self.prepared, self.rows, labelling, self.run, climbs=not is_wrong)
        return decoded, is_wrong

    def local(self, alone: Labelling) -> LocalAnswer | None:
        """The quick answer, if it stands, or if there are too many joint states for another."""
        self.run.report(Stage.PAIRING)
        settings = self.run.settings
        answer = LocalAnswer.of(self.prepared, self.rows, alone, settings)
        is_shattered = are_shattered(answer.labelling.labels, settings)
        # Of few variables all are neighbours, and correct each other together.
        has_others = is_shattered or len(self.rows) > 2 * settings.budget.neighbours
        stands = answer.stands(settings)
        if has_others and not stands:
            tell = steps_of(Stage.PAIRING, self.run.report)
            answer = answer.with_neighbours(self._limit, settings, tell)
            stands = answer.stands(settings)
        if not (stands or answer.is_only_one(settings)):
            return None
        if self.run.wanted.distance(answer.explanation.domain_sizes):
            return None
        is_wrong = is_family_mostly_wrong if is_shattered else is_family_wrong
        return None if is_wrong(self.rows, answer.labelled(), settings) else answer

    def at(self, resolution: float) -> Decoded:
        """The answer at one resolution."""
        rows = [variable.coarsened(resolution) for variable in self.rows]
        labelling = self._settled(rows, self._label_each(rows))
        return Decoded.of(self.prepared, rows, labelling, self.run, resolution, climbs=False)

    def has_coarser(self) -> bool:
        """Whether there are rows enough for a coarser answer."""
        return len(self._resolutions()) > 0

    def coarser(self) -> Iterator[Decoded]:
        """Coarse answers, one after another, from the finest of them on."""
        self.run.report(Stage.COARSENING)
        for place, resolution in enumerate(self._resolutions()):
            if place > 0 and self.run.settings.clock.leaves_out("coarser resolutions"):
                return
            yield self.at(resolution)

    def of_any_shape(
        self, candidates: Iterable[Candidate], association: Association
    ) -> tuple[Candidate, ...]:
        """Candidates, best first; their components are mixtures of those that labels show.

        Where families are right, or labels no finer than components, they are of their family.
        """
        if association.most:
            return by_merit(candidates)
        held = association.subcomponents(self.rows)
        return by_merit(
            replace(candidate, subcomponents=held) if self._is_finer(held, candidate) else candidate
            for candidate in candidates
        )

    def _is_finer(self, held: tuple[Subcomponents | None, ...], candidate: Candidate) -> bool:
        """Whether some variable has more subcomponents than components.

        Then all variables have the model that the candidate was judged by: with the family in some
        of them, EM would move rows to wherever the family misfits least.
        """
        assert candidate.graph is not None  # oracles that decode give one
        adjacency = candidate.graph.adjacency[self.prepared.variables]
        n_components = n_configurations(adjacency, candidate.graph.domain_sizes)
        return any(
            own is not None and len(own.weights) > n
            for own, n in zip(held, n_components, strict=True)
        )

    def association(self, alone: Labelling, finest: Decoded | None = None) -> Association:
        """What answers are judged by where their evidence cannot be relied on.

        If families are right and rows out of place, labels of the ``finest`` are components.
        """
        most = None
        if finest is not None:
            seen = np.maximum(alone.labels.max(axis=0), finest.labelling.labels.max(axis=0)) + 1
            most = tuple(int(k) for k in seen)
        return Association.of(self.rows, alone.labels, self.run.settings, most)

    @property
    def _limit(self) -> int:
        return self.run.components_of_one_variable(self.prepared.n_samples)

    def _resolutions(self) -> list[float]:
        return coarse_resolutions(len(self.rows[0].block), self.run.settings)

    def _label_each(self, rows: Rows) -> Labelling:
        run = self.run
        run.report(Stage.SEGMENTING)
        tell = steps_of(Stage.SEGMENTING, run.report)
        return label_each(rows, self._limit, run.n_jobs, self.seeds, run.settings, tell)

    def _settled(self, rows: Rows, alone: Labelling) -> Labelling:
        self.run.report(Stage.JOINING)
        return settle(rows, alone, self._limit, self.run.settings)

    def judged(self, candidate: Candidate, association: Association) -> Candidate:
        """A candidate of another oracle with its merit in the rows of this search."""
        assert candidate.graph is not None  # oracles that decode give one
        own = candidate.assign(candidate.graph).rows[self.prepared.rows][self.chosen]
        adjacency = candidate.graph.adjacency[self.prepared.variables]
        sizes = candidate.graph.domain_sizes
        table = association.table(configurations(adjacency, sizes), own)
        every = np.arange(table.n_components)
        merit = score(table, adjacency, sizes, every, self.run.settings).log_evidence
        return replace(candidate, merit=merit)


def coarse_resolutions(n_rows: int, settings: Settings) -> list[float]:
    """Resolutions at which so many rows are worth half of them, or 2 000, and ever fewer.

    Examples
    --------
    >>> [round(resolution) for resolution in coarse_resolutions(4_000, Settings())]
    [4000, 903, 291, 103]
    >>> coarse_resolutions(100, Settings())
    []
    """
    coarsest = settings.priors.coarsest_rows
    finest = min(n_rows / 2, settings.priors.finest_coarse_rows)
    if finest < coarsest:
        return []
    worth = np.geomspace(finest, coarsest, settings.budget.coarse_levels)
    return [float(rows * n_rows / (n_rows - rows)) for rows in worth]


def by_merit(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Candidates, the strongest first."""
    return tuple(sorted(candidates, key=lambda candidate: candidate.strength, reverse=True))
