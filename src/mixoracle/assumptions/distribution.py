"""Nondegeneracy: the assumptions about P(H) and about the components (``assump:strong``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mixoracle.assumptions.verdict import Verdict, listed, sentences_of, state_names
from mixoracle.model import ComponentSet, JointTable, LatentModel

# Joint states that are listed by name.
_STATES_NAMED = 8
# Joint states that are compared with one another: about a second.
_MAX_COMPARED = 100_000


def nondegeneracy_positive(model: LatentModel) -> Verdict:
    """Every joint state of the latents has positive probability (``assump:strong:NZ``).

    A table shows each. Of a network it is enough to look at each latent with its parents: P(h) is
    a product of their conditional tables.

    Examples
    --------
    >>> from mixoracle.datasets import independent_latents
    >>> nondegeneracy_positive(independent_latents()).holds
    True
    """
    name, label = "nondegeneracy (a)", "assump:strong:NZ"
    tables = {latents: model.joint.marginal(latents) for latents in model.joint.families()}
    offenders = tuple(
        state_names(model, latents, state)
        for latents, held in tables.items()
        for state in np.argwhere(held.table == 0)
    )
    rare = _nearly_empty(model, tables)
    if not offenders:
        smallest = min((float(held.table.min()) for held in tables.values()), default=1.0)
        which = "the rarest" if len(tables) == 1 else "the rarest of a latent and its parents"
        message = f"Every joint state can occur; {which} has probability {smallest:.3g}."
        return Verdict(name, label, True, f"{message} {rare}".rstrip())
    sentences = [f"the state {listed(state)} never occurs" for state in offenders]
    return Verdict(name, label, False, f"{sentences_of(sentences)} {rare}".rstrip(), offenders)


def _nearly_empty(model: LatentModel, tables: Mapping[tuple[int, ...], JointTable]) -> str:
    """A sentence on the joint states that occur, but hardly so, given how frequent their parts are.

    Where there are many the latents may be states of a single one.
    """
    cells = [
        (latents, cell, float(held.table[cell]))
        for latents, held in tables.items()
        for cell in map(tuple, held.nearly_empty())
        if held.table[cell] > 0
    ]
    if not cells:
        return ""
    named = [
        f"{listed(state_names(model, latents, cell))} ({100 * probability:.2g} %)"
        for latents, cell, probability in cells[:_STATES_NAMED]
    ]
    if len(cells) > _STATES_NAMED:
        named.append(f"{len(cells) - _STATES_NAMED} more")
    n_states = sum(held.n_joint for held in tables.values())
    if len(tables) == 1:
        total = 100 * sum(probability for _, _, probability in cells)
        which, held_together = "joint states", f", and hold {total:.2g} % together"
    else:
        which, held_together = "states of a latent and its parents", ""
    return (
        f"{len(cells)} of {n_states} {which} are nearly empty, given how frequent their parts "
        f"are{held_together}: {'; '.join(named)}."
    )


def nondegeneracy_distinct(model: LatentModel) -> Verdict:
    """Different states of pa(S) give different distributions of S (``assump:strong:SDC``).

    It is enough to look at single observed variables. Let a ≠ b be states of pa(S). They differ
    in some H_j ∈ pa(S), and H_j is a parent of some X_i ∈ S. By the Markov property the
    marginals of P(S | a) and P(S | b) at X_i are the components of X_i in the states that a and
    b give pa(X_i), and those states differ too (in H_j). So if the components of X_i are
    pairwise distinct, the marginals differ, and with them the distributions. The converse is the
    case S = {X_i}. States of probability 0 have no such distribution and are not compared.

    The paper says that S_3 of ``app:example-nonidentifiable`` satisfies this. It does for S = X
    only: X_1 alone does not tell its states 1 and 2 apart, nor X_2 its states 0 and 1, and
    ``obs:counting`` fails there accordingly (k(X_1) = 2 does not divide k(X) = 3). The message
    of a failed verdict says whether the case S = X holds.

    Examples
    --------
    >>> from mixoracle.datasets import paper_problem
    >>> problem = paper_problem(2, 5, 3, n_samples=10, random_state=1)
    >>> nondegeneracy_distinct(problem.model).holds
    True
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
        occurring = np.flatnonzero(model.joint.marginal(parents).table.ravel())
        # One pair for each state that is like an earlier one: all pairs may be millions.
        earlier: dict[int, int] = {}
        for code, same in zip(
            occurring.tolist(), held.first_equal()[occurring].tolist(), strict=True
        ):
            first = earlier.setdefault(same, code)
            if first == code:
                continue
            one, two = (state_names(model, parents, states[c]) for c in (first, code))
            offenders.append((model.observed_names[i], ", ".join(one), ", ".join(two)))
            sentences.append(
                f"the distribution of {model.observed_names[i]} is the same when {listed(one)} "
                f"and when {listed(two)}"
            )
    if not offenders:
        message = "Each observed variable tells all states of its parents apart."
        return Verdict(name, label, True, message)
    together = _confused_together(model, model.components)
    message = f"{sentences_of(sentences)} {together}"
    return Verdict(name, label, False, message, tuple(offenders))


def _confused_together(model: LatentModel, components: Sequence[ComponentSet]) -> str:
    """Say whether all of X together, the case S = X, tells every joint state apart."""
    if model.joint.n_joint > _MAX_COMPARED:
        return f"There are {model.joint.sizes_in_words} joint states, too many to compare all."
    states = np.argwhere(model.joint.table > 0)
    labels = model.component_of_states(states)
    for i, held in enumerate(components):
        labels[:, i] = held.first_equal()[labels[:, i]]
    seen: dict[bytes, int] = {}
    for row, label in enumerate(labels):
        earlier = seen.setdefault(label.tobytes(), row)
        if earlier != row:
            one, two = (
                listed(state_names(model, range(model.n_latent), states[r])) for r in (earlier, row)
            )
            return f"Not even all observed variables together tell {one} from {two}."
    return "All observed variables together still tell every joint state apart."
