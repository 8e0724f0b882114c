"""The assumptions about Γ alone."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from mixoracle import _column_matroid
from mixoracle.assumptions.verdict import Verdict, listed, named_graph, sentences_of
from mixoracle.errors import InvalidInputError
from mixoracle.model import Bipartite, LatentModel


def no_twins(graph: LatentModel | Bipartite) -> Verdict:
    """No two latents drive the same observed variables (``assm:twins``), and none drives nothing.

    Examples
    --------
    >>> no_twins(Bipartite([[1, 0, 1], [0, 1, 0], [1, 1, 1]], (2, 2, 3))).message
    'The same measurements (X1, X3) are driven by H1 and by H3: no data can tell them apart.'
    """
    name, label = "no twins", "assm:twins"
    adjacency, latents, observed = named_graph(graph)
    by_children: defaultdict[bytes, list[int]] = defaultdict(list)
    for j, column in enumerate(adjacency.T):
        by_children[column.tobytes()].append(j)
    offenders = []
    sentences = []
    for group in by_children.values():
        driven = listed(observed[i] for i in np.flatnonzero(adjacency[:, group[0]]))
        names = tuple(latents[j] for j in group)
        if not driven:
            offenders.append(names)
            sentences.append(f"nothing is driven by {listed(names)}: no data can show it")
        elif len(names) > 1:
            offenders.append(names)
            sentences.append(
                f"the same measurements ({driven}) are driven by {' and by '.join(names)}: no data "
                "can tell them apart"
            )
    if not offenders:
        return Verdict(name, label, True, "No two latents drive the same observed variables.")
    return Verdict(name, label, False, sentences_of(sentences), tuple(offenders))


def subset_condition(graph: LatentModel | Bipartite) -> Verdict:
    """No latent's children all belong to another latent as well (``assum:ssc``).

    Where ne(H_i) ⊆ ne(H_j), the states of H_i can be renamed differently in each state of H_j
    and the renamed model has the same P(X) (``obs:ssc-assum-violated``).

    Examples
    --------
    >>> from mixoracle.datasets import subset_violation_a
    >>> subset_condition(subset_violation_a()).holds
    False
    """
    name, label = "subset condition", "assum:ssc"
    adjacency, latents, observed = named_graph(graph)
    own = adjacency.T.astype(int) @ (~adjacency).astype(int)  # [i, j] = |ne(H_i) \ ne(H_j)|
    pairs = [(int(i), int(j)) for i, j in np.argwhere(own == 0) if i != j]
    if not pairs:
        message = "Of any two latents, each drives something that the other does not."
        return Verdict(name, label, True, message)
    sentences = [
        f"all that {latents[i]} drives "
        f"({listed(observed[x] for x in np.flatnonzero(adjacency[:, i])) or 'nothing'}), "
        f"{latents[j]} drives as well: the states of {latents[i]} can be renamed for each state "
        f"of {latents[j]} without a trace in the data"
        for i, j in pairs
    ]
    offenders = tuple((latents[i], latents[j]) for i, j in pairs)
    return Verdict(name, label, False, sentences_of(sentences), offenders)


def column_independence(graph: LatentModel | Bipartite) -> Verdict:
    """The columns of Γ are linearly independent (``thm:recovery:eff``), decided in integers.

    Offenders are minimal dependent sets, one for each column beyond the rank.

    Examples
    --------
    >>> from mixoracle.datasets import independent_latents
    >>> column_independence(independent_latents()).holds
    True
    """
    name, label = "column independence", "thm:recovery:eff"
    adjacency, latents, _ = named_graph(graph)
    dependent = _column_matroid.circuits(adjacency)
    if not dependent:
        return Verdict(name, label, True, "The columns of Γ are independent.")
    offenders = tuple(tuple(latents[j] for j in sorted(group)) for group in dependent)
    sentences = [f"the columns of {listed(group)} are linearly dependent" for group in offenders]
    return Verdict(name, label, False, sentences_of(sentences), offenders)


def span_condition(graph: LatentModel | Bipartite, order: int = 3) -> Verdict:
    """Any two or more columns of Γ span enough for t-recovery (``thm:hidden-bipartite:eff``).

    The paper asks for dim span{a_j : j ∈ S} ≥ (2/t)|S| + 1. That does not follow from its source
    and contradicts its own remark that independent columns satisfy it: two independent columns
    span 2 < (2/3)·2 + 1. ``thm:lovitzpetrov`` gives 2|S| ≤ t(d - 1) + 1, that is
    d ≥ (2|S| - 1)/t + 1, and that is checked here. Independent columns pass for every t ≥ 3,
    since 2s ≤ t(s - 1) + 1 for s ≥ 2.

    All 2^m subsets are covered, in time polynomial in m (see :mod:`mixoracle._column_matroid`).

    Examples
    --------
    >>> from mixoracle.datasets import independent_latents
    >>> span_condition(independent_latents()).holds
    True
    """
    if order < 3:
        raise InvalidInputError(f"the span condition is about orders t of at least 3; got {order}")
    name, label = f"span condition for t = {order}", "thm:hidden-bipartite:eff"
    adjacency, latents, _ = named_graph(graph)
    crowded = _column_matroid.crowded_columns(adjacency, order)
    if crowded is None:
        message = f"Every set of columns of Γ spans enough for {order}-recovery."
        return Verdict(name, label, True, message)
    chosen = sorted(crowded)
    spanned = _column_matroid.rank(adjacency[:, chosen])
    needed = math.ceil((2 * len(chosen) - 1) / order) + 1
    offender = tuple(latents[j] for j in chosen)
    message = (
        f"The columns of {listed(offender)} span {spanned} "
        f"{'dimension' if spanned == 1 else 'dimensions'}; counts over sets of up to {order} "
        f"variables are known to suffice from {needed} on."
    )
    return Verdict(name, label, False, message, (offender,))
