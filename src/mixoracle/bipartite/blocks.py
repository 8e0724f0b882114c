"""Exact recovery from neighbourhood blocks, one latent at a time, under no twins alone.

A maximal neighbourhood block, a set S with Wsne(S) > 0 that no larger set has, is ne(H_j) of one
latent, and Wsne(S) is its weight (``lem:max-nb-blocks-app``); once found, its share is taken out
of every score and the search goes on (``thm:hidden-bipartite-app``). The search is that for
closed itemsets: a *generator* U grows only by variables that strictly lower Wsne, and every
variable that leaves it unchanged has all the parents that U shares, so joins the block for free.
A block of any size thus costs 2^|U| counts for each variable, where |U| is about the logarithm of
the number of latents that overlap, and only small sets are asked for.

Should a generator grow long, which takes many latents that nearly coincide, a *minimal* block is
removed instead. W(X) − W(X∖T) is the weight of the latents whose children all lie in T, so one
count for each variable finds a smallest such T. The paper calls recovery under no twins
exponential (``sec:bip-recovery-full-app``); by minimal blocks alone it takes (n + 1)·m + 1
counts at most, though of sets as large as X.

Assumes no twins (else twins come back merged into one latent) and counts without errors: any
contradiction met on the way is raised.
"""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np

from mixoracle._arrays import Bools, Floats
from mixoracle.bipartite.scores import Counts, name_set, readable_count
from mixoracle.errors import InconsistentCountsError

# Scores are sums of logarithms of whole numbers. Rounding reaches 1e-11 for the longest
# generators; the smallest step between two legal values, log((k+1)/k), stays above this for all
# k below 10^6.
_TOLERANCE = 1e-6
# 2^10 counts for each variable are still asked for within a second; one more step doubles them.
_LONGEST_GENERATOR = 10


def find_blocks(counts: Counts) -> tuple[Bools, tuple[int, ...]]:
    """Γ (n_observed, n_latent) and the domain sizes, by removing one block after the other.

    Raises an InconsistentCountsError where no bipartite graph has these counts.
    """
    search = _Search(counts)
    while True:
        singles = search.singles()
        active = np.flatnonzero(singles > 0)
        if len(active) == 0:
            break
        # The variable with the fewest parental states has few latents to tell apart.
        start = int(active[singles[active].argmin()])
        grown = search.maximal_block(start, singles[start], active.tolist())
        search.remove(*(grown or search.minimal_block(active.tolist())))
    adjacency = np.zeros((counts.n_observed, len(search.found)), dtype=np.bool_)
    for j, block in enumerate(search.found):
        adjacency[list(block), j] = True
    return adjacency, tuple(search.found.values())


class _Search:
    """The scores that are left after taking out the latents found so far."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.everything = frozenset(range(counts.n_observed))
        self.found: dict[frozenset[int], int] = {}

    def singles(self) -> Floats:
        """W of each observed variable."""
        raw = self.counts.log_counts_of([frozenset([i]) for i in sorted(self.everything)])
        return np.array(
            [
                self._left(score, [block for block in self.found if i in block], [i])
                for i, score in enumerate(raw.tolist())
            ]
        )

    def maximal_block(
        self, start: int, score: float, active: list[int]
    ) -> tuple[frozenset[int], float] | None:
        """A maximal block around ``start`` and its Wsne; None if the generator grows too long."""
        generator, members = [start], {start}
        candidates = [x for x in active if x != start]
        while True:
            shared = self._shared(generator, candidates)
            members |= {x for x, value in shared.items() if abs(value - score) < _TOLERANCE}
            lower = {x: value for x, value in shared.items() if value > 0 and x not in members}
            if not lower:
                return frozenset(members), score
            if len(generator) == _LONGEST_GENERATOR:
                return None
            # The steepest step leaves the fewest latents, hence the shortest generator.
            step = min(lower, key=lambda x: (lower[x], x))
            self._left(score - lower[step], [], [*generator, step])
            generator.append(step)
            members.add(step)
            score = lower[step]
            candidates = [x for x in lower if x != step]

    def minimal_block(self, active: list[int]) -> tuple[frozenset[int], float]:
        """A smallest set that holds all children of some latent, and that latent's weight."""
        block = frozenset(active)
        score = self._inside(block)
        for x in active:
            smaller = self._inside(block - {x})
            if smaller > 0:
                block, score = block - {x}, smaller
        return block, score

    def remove(self, block: frozenset[int], score: float) -> None:
        """Take a latent out of all scores from here on.

        Exact counts never lead to a block twice, nor to one without weight; wrong ones must not
        keep the search going in circles.
        """
        states = float(np.exp(score))
        if block in self.found or score == 0:
            raise InconsistentCountsError(_explain(self.counts, sorted(block), states))
        self.found[block] = round(states)

    def _shared(self, generator: list[int], others: list[int]) -> dict[int, float]:
        """Wsne(U ∪ {x}) for each x, as Σ_{V ⊆ U} (−1)^|V| (W(V ∪ {x}) − W(V)).

        This is ``lem:com-weight`` with the sets sorted by whether they hold x; what does not
        depend on x is added up once, and all sets are asked for in one batch.
        """
        parts = [
            frozenset(v) for r in range(len(generator) + 1) for v in combinations(generator, r)
        ]
        signs = np.array([-1.0 if len(part) % 2 else 1.0 for part in parts])
        scores = self.counts.log_counts_of([part | {x} for x in others for part in parts])
        raw = (scores.reshape(len(others), len(parts)) - self.counts.log_counts_of(parts)) @ signs
        around = [block for block in self.found if block.issuperset(generator)]
        return {
            x: self._left(score, [block for block in around if x in block], [*generator, x])
            for x, score in zip(others, raw.tolist(), strict=True)
        }

    def _inside(self, block: frozenset[int]) -> float:
        """The weight of the latents all of whose children lie in ``block``."""
        whole, rest = self.counts.log_counts_of([self.everything, self.everything - block])
        taken = [found for found in self.found if found <= block]
        return self._left(float(whole - rest), taken, sorted(block))

    def _left(self, score: float, taken: list[frozenset[int]], subset: list[int]) -> float:
        """A score less the weights taken out: the logarithm of a whole number of states."""
        score -= sum(log(self.found[block]) for block in taken)
        if abs(score) < _TOLERANCE:
            return 0.0
        states = float(np.exp(score))
        if score < 0 or abs(states - round(states)) > _TOLERANCE * states:
            raise InconsistentCountsError(_explain(self.counts, subset, states))
        return score


def _explain(counts: Counts, subset: list[int], states: float) -> str:
    """Say which counts contradict each other, in the simplest terms that show it.

    A wrong count often does its harm later and elsewhere, so all counts asked so far are looked
    through, small sets first, before the place where the search stumbled is named.
    """
    remedy = "more samples or a larger max_components may help"
    known = counts.single
    for members in sorted(known, key=lambda s: (len(s), sorted(s))):
        score = known[members]
        if not _is_whole(score):
            return (
                f"k({name_set(members)}) = {readable_count(score)} is not a whole number; {remedy}"
            )
        for left_out in sorted(members, reverse=True):
            part = members - {left_out}
            if part in known and not _is_whole(score - known[part]):
                return (
                    f"k({name_set(members)}) = {readable_count(score)} is not a multiple of "
                    f"k({name_set(part)}) = {readable_count(known[part])}; {remedy}"
                )
    return (
        f"the counts around {name_set(subset)} leave {states:.6g} joint states for the latents "
        f"behind it, which no whole number of states per latent explains; {remedy}"
    )


def _is_whole(log_states: float) -> bool:
    states = float(np.exp(log_states))
    return states > 0.5 and abs(states - round(states)) <= _TOLERANCE * states
