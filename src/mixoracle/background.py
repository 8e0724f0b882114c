"""What is known about the latents beforehand: their children, numbers of states and arrows.

A :class:`KnownLatent` says in the user's own words what one latent drives, what it does not, and
how many states it has; :class:`Background` puts several together with arrows among them. A learned
Γ is matched to them so that as few statements as possible are broken, the matched latents take the
names, and what is still broken in Γ is corrected. What cannot be corrected is told: a latent that
was not found, another number of states, or knowledge that fits two latents equally well.

Statements are taken to be true. A found latent can only be the one that is meant if it drives one
of the children that are known, or, where none is known, something that it is not said to leave
alone: without that a correction would invent a latent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from mixoracle._checks import check_whole
from mixoracle.assumptions import Verdict
from mixoracle.errors import InvalidInputError, KnowledgeConflictError
from mixoracle.model import Bipartite
from mixoracle.structure import Knowledge

__all__ = ["LABEL", "Application", "Background", "KnownLatent", "ResolvedBackground"]

# The verdict on background knowledge goes by this; the paper has no label for it.
LABEL = "background"

Variable = str | int
Bools = NDArray[np.bool_]


@dataclass(frozen=True, init=False)
class KnownLatent:
    """What is known about one latent.

    Parameters
    ----------
    name : str
        What to call it, in the model and in ``Background.edges``.
    children : iterable of str or int
        Observed variables that it drives, by name or counted from 0.
    not_children : iterable of str or int
        Observed variables that it does not drive.
    exactly : bool
        Whether ``children`` are all that it drives.
    domain_size : int, optional
        Its number of states.

    Examples
    --------
    >>> KnownLatent("wear", children=["sound", "heat"], domain_size=3).domain_size
    3
    """

    name: str
    children: frozenset[Variable]
    not_children: frozenset[Variable]
    exactly: bool
    domain_size: int | None

    def __init__(
        self,
        name: str,
        children: Iterable[Variable] = (),
        not_children: Iterable[Variable] = (),
        *,
        exactly: bool = False,
        domain_size: int | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise InvalidInputError(f"a known latent needs a name that is not empty; got {name!r}")
        driven = _variables(name, "children", children)
        spared = _variables(name, "not_children", not_children)
        if domain_size is not None:
            check_whole(f"the domain size of {name!r}", domain_size, at_least=2)
        if exactly and not driven:
            raise KnowledgeConflictError(
                f"{name!r} is said to drive nothing at all; name a child, or leave exactly out"
            )
        if not driven and not spared and domain_size is None:
            raise InvalidInputError(
                f"nothing is said about {name!r}, so it could be any latent; give children, "
                "not_children or a domain size"
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "children", driven)
        object.__setattr__(self, "not_children", spared)
        object.__setattr__(self, "exactly", bool(exactly))
        object.__setattr__(self, "domain_size", domain_size)
        _refuse_both(name, driven & spared)

    def columns(self, observed_names: Sequence[str]) -> tuple[Bools, Bools]:
        """Which of the observed variables it drives and which not, an (n,) array each."""
        driven, spared = (
            _marked(self.name, members, observed_names)
            for members in (self.children, self.not_children)
        )
        _refuse_both(self.name, _where(driven & spared, observed_names))
        if spared.all():
            raise KnowledgeConflictError(
                f"{self.name!r} is said to drive none of the {len(observed_names)} observed "
                "variables; each latent drives at least one"
            )
        return driven, ~driven if self.exactly else spared


@dataclass(frozen=True, init=False)
class Background:
    """What is known about Γ, the domain sizes and Λ before learning.

    Parameters
    ----------
    latents : iterable of KnownLatent
        Further latents may exist; they are called H1, H2, … as ever.
    edges : Knowledge, optional
        Arrows among these latents, by name or by place in ``latents``.
    complete : bool
        Whether there are no further latents, and all is known of Γ: each latent then has
        ``exactly`` its children and a domain size. The model with this Γ is learned as it stands.

    Examples
    --------
    >>> wear = KnownLatent("wear", children=["sound"])
    >>> heat = KnownLatent("heat", children=["oil"], not_children=["sound"])
    >>> Background([wear, heat], Knowledge(required=[("wear", "heat")])).names
    ('wear', 'heat')
    """

    latents: tuple[KnownLatent, ...]
    edges: Knowledge
    complete: bool

    def __init__(
        self,
        latents: Iterable[KnownLatent] = (),
        edges: Knowledge | None = None,
        *,
        complete: bool = False,
    ) -> None:
        known = tuple(latents)
        for latent in known:
            if not isinstance(latent, KnownLatent):
                raise InvalidInputError(
                    f"latents should be KnownLatent records; got one of type "
                    f"{type(latent).__name__}"
                )
        if edges is not None and not isinstance(edges, Knowledge):
            raise InvalidInputError(
                f"edges should be a structure.Knowledge; got {type(edges).__name__}"
            )
        object.__setattr__(self, "latents", known)
        object.__setattr__(self, "edges", edges or Knowledge())
        object.__setattr__(self, "complete", bool(complete))
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise KnowledgeConflictError(
                f"two known latents are called {twice[0]!r}; put what is known into one of them"
            )
        self.edges.resolved(self.names)
        open_ended = [k.name for k in known if not k.exactly or k.domain_size is None]
        if complete and (open_ended or not known):
            what = f"{open_ended[0]!r} leaves something open" if open_ended else "there is none"
            raise KnowledgeConflictError(
                "complete knowledge needs exactly=True and a domain size for every latent; "
                f"{what}: say it, or leave complete out"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the known latents, in their order."""
        return tuple(latent.name for latent in self.latents)

    def resolved(self, observed_names: Sequence[str]) -> ResolvedBackground:
        """Names of observed variables to places; raise where the knowledge contradicts itself."""
        for name in self.names:
            if name in observed_names:
                raise InvalidInputError(
                    f"{name!r} is an observed variable; call the latent something else"
                )
        columns = [latent.columns(observed_names) for latent in self.latents]
        for (one, first), (two, second) in combinations(zip(self.latents, columns, strict=True), 2):
            nothing_open = (first[0] | first[1]).all()
            if nothing_open and np.array_equal(first, second):
                raise KnowledgeConflictError(
                    f"{one.name!r} and {two.name!r} are said to drive exactly the same variables; "
                    "no data can tell such twins apart (assm:twins): declare one latent"
                )
        shape = (len(columns), len(observed_names))
        return ResolvedBackground(
            self,
            tuple(observed_names),
            np.array([driven for driven, _ in columns], dtype=bool).reshape(shape).T,
            np.array([spared for _, spared in columns], dtype=bool).reshape(shape).T,
        )


@dataclass(frozen=True, eq=False)
class ResolvedBackground:
    """Background knowledge about given observed variables, free of contradictions.

    ``driven`` and ``spared`` (n_observed, n_known) say what must be in Γ and what must not.
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
            *self._not_found(place_of),
            *self._of_other_size(place_of, graph.domain_sizes),
            *_new_twins(graph.adjacency, adjacency, names),
        ]
        return Application(
            graph=_corrected(graph, adjacency),
            latent_names=tuple(names),
            corrections=self._corrections(graph.adjacency, adjacency, names),
            edges=self._edges_among(set(place_of)),
            broken=tuple(broken),
            unclear=tuple(self._unclear(cost, place_of, graph)),
        )

    def _costs(self, graph: Bipartite) -> NDArray[np.float64]:
        """What it costs each known latent (row) to be each found one, or not to be found.

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

    def _not_found(self, place_of: dict[int, int]) -> Iterable[_Breach]:
        for known, name in enumerate(self.names):
            if known not in place_of:
                yield _Breach((name,), f"no latent was found that could be {name!r}")

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

    def _unclear(
        self, cost: NDArray[np.float64], place_of: dict[int, int], graph: Bipartite
    ) -> Iterable[_Breach]:
        """Known latents that could be another found one at no higher cost."""
        _, least = _assigned(cost, graph.n_latent)
        for known, found in place_of.items():
            elsewhere = cost.copy()
            elsewhere[known, found] = np.inf
            other, total = _assigned(elsewhere, graph.n_latent)
            if known in other and total == least:
                behind = " and ".join(
                    f"the latent behind {', '.join(_where(column, self.observed_names))}"
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
    """What background knowledge made of one Γ.

    Attributes
    ----------
    graph : Bipartite
        Γ with the known children added and the known non-children removed.
    latent_names : tuple of str
    corrections : tuple of str
        Each entry of Γ that was changed, in words.
    edges : Knowledge
        What is known about the arrows among the latents that were found.
    """

    graph: Bipartite
    latent_names: tuple[str, ...]
    corrections: tuple[str, ...]
    edges: Knowledge
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


def _assigned(cost: NDArray[np.float64], n_found: int) -> tuple[dict[int, int], float]:
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
                "cannot be told apart",
            )


def _variables(name: str, kind: str, members: Iterable[Variable]) -> frozenset[Variable]:
    listed = None if isinstance(members, str) or not isinstance(members, Iterable) else [*members]
    if listed is None or any(
        isinstance(member, bool) or not isinstance(member, str | int | np.integer)
        for member in listed
    ):
        raise InvalidInputError(
            f"{kind} of {name!r} should be a collection of names or numbers of observed variables; "
            f"got {members!r}"
        )
    return frozenset(member if isinstance(member, str) else int(member) for member in listed)


def _where(marked: Bools, observed_names: Sequence[str]) -> list[str]:
    return [name for name, is_marked in zip(observed_names, marked, strict=True) if is_marked]


def _marked(name: str, members: Iterable[Variable], observed_names: Sequence[str]) -> Bools:
    """Names or places to an (n,) array that marks them."""
    marked = np.zeros(len(observed_names), dtype=bool)
    for member in sorted(members, key=str):
        if isinstance(member, str) and member in observed_names:
            marked[observed_names.index(member)] = True
        elif not isinstance(member, str) and 0 <= member < len(observed_names):
            marked[member] = True
        else:
            raise InvalidInputError(
                f"what is known about {name!r} names the observed variable {member!r}; there are "
                f"{', '.join(observed_names)}, counted from 0"
            )
    return marked


def _refuse_both(name: str, both: Iterable[Variable]) -> None:
    clash = sorted(map(str, both))
    if clash:
        raise KnowledgeConflictError(
            f"{clash[0]} is said to be a child of {name!r} and not to be one; drop one of the two"
        )
