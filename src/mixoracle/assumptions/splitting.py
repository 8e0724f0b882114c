"""Maximality: whether a latent could be two (``assm:minimal``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mixoracle.assumptions.graph import no_twins
from mixoracle.assumptions.verdict import Verdict, listed, sentences_of
from mixoracle.model import ComponentSet, LatentModel

# Empty states make "depends on one half only" intransitive, and a latent's states must then be
# dealt into rows by trial; 12 states have at most 15 400 deals.
_MAX_DEALT_STATES = 12


def maximality(model: LatentModel) -> Verdict:
    """No latent can be split in two without making twins (``assm:minimal``).

    To split H_i is to write its states as a grid of d1 × d2 cells, d1, d2 ≥ 2, and to call the
    row H_a and the column H_b; merging them gives H_i back. No cell may be left over: the paper
    calls S_3 of ``app:example-nonidentifiable`` minimal, whose one latent has 3 states, and model
    B there is what a 2 × 2 grid with an empty cell makes of it.

    The latents never stand in the way: H_a and H_b inherit all of H_i's edges in Λ and get one
    between them, and P(H) factorises. A child of H_i may hang on H_a alone if it is distributed
    alike in all states of a row, whatever its other parents do; it may always hang on both. Let
    T be the children that hang on H_a alone. Then ne(H_a) = ne(H_i), which is nobody else's
    where there are no twins, and the split is a model without twins if and only if
    ne(H_i) without T is not empty, not ne(H_i), and not another latent's. (Hanging others on H_b
    alone changes ne(H_a) only, so it opens no further way.) Hence:

    - a latent with a prime number of states, or with one child, cannot be split;
    - where nondegeneracy (a) and (b) hold, every child tells all states apart, T must be empty,
      and both halves would be twins: the model is maximal;
    - else look for such a T and for rows that suit it, smallest T first: what suits T suits its
      subsets, so only sets blocked by another latent have to be enlarged.

    Examples
    --------
    >>> from mixoracle.datasets import independent_latents
    >>> maximality(independent_latents()).holds
    True
    """
    name, label = "maximality", "assm:minimal"
    if no_twins(model).holds is False:
        message = "Twins or childless latents come first: maximality is about graphs without."
        return Verdict(name, label, None, message)
    candidates = [
        j
        for j, size in enumerate(model.domain_sizes)
        if len(model.children(j)) > 1 and list(_row_lengths(size))
    ]
    if not candidates:
        message = "No latent can be split: each has a prime number of states or a single child."
        return Verdict(name, label, True, message)
    if model.components is None:
        names = listed(model.latent_names[j] for j in candidates)
        message = f"Whether {names} can be split depends on the components, which are not known."
        return Verdict(name, label, None, message)
    splits = {j: _find_split(model, model.components, j) for j in candidates}
    undecided = [j for j, split in splits.items() if split is None]
    offenders = tuple((model.latent_names[j], *split) for j, split in splits.items() if split)
    if offenders:
        sentences = [
            f"the latent {split[0]} could be two, of which {listed(split[1:])} "
            f"{'needs' if len(split) == 2 else 'need'} only one"
            for split in offenders
        ]
        return Verdict(name, label, False, sentences_of(sentences), offenders)
    if undecided:
        message = (
            f"There are too many ways to split {listed(model.latent_names[j] for j in undecided)}: "
            f"more than {_MAX_DEALT_STATES} states, and some joint states are empty."
        )
        return Verdict(name, label, None, message)
    return Verdict(name, label, True, "Splitting any latent in two would make twins.")


def _find_split(
    model: LatentModel, components: Sequence[ComponentSet], latent: int
) -> tuple[str, ...] | None:
    """Name the children that half of ``latent`` suffices for; () if none, None if undecided."""
    children = model.children(latent)
    taken = {frozenset(model.children(j)) for j in range(model.n_latent) if j != latent}
    alike = {child: _alike_states(model, components[child], child, latent) for child in children}
    undecided = False
    waiting = [frozenset({child}) for child in children]
    seen = set(waiting)
    while waiting:
        one_sided = waiting.pop(0)
        if len(one_sided) == len(children):
            continue
        together = np.logical_and.reduce([alike[child] for child in one_sided])
        rows_exist = _can_deal_rows(together)
        undecided |= rows_exist is None
        if rows_exist is False:
            continue
        if frozenset(children) - one_sided not in taken:
            if rows_exist:
                return tuple(model.observed_names[child] for child in sorted(one_sided))
            continue
        larger = {one_sided | {child} for child in children} - seen
        seen |= larger
        waiting.extend(sorted(larger, key=sorted))
    return None if undecided else ()


def _alike_states(
    model: LatentModel, held: ComponentSet, child: int, latent: int
) -> NDArray[np.bool_]:
    """Which two states of ``latent`` the child never tells apart, as a symmetric matrix.

    Only configurations of the child's parents that occur can tell: elsewhere P(X | H) is free.
    """
    parents = model.parents(child)
    axis = parents.index(latent)
    table, size = model.joint.marginal(parents).table, model.domain_sizes[latent]
    occurs = np.moveaxis(table > 0, axis, 0).reshape((size, -1))
    equal = np.moveaxis(held.first_equal().reshape(table.shape), axis, 0).reshape((size, -1))
    alike = np.eye(size, dtype=bool)
    for first, second in combinations(range(size), 2):
        both = occurs[first] & occurs[second]
        is_alike = bool((equal[first] == equal[second])[both].all())
        alike[first, second] = alike[second, first] = is_alike
    return alike


def _row_lengths(n_states: int) -> Iterator[int]:
    """Row lengths d2 of the grids d1 × d2 with d1, d2 ≥ 2; none for a prime."""
    return (length for length in range(2, n_states // 2 + 1) if n_states % length == 0)


def _can_deal_rows(alike: NDArray[np.bool_]) -> bool | None:
    """Whether the states fall into rows of one length, all alike within a row.

    Where likeness is transitive, its classes only need sizes that the length divides.
    """
    n_states = len(alike)
    if np.array_equal(alike @ alike, alike):
        class_sizes = alike.sum(axis=0)
        return any(not np.any(class_sizes % length) for length in _row_lengths(n_states))
    if n_states > _MAX_DEALT_STATES:
        return None
    everyone = frozenset(range(n_states))
    return any(_deal(everyone, length, alike) for length in _row_lengths(n_states))


def _deal(left: frozenset[int], length: int, alike: NDArray[np.bool_]) -> bool:
    """Whether the states ``left`` can be dealt into rows of ``length`` alike states."""
    if not left:
        return True
    first = min(left)
    partners = [state for state in sorted(left) if state != first and alike[first, state]]
    return any(
        all(alike[one, two] for one, two in combinations(chosen, 2))
        and _deal(left - {first, *chosen}, length, alike)
        for chosen in combinations(partners, length - 1)
    )
