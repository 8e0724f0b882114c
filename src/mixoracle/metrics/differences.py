"""Two models side by side, neither of them the truth: what is the same, and what differs.

Latents and states are matched first, since their names and numbers mean nothing; observed variables
go by name, and those that only one model has are named and left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from mixoracle.errors import InvalidInputError
from mixoracle.metrics.comparison import compare
from mixoracle.model import LatentModel


@dataclass(frozen=True)
class LatentPair:
    """A latent of the first model and its counterpart in the second, by name; None where missing.

    ``driven`` are the observed variables that both drive, ``only_first`` and ``only_second`` those
    that one of them does; ``sizes`` are their numbers of states. ``states`` has for each state of
    the first its counterpart, by name, where the numbers agree.
    """

    first: str | None
    second: str | None
    driven: tuple[str, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    sizes: tuple[int | None, int | None]
    states: tuple[tuple[str, str], ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether both drive the same variables and have as many states."""
        alone = self.only_first or self.only_second or None in self.sizes
        return not alone and self.sizes[0] == self.sizes[1]


@dataclass(frozen=True)
class Differences:
    """What two models have in common, and what not.

    ``edges`` has for each pair of matched latents that is joined differently the pair, by the
    first model's names, and both edges (``→``, ``←``, ``—``, or nothing). ``joint_tv`` is NaN where
    the numbers of states differ. ``only_first`` and ``only_second`` are observed variables.

    Examples
    --------
    >>> from mixoracle.datasets import independent_latents
    >>> len(differences(independent_latents(), independent_latents()).latents)
    2
    """

    latents: tuple[LatentPair, ...]
    edges: tuple[tuple[str, str, str, str], ...]
    joint_tv: float
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]

    @property
    def is_same_graph(self) -> bool:
        """Whether graph and numbers of states are the same, up to names."""
        return all(pair.is_same for pair in self.latents) and not self.edges

    def sentences(self, first: str, second: str) -> list[str]:
        """The differences in words; ``first`` and ``second`` are what to call the models."""
        return [
            *_of_variables(self, first, second),
            *(line for pair in self.latents for line in _of_latent(pair, first, second)),
            *(
                f"{one} {edge or 'and'} {other}{'' if edge else ' are not joined'} in {first}, "
                f"{one} {counter or 'and'} {other}{'' if counter else ' are not joined'} in "
                f"{second}."
                for one, other, edge, counter in self.edges
            ),
            *_of_joint(self),
        ]


def differences(first: LatentModel, second: LatentModel) -> Differences:
    """Compare two models over the observed variables that both have.

    Examples
    --------
    >>> from mixoracle.datasets import independent_latents
    >>> model = independent_latents()
    >>> [(pair.first, pair.second) for pair in differences(model, model).latents]
    [('H1', 'H1'), ('H2', 'H2')]
    """
    common = [name for name in first.observed_names if name in second.observed_names]
    if not common:
        raise InvalidInputError(
            "two models can be compared if they share observed variables; "
            f"{', '.join(first.observed_names[:3])}… and "
            f"{', '.join(second.observed_names[:3])}… share none"
        )
    one, other = _restricted(first, common), _restricted(second, common)
    found = compare(one, other)
    partners = found.matching.latents
    pairs = [_pair(one, other, j, k) for j, k in enumerate(partners)]
    for j, order in enumerate(found.matching.states or ()):
        k = partners[j]
        assert k is not None  # states are matched only where all latents are
        theirs = other.states_of(k)
        states = tuple((state, theirs[order[s]]) for s, state in enumerate(one.states_of(j)))
        pairs[j] = replace(pairs[j], states=states)
    pairs += [_pair(one, other, None, k) for k in range(other.n_latent) if k not in partners]
    return Differences(
        tuple(pairs),
        tuple(_edges(one, other, partners)),
        found.joint_tv,
        tuple(name for name in first.observed_names if name not in common),
        tuple(name for name in second.observed_names if name not in common),
    )


def _restricted(model: LatentModel, names: Sequence[str]) -> LatentModel:
    rows = [model.observed_names.index(name) for name in names]
    return replace(
        model,
        observed_names=tuple(names),
        bipartite=model.bipartite[rows],
        components=None,
        reading=None,
    )


def _pair(one: LatentModel, other: LatentModel, j: int | None, k: int | None) -> LatentPair:
    mine = set() if j is None else {one.observed_names[i] for i in one.children(j)}
    theirs = set() if k is None else {other.observed_names[i] for i in other.children(k)}
    order = one.observed_names.index
    return LatentPair(
        None if j is None else one.latent_names[j],
        None if k is None else other.latent_names[k],
        tuple(sorted(mine & theirs, key=order)),
        tuple(sorted(mine - theirs, key=order)),
        tuple(sorted(theirs - mine, key=order)),
        (
            None if j is None else one.domain_sizes[j],
            None if k is None else other.domain_sizes[k],
        ),
    )


def _edges(
    one: LatentModel, other: LatentModel, partners: Sequence[int | None]
) -> Iterator[tuple[str, str, str, str]]:
    matched = [(j, k) for j, k in enumerate(partners) if k is not None]
    for place, (j, k) in enumerate(matched):
        for j2, k2 in matched[place + 1 :]:
            edge, counter = _edge(one, j, j2), _edge(other, k, k2)
            if edge != counter:
                yield one.latent_names[j], one.latent_names[j2], edge, counter


def _edge(model: LatentModel, i: int, j: int) -> str:
    graph = model.latent_graph
    if (i, j) in graph.directed:
        return "→"
    if (j, i) in graph.directed:
        return "←"
    return "—" if frozenset({i, j}) in graph.undirected else ""


def _of_variables(found: Differences, first: str, second: str) -> Iterator[str]:
    for name, only in ((first, found.only_first), (second, found.only_second)):
        if only:
            yield f"Only {name} has {', '.join(only)}; left out here."


def _of_latent(pair: LatentPair, first: str, second: str) -> Iterator[str]:
    if pair.first is None or pair.second is None:
        name, held, missing = (
            (pair.second, second, first) if pair.first is None else (pair.first, first, second)
        )
        driven = ", ".join(pair.only_first or pair.only_second) or "nothing"
        yield f"{name} of {held} (drives {driven}) has no counterpart in {missing}."
        return
    is_same = f"{pair.first} of {first} is {pair.second} of {second}"
    if pair.is_same:
        yield f"{is_same}: {pair.sizes[0]} states, drives {', '.join(pair.driven) or 'nothing'}."
        return
    parts = [f"both drive {', '.join(pair.driven) or 'nothing'}"]
    for name, only in ((first, pair.only_first), (second, pair.only_second)):
        parts += [f"in {name} it also drives {', '.join(only)}"] if only else []
    if pair.sizes[0] != pair.sizes[1]:
        parts.append(f"it has {pair.sizes[0]} states in {first}, {pair.sizes[1]} in {second}")
    yield f"{is_same}: {'; '.join(parts)}."


def _of_joint(found: Differences) -> Iterator[str]:
    if isfinite(found.joint_tv):
        yield f"The probabilities of joint states differ by {found.joint_tv:.1%} in total."
    else:
        yield "The probabilities of joint states cannot be compared."
