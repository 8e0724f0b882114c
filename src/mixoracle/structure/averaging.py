"""How probable each edge of Λ is: exact averaging over all DAGs, weighted by their evidence.

The evidence of a DAG is exp(score); summed over the DAGs that have an arrow and divided by the sum
over all DAGs, it is the arrow's posterior under a prior that is uniform over DAGs. The sum over the
DAGs of a node set S follows from smaller sets by inclusion and exclusion over the sets T of its
sinks [1]_: Z(S) = Σ_T (−1)^(|T|+1) Z(S∖T) ∏_{j∈T} A_j(S∖T), with A_j(U) the summed weight of the
parent sets of j within U. This counts every DAG once; a sum over orders would count it as often as
it has linear extensions. The posterior of a parent set is the derivative of log Z by the logarithm
of its weight, and one pass backwards gives all of them.

No term is larger than that of any one of its sinks alone, because A_j grows with U; so alternating
sums lose few digits, however far the scores are apart.

By default the evidence is itself an average: BDeu under priors of different weight. Neither BIC nor
any one of them knows how strong effects among latents are, and what is missed because its effect
was expected to be stronger turns arrows round elsewhere (``docs/decisions/086``). No prior has
the strength of every single effect right either, so that evidence counts for a little less than it
says (``docs/decisions/130``).

Assumptions: the score decomposes over nodes. m is at most ``MAX_AVERAGED``: work is m·3^m.

References
----------
.. [1] J. Tian, R. He. Computing posterior probabilities of structural features in Bayesian
   networks. UAI 2009.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.errors import InvalidInputError
from mixoracle.model import Joint, JointTable
from mixoracle.structure.exact import is_feasible
from mixoracle.structure.knowledge import Knowledge, named_nodes
from mixoracle.structure.scores import Score, bdeu_scores, local_scores, make_score

# 12 nodes take about two seconds; each further one more than three times as long.
MAX_AVERAGED = 12
# The power of the evidence. With the states known, 64 of 70 arrows of posterior 0.95 were right at
# N = 1 000 with all of it, 42 of 42 with this; other tables likewise.
_CAUTION = 0.8


class EdgePosterior(NamedTuple):
    """How probable the edges of Λ are.

    Parameters
    ----------
    adjacency : (m, m) array
        Entry [i, j] is the probability that i and j are adjacent; symmetric, 0 on the diagonal.
    arrows : (m, m) array
        Entry [i, j] is the probability of i→j. The two directions add up to the adjacency.

    Examples
    --------
    >>> from mixoracle.model import JointTable
    >>> table = JointTable(np.array([[0.4, 0.1], [0.1, 0.4]]))
    >>> bool(edge_posterior(table, 500).adjacency[0, 1] > 0.99)
    True
    """

    adjacency: Floats
    arrows: Floats


def can_average(joint: Joint) -> bool:
    """Whether the average over all DAGs is within reach for this P(H).

    Examples
    --------
    >>> from mixoracle.model import JointTable
    >>> can_average(JointTable(np.full((2, 2, 2), 0.125)))
    True
    """
    return joint.n_latent <= MAX_AVERAGED and is_feasible(joint)


def edge_posterior(
    joint: JointTable,
    n_samples: float,
    knowledge: Knowledge | None = None,
    score: str | Score | None = None,
    *,
    names: Sequence[str] | None = None,
) -> EdgePosterior:
    """Return the posterior of each adjacency and each arrow, by exact averaging over DAGs.

    Parameters
    ----------
    joint, n_samples, names
        As in :func:`~mixoracle.structure.search`.
    knowledge : Knowledge, optional
        Only DAGs that honour it count.
    score : {"bic", "bdeu"} or Score, optional
        The logarithm of a DAG's weight. Left out, BDeu is averaged over ``PRIOR_WEIGHTS``, and
        counts for 0.8 of what it says.

    Examples
    --------
    >>> import numpy as np
    >>> switch = np.array([[0.45, 0.05], [0.05, 0.45]])
    >>> adjacency, arrows = edge_posterior(JointTable(switch), n_samples=1000)
    >>> float(adjacency[0, 1].round(3)), float(arrows[0, 1].round(3))
    (1.0, 0.5)
    """
    m = joint.n_latent
    if not can_average(joint):
        raise InvalidInputError(
            f"averaging over all graphs takes at most {MAX_AVERAGED} latents, with a table that an "
            f"exact search can hold; got {m} latents: use the learner's bootstrap instead"
        )
    known = (knowledge or Knowledge()).resolved(named_nodes(names, m))
    if m < 2:
        return EdgePosterior(np.zeros((m, m)), np.zeros((m, m)))
    if score is None:
        scores = _CAUTION * bdeu_scores(joint, n_samples)
    else:
        scores = local_scores(make_score(score, joint, n_samples))[None]
    weights = np.stack([known.honoured_by(one) for one in scores])
    arrows = _Averages(weights).arrows()
    return EdgePosterior(np.minimum(arrows + arrows.T, 1.0), arrows)


class _Averages:
    """Sums over DAGs, as logarithms, and their derivatives; several scores side by side."""

    def __init__(self, weights: Floats) -> None:
        # (scores, m, 2^m): the log weight of each parent set, summed up to log A_j(U).
        self._within = weights.copy()
        self._n_scores, self._n_nodes, self._n_sets = weights.shape
        for j in range(self._n_nodes):
            # Split the axis of sets at bit j: (..., above, bit j, below).
            view = self._within.reshape(self._n_scores, self._n_nodes, -1, 2, 1 << j)
            view[..., 1, :] = np.logaddexp(view[..., 1, :], view[..., 0, :])
        self._sums = np.zeros((self._n_scores, self._n_sets))  # log Z(S)
        for whole in range(1, self._n_sets):
            terms, signs, _ = self._terms(whole)
            largest = np.maximum(terms.max(axis=1), np.finfo(float).min)
            total = np.exp(terms - largest[:, None]) @ signs
            with np.errstate(divide="ignore"):
                self._sums[:, whole] = np.log(np.maximum(total, 0.0)) + largest

    def arrows(self) -> Floats:
        """The posterior of each arrow, averaged over the scores by their evidence."""
        evidence = np.exp(self._sums[:, -1] - self._sums[:, -1].max())
        by_score = self._parents_of_each(self._derivatives())
        mean = np.tensordot(evidence / evidence.sum(), by_score, axes=1)
        # Rounding may leave a share that is certain a hair beside 0 or 1.
        return np.asarray(np.clip(mean, 0.0, 1.0))

    def _terms(self, whole: int) -> tuple[Floats, Floats, Integers]:
        """The logarithms of all terms of Z(S), their signs, and the sets of sinks."""
        sinks, signs = _subsets_of(self._members(whole))
        rest = whole ^ sinks
        terms = self._sums[:, rest]
        for j in self._members(whole):
            is_sink = (sinks >> j & 1).astype(bool)
            terms[:, is_sink] += self._within[:, j, rest[is_sink]]
        return terms, signs, sinks

    def _derivatives(self) -> Floats:
        """The derivatives of log Z of all nodes by each log A_j(U)."""
        by_sum = np.zeros_like(self._sums)
        by_sum[:, -1] = 1.0
        by_within = np.zeros_like(self._within)
        for whole in range(self._n_sets - 1, 0, -1):
            terms, signs, sinks = self._terms(whole)
            floor = np.maximum(self._sums[:, whole], np.finfo(float).min)
            shares = np.exp(terms - floor[:, None]) * signs * by_sum[:, whole, None]
            rest = whole ^ sinks
            by_sum[:, rest] += shares
            for j in self._members(whole):
                is_sink = (sinks >> j & 1).astype(bool)
                by_within[:, j, rest[is_sink]] += shares[:, is_sink]
        return by_within

    def _parents_of_each(self, by_within: Floats) -> Floats:
        """The posterior (scores, m, m) of i→j, as [i, j].

        Of the weight A_j(U), the parent sets without i hold A_j(U∖{i}).
        """
        sets = np.arange(self._n_sets)
        result = np.zeros((self._n_scores, self._n_nodes, self._n_nodes))
        for i in range(self._n_nodes):
            with_i = sets[(sets >> i & 1).astype(bool)]
            whole = np.maximum(self._within[:, :, with_i], np.finfo(float).min)
            less = np.minimum(self._within[:, :, with_i ^ 1 << i] - whole, 0.0)
            result[:, i] = (by_within[:, :, with_i] * -np.expm1(less)).sum(axis=-1)
        return result

    def _members(self, subset: int) -> Iterator[int]:
        return (j for j in range(self._n_nodes) if subset >> j & 1)


def _subsets_of(members: Iterator[int]) -> tuple[Integers, Floats]:
    """All nonempty subsets of some nodes as masks, with the sign of each in the sum."""
    masks, signs = np.zeros(1, dtype=np.int64), -np.ones(1)
    for j in members:
        masks, signs = np.r_[masks, masks | 1 << j], np.r_[signs, -signs]
    return masks[1:], signs[1:]
