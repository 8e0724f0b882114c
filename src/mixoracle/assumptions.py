"""The paper's assumptions, each by name, each answered by a verdict that names the offenders.

Identifiability rests on a handful of conditions on Γ, on P(H) and on the components; where one
fails, another model explains the same data and no sample size helps. Each function here decides
one of them for a given model and says in words which latents, states or components break it.
Nothing is estimated: whether data support an assumption is another question.

An answer is exact or withheld. Spans of Γ's columns are computed in integers, a state is empty
when its probability is 0, two components are the same when their parameters are; where the model
does not hold what an assumption speaks of, the verdict is ``None`` and says what is missing.

The paper takes for granted that every latent has a child in Γ (the base case in the proof of
``thm:hidden-bipartite-app`` needs it). Here a childless latent counts against :func:`no_twins`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mixoracle import _column_matroid
from mixoracle.errors import InvalidInputError
from mixoracle.model import Bipartite, ComponentSet, LatentModel

__all__ = [
    "Verdict",
    "check",
    "column_independence",
    "maximality",
    "no_twins",
    "nondegeneracy_distinct",
    "nondegeneracy_positive",
    "span_condition",
    "subset_condition",
]

# A message names this many offenders; ``Verdict.offenders`` holds them all.
_NAMED = 3
# Joint states that are listed by name.
_STATES_NAMED = 8
# Empty states make "depends on one half only" intransitive, and a latent's states must then be
# dealt into rows by trial; 12 states have at most 15 400 deals.
_MAX_DEALT_STATES = 12


@dataclass(frozen=True)
class Verdict:
    """What is known about one assumption.

    Parameters
    ----------
    name : str
        The assumption in plain words.
    label : str
        Its LaTeX label in the paper.
    holds : bool or None
        None where it cannot be decided; ``message`` says why.
    message : str
        One sentence or two, naming latents, observed variables and states.
    offenders : tuple of tuples of str
        What breaks it, one tuple for each breach; empty unless ``holds`` is False.
    """

    name: str
    label: str
    holds: bool | None
    message: str
    offenders: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if (self.holds is False) != bool(self.offenders):
            raise InvalidInputError(
                "a verdict names offenders exactly when the assumption fails; "
                f"{self.name!r} has holds={self.holds} and {len(self.offenders)} offenders"
            )

    def __str__(self) -> str:
        word = {True: "holds", False: "fails", None: "undecided"}[self.holds]
        return f"{self.name}: {word}. {self.message}"


def check(model: LatentModel, order: int = 3) -> tuple[Verdict, ...]:
    """Run every check on one model, in the order in which the paper states them.

    ``order`` is the t of t-recovery for :func:`span_condition`.
    """
    return (
        no_twins(model),
        maximality(model),
        nondegeneracy_positive(model),
        nondegeneracy_distinct(model),
        subset_condition(model),
        span_condition(model, order),
        column_independence(model),
    )


def no_twins(graph: LatentModel | Bipartite) -> Verdict:
    """No two latents drive the same observed variables (``assm:twins``), and none drives nothing.

    Examples
    --------
    >>> print(no_twins(Bipartite([[1, 0, 1], [0, 1, 0], [1, 1, 1]], (2, 2, 3))))
    no twins: fails. H1 drives X1, X3 and so does H3: no data can tell them apart.
    """
    name, label = "no twins", "assm:twins"
    adjacency, latents, observed = _named_graph(graph)
    by_children: defaultdict[bytes, list[int]] = defaultdict(list)
    for j, column in enumerate(adjacency.T):
        by_children[column.tobytes()].append(j)
    offenders = []
    sentences = []
    for group in by_children.values():
        driven = _listed(observed[i] for i in np.flatnonzero(adjacency[:, group[0]]))
        names = tuple(latents[j] for j in group)
        if not driven:
            offenders.append(names)
            verb = "drives" if len(names) == 1 else "drive"
            sentences.append(f"{_listed(names)} {verb} nothing: no data can show it")
        elif len(names) > 1:
            offenders.append(names)
            others = _listed(names[1:])
            verb = "does" if len(names) == 2 else "do"
            sentences.append(
                f"{names[0]} drives {driven} and so {verb} {others}: no data can tell them apart"
            )
    if not offenders:
        return Verdict(name, label, True, "No two latents drive the same observed variables.")
    return Verdict(name, label, False, _sentences(sentences), tuple(offenders))


def subset_condition(graph: LatentModel | Bipartite) -> Verdict:
    """No latent's children all belong to another latent as well (``assum:ssc``).

    Where ne(H_i) ⊆ ne(H_j), the states of H_i can be renamed differently in each state of H_j
    and the renamed model has the same P(X) (``obs:ssc-assum-violated``).
    """
    name, label = "subset condition", "assum:ssc"
    adjacency, latents, observed = _named_graph(graph)
    own = adjacency.T.astype(int) @ (~adjacency).astype(int)  # [i, j] = |ne(H_i) \ ne(H_j)|
    pairs = [(int(i), int(j)) for i, j in np.argwhere(own == 0) if i != j]
    if not pairs:
        message = "Of any two latents, each drives something that the other does not."
        return Verdict(name, label, True, message)
    sentences = [
        f"all that {latents[i]} drives "
        f"({_listed(observed[x] for x in np.flatnonzero(adjacency[:, i])) or 'nothing'}), "
        f"{latents[j]} drives as well: the states of {latents[i]} can be renamed for each state "
        f"of {latents[j]} without a trace in the data"
        for i, j in pairs
    ]
    offenders = tuple((latents[i], latents[j]) for i, j in pairs)
    return Verdict(name, label, False, _sentences(sentences), offenders)


def column_independence(graph: LatentModel | Bipartite) -> Verdict:
    """The columns of Γ are linearly independent (``thm:recovery:eff``), decided in integers.

    Offenders are minimal dependent sets, one for each column beyond the rank.
    """
    name, label = "column independence", "thm:recovery:eff"
    adjacency, latents, _ = _named_graph(graph)
    dependent = _column_matroid.circuits(adjacency)
    if not dependent:
        return Verdict(name, label, True, f"The {len(latents)} columns of Γ are independent.")
    offenders = tuple(tuple(latents[j] for j in sorted(group)) for group in dependent)
    sentences = [f"the columns of {_listed(group)} are linearly dependent" for group in offenders]
    return Verdict(name, label, False, _sentences(sentences), offenders)


def span_condition(graph: LatentModel | Bipartite, order: int = 3) -> Verdict:
    """Any two or more columns of Γ span enough for t-recovery (``thm:hidden-bipartite:eff``).

    The paper asks for dim span{a_j : j ∈ S} ≥ (2/t)|S| + 1. That is not what it derives it from
    and contradicts its own remark that independent columns satisfy it: two independent columns
    span 2 < (2/3)·2 + 1. What ``thm:lovitzpetrov`` gives is 2|S| ≤ t(d - 1) + 1, that is
    d ≥ (2|S| - 1)/t + 1, and that is checked here. Independent columns pass for every t ≥ 3,
    since 2s ≤ t(s - 1) + 1 for s ≥ 2.

    All 2^m subsets are covered, in time polynomial in m (see :mod:`mixoracle._column_matroid`).
    """
    if order < 3:
        raise InvalidInputError(f"the span condition is about orders t of at least 3; got {order}")
    name, label = f"span condition for t = {order}", "thm:hidden-bipartite:eff"
    adjacency, latents, _ = _named_graph(graph)
    crowded = _column_matroid.crowded_columns(adjacency, order)
    if crowded is None:
        message = f"Every set of columns of Γ spans enough for {order}-recovery."
        return Verdict(name, label, True, message)
    chosen = sorted(crowded)
    spanned = _column_matroid.rank(adjacency[:, chosen])
    needed = math.ceil((2 * len(chosen) - 1) / order) + 1
    offender = tuple(latents[j] for j in chosen)
    message = (
        f"The columns of {_listed(offender)} span {spanned} "
        f"{'dimension' if spanned == 1 else 'dimensions'}; counts over sets of up to {order} "
        f"variables are known to suffice from {needed} on."
    )
    return Verdict(name, label, False, message, (offender,))


def nondegeneracy_positive(model: LatentModel) -> Verdict:
    """Every joint state of the latents has positive probability (``assump:strong:NZ``)."""
    name, label = "nondegeneracy (a)", "assump:strong:NZ"
    empty = np.argwhere(model.joint.table == 0)
    everyone = range(model.n_latent)
    rare = _nearly_empty(model)
    if not len(empty):
        smallest = float(model.joint.table.min())
        message = f"Every joint state can occur; the rarest has probability {smallest:.3g}."
        return Verdict(name, label, True, f"{message} {rare}".rstrip())
    offenders = tuple(_state_names(model, everyone, state) for state in empty)
    sentences = [f"the state {_listed(state)} never occurs" for state in offenders]
    return Verdict(name, label, False, f"{_sentences(sentences)} {rare}".rstrip(), offenders)


def _nearly_empty(model: LatentModel) -> str:
    """A sentence on the joint states that occur, but hardly so, given how frequent their parts are.

    Where there are many the latents may be states of a single one.
    """
    cells = [cell for cell in map(tuple, model.joint.nearly_empty()) if model.joint.table[cell] > 0]
    if not cells:
        return ""
    total = 100 * sum(float(model.joint.table[cell]) for cell in cells)
    named = [
        f"{_listed(_state_names(model, range(model.n_latent), np.array(cell)))} "
        f"({100 * float(model.joint.table[cell]):.2g} %)"
        for cell in cells[:_STATES_NAMED]
    ]
    if len(cells) > _STATES_NAMED:
        named.append(f"{len(cells) - _STATES_NAMED} more")
    return (
        f"{len(cells)} of {model.joint.table.size} joint states are nearly empty, given how "
        f"frequent their parts are, and hold {total:.2g} % together: {'; '.join(named)}."
    )


def nondegeneracy_distinct(model: LatentModel) -> Verdict:
    """Different states of pa(S) give different distributions of S (``assump:strong:SDC``).

    It is enough to look at single observed variables. Let a ≠ b be states of pa(S). They differ
    in some H_j ∈ pa(S), and H_j is a parent of some X_i ∈ S. By the Markov property the
    marginals of P(S | a) and P(S | b) at X_i are the components of X_i in the states that a and
    b give pa(X_i), and those states differ too (in H_j). So if the components of X_i are
    pairwise distinct, the marginals differ, and with them the distributions. The converse is the
    case S = {X_i}.

    The paper says that S_3 of ``app:example-nonidentifiable`` satisfies this. It does for S = X
    only: X_1 alone does not tell its states 1 and 2 apart, nor X_2 its states 0 and 1, and
    ``obs:counting`` fails there accordingly (k(X_1) = 2 does not divide k(X) = 3). The message
    of a failed verdict says whether the case S = X holds.
    """
    name, label = "nondegeneracy (b)", "assump:strong:SDC"
    if model.components is None:
        message = "The model does not hold its components, so they cannot be compared."
        return Verdict(name, label, None, message)
    offenders = []
    sentences = []
    for i, held in enumerate(model.components):
        parents = model.parents(i)
        states = list(np.ndindex(*(model.domain_sizes[j] for j in parents)))
        for first, second in combinations(range(held.n_components), 2):
            if held.same_component(first, second):
                one, two = (_state_names(model, parents, states[c]) for c in (first, second))
                offenders.append((model.observed_names[i], ", ".join(one), ", ".join(two)))
                sentences.append(
                    f"{model.observed_names[i]} is distributed alike when {_listed(one)} and "
                    f"when {_listed(two)}"
                )
    if not offenders:
        message = "Each observed variable tells all states of its parents apart."
        return Verdict(name, label, True, message)
    together = _confused_together(model, model.components)
    message = f"{_sentences(sentences)} {together}"
    return Verdict(name, label, False, message, tuple(offenders))


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
        names = _listed(model.latent_names[j] for j in candidates)
        message = f"Whether {names} can be split depends on the components, which are not known."
        return Verdict(name, label, None, message)
    splits = {j: _find_split(model, model.components, j) for j in candidates}
    undecided = [j for j, split in splits.items() if split is None]
    offenders = tuple((model.latent_names[j], *split) for j, split in splits.items() if split)
    if offenders:
        sentences = [
            f"{split[0]} could be two latents, of which {_listed(split[1:])} "
            f"{'needs' if len(split) == 2 else 'need'} only one"
            for split in offenders
        ]
        return Verdict(name, label, False, _sentences(sentences), offenders)
    if undecided:
        message = (
            f"{_listed(model.latent_names[j] for j in undecided)} has more than "
            f"{_MAX_DEALT_STATES} states and some joint states are empty; too many ways to split."
        )
        return Verdict(name, label, None, message)
    return Verdict(name, label, True, "Splitting any latent in two would make twins.")


def _confused_together(model: LatentModel, components: Sequence[ComponentSet]) -> str:
    """Say whether all of X together, the case S = X, tells every joint state apart."""
    states = np.array(list(np.ndindex(*model.domain_sizes)), dtype=np.int64)
    labels = model.component_of_states(states)
    for i, held in enumerate(components):
        # Each component goes by the first one that equals it.
        first_equal = [
            next(c for c in range(k + 1) if held.same_component(c, k))
            for k in range(held.n_components)
        ]
        labels[:, i] = np.array(first_equal)[labels[:, i]]
    seen: dict[bytes, int] = {}
    for row, label in enumerate(labels):
        earlier = seen.setdefault(label.tobytes(), row)
        if earlier != row:
            one, two = (
                _listed(_state_names(model, range(model.n_latent), states[r]))
                for r in (earlier, row)
            )
            return f"Not even all observed variables together tell {one} from {two}."
    return "All observed variables together still tell every joint state apart."


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
    occurs = np.moveaxis(model.joint.marginal(parents).table > 0, axis, 0)
    number = np.moveaxis(np.arange(held.n_components).reshape(occurs.shape), axis, 0)
    size = model.domain_sizes[latent]
    occurs, number = occurs.reshape((size, -1)), number.reshape((size, -1))
    alike = np.eye(size, dtype=bool)
    for first, second in combinations(range(size), 2):
        alike[first, second] = alike[second, first] = all(
            held.same_component(int(number[first, c]), int(number[second, c]))
            for c in np.flatnonzero(occurs[first] & occurs[second])
        )
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


def _named_graph(
    graph: LatentModel | Bipartite,
) -> tuple[NDArray[np.bool_], tuple[str, ...], tuple[str, ...]]:
    """Γ with names: the model's own, or H1, H2, … and X1, X2, … for a bare graph."""
    if isinstance(graph, LatentModel):
        return graph.bipartite, graph.latent_names, graph.observed_names
    latents = tuple(f"H{j + 1}" for j in range(graph.n_latent))
    return graph.adjacency, latents, tuple(f"X{i + 1}" for i in range(graph.n_observed))


def _state_names(
    model: LatentModel, latents: Iterable[int], states: Sequence[int] | NDArray[np.int64]
) -> tuple[str, ...]:
    return tuple(
        f"{model.latent_names[j]}={int(state)}" for j, state in zip(latents, states, strict=True)
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _sentences(clauses: Sequence[str]) -> str:
    """Join the first few clauses into sentences and count the rest."""
    shown = [f"{clause[0].upper()}{clause[1:]}." for clause in clauses[:_NAMED]]
    if len(clauses) > _NAMED:
        shown.append(f"And {len(clauses) - _NAMED} more of the kind.")
    return " ".join(shown)
