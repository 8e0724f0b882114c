"""A learned Γ matched to the known latents, named after them and corrected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.optimize import linear_sum_assignment

from mixoracle._arrays import Bools, Floats
from mixoracle.assumptions import Verdict
from mixoracle.model import Bipartite
from mixoracle.structure import Knowledge

if TYPE_CHECKING:
    from mixoracle.background.statements import Background

# The verdict on background knowledge goes by this; the paper has no label for it.
LABEL = "background"


@dataclass(frozen=True, eq=False)
class ResolvedBackground:
    """Background knowledge about given observed variables, free of contradictions.

    ``driven`` and ``spared`` (n_observed, n_known) say what must be in Γ and what must not.

    Examples
    --------
    >>> from mixoracle.background import Background, KnownLatent
    >>> known = Background([KnownLatent("wear", ["heat"])]).resolved(["sound", "heat"])
    >>> known.names, known.driven[:, 0].tolist()
    (('wear',), [False, True])
    """

    background: Background
    observed_names: tuple[str, ...]
    driven: Bools
    spared: Bools

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the known latents."""
        return self.background.names

    def whole_graph(self) -> Bipartite | None:
        """Γ with its domain sizes, if the knowledge is complete."""
        if not self.background.complete:
            return None
        sizes = [latent.domain_size for latent in self.background.latents]
        return Bipartite(self.driven, tuple(cast("list[int]", sizes)), 0.0, "known")

    def applied_to(self, graph: Bipartite, default_names: Sequence[str]) -> Application:
        """Match the latents of Γ to the known ones, name them and correct their columns.

        ``default_names`` are for the latents that nothing is known about.
        """
        cost = self._costs(graph)
        place_of, _ = _assigned(cost, graph.n_latent)
        names = list(default_names)
        adjacency = graph.adjacency.copy()
        for known, found in place_of.items():
            names[found] = self.names[known]
            adjacency[:, found] |= self.driven[:, known]
            adjacency[:, found] &= ~self.spared[:, known]
        broken = [
            *(
                _Breach((name,), f"no latent was found that could be {name!r}")
                for known, name in enumerate(self.names)
                if known not in place_of
            ),
            *self._of_other_size(place_of, graph.domain_sizes),
            *_new_twins(graph.adjacency, adjacency, names),
        ]
        return Application(
            graph=_corrected(graph, adjacency),
            latent_names=tuple(names),
            state_names=self._state_names(place_of, graph.domain_sizes),
            corrections=self._corrections(graph.adjacency, adjacency, names),
            edges=self._edges_among(set(place_of)),
            broken=tuple(broken),
            unclear=tuple(self._unclear(cost, place_of, graph)),
        )

    def _costs(self, graph: Bipartite) -> Floats:
        """The cost of matching each known latent (row) to each found one, or to none.

        The statements broken count first; among equals, fewer wrong entries of Γ, because its
        children are what a latent is recognised by. Not to be found costs more than all of that.
        """
        n_known = len(self.names)
        column = graph.adjacency.astype(np.int64)
        wrong = self.driven.T.astype(np.int64) @ (1 - column) + self.spared.T.astype(int) @ column
        sizes = [latent.domain_size for latent in self.background.latents]
        other_size = np.array(
            [[known not in (None, size) for size in graph.domain_sizes] for known in sizes]
        ).reshape(wrong.shape)
        more_than_all = graph.n_observed * n_known + 1
        cost = (wrong + other_size) * more_than_all + wrong.astype(np.float64)
        recognised_by = np.where(self.driven.any(axis=0), self.driven, ~self.spared)
        cost[recognised_by.T.astype(np.int64) @ column == 0] = np.inf
        absent = np.full((n_known, n_known), n_known * (graph.n_observed + 2.0) * more_than_all)
        return np.hstack([cost, absent])

    def _of_other_size(
        self, place_of: dict[int, int], domain_sizes: tuple[int, ...]
    ) -> Iterable[_Breach]:
        for known, found in place_of.items():
            name, size = self.names[known], self.background.latents[known].domain_size
            if size not in (None, domain_sizes[found]):
                yield _Breach(
                    (name,),
                    f"{name!r} should have {size} states and was found with {domain_sizes[found]}",
                )

    def _state_names(
        self, place_of: dict[int, int], domain_sizes: tuple[int, ...]
    ) -> tuple[tuple[str, ...] | None, ...]:
        """What the states of each found latent are called; None where nobody says, or too many."""
        called: list[tuple[str, ...] | None] = [None] * len(domain_sizes)
        for known, found in place_of.items():
            states = self.background.latents[known].states
            if states is not None and len(states) == domain_sizes[found]:
                called[found] = states
        return tuple(called)

    def _unclear(
        self, cost: Floats, place_of: dict[int, int], graph: Bipartite
    ) -> Iterable[_Breach]:
        """Known latents that could be another found one at no higher cost."""
        _, least = _assigned(cost, graph.n_latent)
        for known, found in place_of.items():
            elsewhere = cost.copy()
            elsewhere[known, found] = np.inf
            other, total = _assigned(elsewhere, graph.n_latent)
            if known in other and total == least:
                behind = " and ".join(
                    f"the latent behind {', '.join(marked_names(column, self.observed_names))}"
                    for column in graph.adjacency.T[[found, other[known]]]
                )
                yield _Breach(
                    (self.names[known],),
                    f"{self.names[known]!r} fits {behind} equally well, so its name is a guess: "
                    "name more of its children",
                )

    def _corrections(self, before: Bools, after: Bools, names: list[str]) -> tuple[str, ...]:
        return tuple(
            f"{names[j]} {'drives' if after[i, j] else 'does not drive'} {self.observed_names[i]}"
            for j, i in np.argwhere((before != after).T)
        )

    def _edges_among(self, found: set[int]) -> Knowledge:
        """The arrows among the latents that were found; the tiers have become forbidden arrows."""
        everything = self.background.edges.resolved(self.names)
        required, forbidden = (
            [(self.names[i], self.names[j]) for i, j in edges if {i, j} <= found]
            for edges in (everything.required, everything.forbidden)
        )
        return Knowledge(required, forbidden)


@dataclass(frozen=True)
class Application:
    """One Γ after background knowledge was applied.

    Examples
    --------
    >>> from mixoracle.background import Background, KnownLatent
    >>> known = Background([KnownLatent("wear", ["heat"])]).resolved(["sound", "heat"])
    >>> graph = Bipartite(np.array([[True], [True]]), (2,))
    >>> known.applied_to(graph, ["H1"]).latent_names
    ('wear',)
    """

    graph: Bipartite  # with the known children added and the known non-children removed
    latent_names: tuple[str, ...]
    state_names: tuple[tuple[str, ...] | None, ...]
    corrections: tuple[str, ...]  # each entry of Γ that was changed, in words
    edges: Knowledge  # what is known about the arrows among the latents that were found
    broken: tuple[_Breach, ...]
    unclear: tuple[_Breach, ...]

    @property
    def n_broken(self) -> int:
        """How many statements could not be honoured, whatever was corrected."""
        return len(self.broken)

    @property
    def verdict(self) -> Verdict:
        """Whether everything that was known is so in the model."""
        name, breaches = "background knowledge", (*self.broken, *self.unclear)
        if breaches:
            message = "; ".join(breach.sentence for breach in breaches)
            offenders = tuple(breach.offenders for breach in breaches)
            return Verdict(name, LABEL, False, message, offenders)
        if self.corrections:
            message = f"honoured after correcting Γ: {'; '.join(self.corrections)}"
            return Verdict(name, LABEL, True, message)
        return Verdict(name, LABEL, True, "Γ was found as it is known to be")


@dataclass(frozen=True)
class _Breach:
    """A statement that the model does not honour."""

    offenders: tuple[str, ...]
    sentence: str


def _assigned(cost: Floats, n_found: int) -> tuple[dict[int, int], float]:
    """The cheapest one-to-one match, known to found without those not found, and its cost.

    Costs are whole numbers, so equally good matches compare equal.
    """
    rows, places = linear_sum_assignment(cost)
    place_of = {int(k): int(j) for k, j in zip(rows, places, strict=True) if j < n_found}
    return place_of, float(cost[rows, places].sum())


def _corrected(graph: Bipartite, adjacency: Bools) -> Bipartite:
    """Γ with other entries; its residual grows by what they change in some log k({X_i})."""
    if np.array_equal(adjacency, graph.adjacency):
        return graph
    moved = (adjacency.astype(float) - graph.adjacency) @ np.log(graph.domain_sizes)
    residual = graph.residual + float(np.abs(moved).max())
    method = f"{graph.method}, corrected"
    return Bipartite(adjacency, graph.domain_sizes, residual, method)


def _new_twins(before: Bools, after: Bools, names: Sequence[str]) -> Iterable[_Breach]:
    """Latents that corrections made indistinguishable (``assm:twins``)."""
    for one, two in combinations(range(after.shape[1]), 2):
        were_twins = np.array_equal(before[:, one], before[:, two])
        if np.array_equal(after[:, one], after[:, two]) and not were_twins:
            yield _Breach(
                (names[one], names[two]),
                f"corrected as known, {names[one]} and {names[two]} drive the same variables and "
                "cannot be distinguished",
            )


def marked_names(marked: Bools, observed_names: Sequence[str]) -> list[str]:
    """The observed variables that an (n,) array marks."""
    return [name for name, is_marked in zip(observed_names, marked, strict=True) if is_marked]
