"""How well a parent set explains a latent, read straight from P(H) and the sample size.

The expected counts are the table times ``n_samples``; nothing is resampled, because drawing more
rows than were seen (as the paper's published code does) makes chance dependence look certain. Both
scores here telescope: local(node, parents) = F(parents ∪ {node}) − F(parents), with one term F
for each set of latents. So Markov-equivalent graphs score alike by construction, and all
m·2^(m−1) local scores cost 2^m marginals.

Assumptions: the table is the maximum-likelihood estimate from ``n_samples`` independent cases
(real numbers are fine: an effective sample size). States and parent configurations that were
never seen add nothing to the likelihood and count in full as parameters, as the standard BIC has
it; so a sparse table leans towards fewer edges, never towards more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from math import inf, prod
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.special import gammaln

from mixoracle._arrays import Floats
from mixoracle.errors import InvalidInputError
from mixoracle.model import JointTable
from mixoracle.model.graphs import bits
from mixoracle.model.network import parents_of

# log N of the BIC never falls below log 2: without a penalty, a fraction of a case would connect
# every pair of latents.
_SMALLEST_PENALISED_SAMPLE = 2.0
# Cases that a BDeu prior may be worth: from effects that nearly determine a latent to slight ones.
PRIOR_WEIGHTS = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)
# BDeu whose prior weight is chosen by the data.
ADAPTIVE = "adaptive"
# Of a table of a latent and its parents, 8 MB; no sample shows so many combinations.
MOST_ENTRIES = 2**20


class Distribution(Protocol):
    """P(H) as far as a search looks at it: in tables of few latents."""

    @property
    def n_latent(self) -> int:
        """How many latents there are."""

    @property
    def domain_sizes(self) -> tuple[int, ...]:
        """The number of states of each latent."""

    def marginal(self, latents: Iterable[int], /) -> JointTable:
        """P of some latents, in the order in which they are named."""


@runtime_checkable
class Score(Protocol):
    """A decomposable score: the sum over nodes of ``local``. Larger is better.

    A search returns an equivalence class, so a score should be equal for Markov-equivalent
    graphs. Where it is not, a class counts as much as its best member.

    Examples
    --------
    >>> from mixoracle.model import JointTable
    >>> isinstance(BDeu(JointTable(np.full((2, 2), 0.25)), 100), Score)
    True
    """

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        ...

    def local(self, node: int, parents: Iterable[int], /) -> float:
        """The contribution of ``node`` when its parents are ``parents``."""
        ...


def checked_sample_size(n_samples: float) -> float:
    """A sample size that can be used; it need not be whole."""
    if not (np.isfinite(n_samples) and n_samples >= 0):
        raise InvalidInputError(f"n_samples should be finite and at least 0; got {n_samples!r}")
    return float(n_samples)


class TableScore(ABC):
    """A score that is a difference of terms, one for each set of latents.

    ``joint`` is P(H), ``n_samples`` how many cases it was estimated from; at least 0.
    """

    def __init__(self, joint: Distribution, n_samples: float) -> None:
        self.joint = joint
        self.n_samples = checked_sample_size(n_samples)
        self._known: dict[int, float] = {}

    @property
    def n_nodes(self) -> int:
        """The number of latents, m."""
        return self.joint.n_latent

    @abstractmethod
    def _term(self, marginal: Floats) -> float:
        """F of the set of latents whose marginal table is given."""

    def local(self, node: int, parents: Iterable[int], /) -> float:
        """F(parents ∪ {node}) − F(parents); −∞ where no memory has room for such a table."""
        below = sum(1 << parent for parent in set(parents))
        if below >> node & 1:
            raise InvalidInputError(f"node {node} cannot be its own parent")
        if prod(self.joint.domain_sizes[j] for j in (*bits(below), node)) > MOST_ENTRIES:
            return -inf
        return self._cached(below | 1 << node) - self._cached(below)

    def _cached(self, subset: int) -> float:
        if subset not in self._known:
            self._known[subset] = self._term(self.joint.marginal(bits(subset)).table)
        return self._known[subset]

    @cached_property
    def terms(self) -> Floats:
        """F of every set of latents; entry ``s`` is the set of the bits of ``s``."""
        result = np.empty(1 << self.n_nodes)
        for subset, marginal in margins(self.joint):
            result[subset] = self._term(marginal)
        self._known = dict(enumerate(result.tolist()))
        return result


def margins(joint: Distribution) -> Iterator[tuple[int, Floats]]:
    """The table of every set of latents, with the set as bits.

    They are summed out one axis at a time, so that the work is ∏(1 + dim(H_j)) and not 2^m passes
    over the table.
    """
    m = joint.n_latent
    waiting = [((1 << m) - 1, joint.marginal(range(m)).table, 0)]
    while waiting:
        subset, marginal, first = waiting.pop()
        yield subset, marginal
        for j in range(first, m):
            # Latents below ``first`` that are still there stay; position = how many remain.
            axis = (subset & ((1 << j) - 1)).bit_count()
            waiting.append((subset & ~(1 << j), marginal.sum(axis=axis), j + 1))


class BIC(TableScore):
    """Log-likelihood minus ½ log N for each free parameter.

    The number of parameters of a node is ∏ dim(parents) · (dim(node) − 1), whether or not all
    those configurations were seen.

    Examples
    --------
    >>> import numpy as np
    >>> score = BIC(JointTable(np.array([[0.4, 0.1], [0.1, 0.4]])), n_samples=100)
    >>> bool(score.local(1, [0]) > score.local(1, []))
    True
    """

    def _term(self, marginal: Floats) -> float:
        seen = marginal[marginal > 0]
        log_likelihood = self.n_samples * float(seen @ np.log(seen))
        log_n = float(np.log(max(self.n_samples, _SMALLEST_PENALISED_SAMPLE)))
        return log_likelihood - 0.5 * log_n * marginal.size


class BDeu(TableScore):
    """Log marginal likelihood under a Dirichlet prior that is uniform over joint states.

    The prior is worth ``equivalent_sample_size`` cases, spread evenly over the joint states. Graphs
    with one edge more are less likely by ``edge_cost`` nats beforehand.

    Examples
    --------
    >>> from mixoracle.model import JointTable
    >>> score = BDeu(JointTable(np.array([[0.4, 0.1], [0.1, 0.4]])), 100)
    >>> score.local(1, (0,)) > score.local(1, ())
    True
    """

    def __init__(
        self,
        joint: Distribution,
        n_samples: float,
        equivalent_sample_size: float = 1.0,
        edge_cost: float = 0.0,
    ) -> None:
        super().__init__(joint, n_samples)
        if not (np.isfinite(equivalent_sample_size) and equivalent_sample_size > 0):
            raise InvalidInputError(
                "the equivalent sample size should be finite and above 0; "
                f"got {equivalent_sample_size!r}"
            )
        self.equivalent_sample_size = float(equivalent_sample_size)
        self.edge_cost = edge_cost

    def _term(self, marginal: Floats) -> float:
        weights = np.array([self.equivalent_sample_size])
        return float(_bdeu_terms(marginal, self.n_samples, weights, self.edge_cost)[0])


def _bdeu_terms(marginal: Floats, n_samples: float, weights: Floats, edge_cost: float) -> Floats:
    """F of one set of latents for priors that are worth so many cases, (p,)."""
    priors = weights / marginal.size
    counts = n_samples * marginal[marginal > 0]
    # One pair more for each parent that a node has: the differences charge for edges.
    charge = edge_cost * marginal.ndim * (marginal.ndim - 1) / 2
    of_counts = gammaln(counts + priors[:, None]).sum(axis=1)
    return np.asarray(of_counts - len(counts) * gammaln(priors) - charge)


def bdeu_scores(joint: Distribution, n_samples: float, edge_cost: float = 0.0) -> Floats:
    """All local scores (p, m, 2^m) of :class:`BDeu` under each of the :data:`PRIOR_WEIGHTS`."""
    weights, n_cases = np.array(PRIOR_WEIGHTS), checked_sample_size(n_samples)
    terms = np.empty((len(weights), 1 << joint.n_latent))
    for subset, marginal in margins(joint):
        terms[:, subset] = _bdeu_terms(marginal, n_cases, weights, edge_cost)
    return _telescoped(terms)


def _telescoped(terms: Floats) -> Floats:
    """Local scores (..., m, 2^m) from the terms of all sets (..., 2^m)."""
    subsets = np.arange(terms.shape[-1])
    m = len(subsets).bit_length() - 1
    result = np.full((*terms.shape[:-1], m, len(subsets)), -np.inf)
    for node in range(m):
        without = subsets[(subsets >> node & 1) == 0]
        result[..., node, without] = terms[..., without | 1 << node] - terms[..., without]
    return result


def local_scores(score: Score) -> Floats:
    """All local scores: entry [i, s] is that of node i with the bits of s as its parents.

    Entries with i among its own parents are −inf.
    """
    if isinstance(score, TableScore):
        return _telescoped(score.terms)
    m = score.n_nodes
    result = np.full((m, 1 << m), -np.inf)
    for node in range(m):
        for subset in range(1 << m):
            if not subset >> node & 1:
                parents = tuple(j for j in range(m) if subset >> j & 1)
                result[node, subset] = score.local(node, parents)
    return result


def total(score: Score, edges: Iterable[tuple[int, int]]) -> float:
    """The score of a whole DAG."""
    parents = parents_of(edges, score.n_nodes)
    return float(sum(score.local(node, found) for node, found in enumerate(parents)))


_SCORES: dict[str, type[BIC] | type[BDeu]] = {"bic": BIC, "bdeu": BDeu}


def make_score(score: str | Score, joint: Distribution, n_samples: float) -> Score:
    """A score by its short name, or the caller's own."""
    if isinstance(score, str):
        if score not in _SCORES:
            known = ", ".join(map(repr, [*_SCORES, ADAPTIVE]))
            raise InvalidInputError(
                f"score should be one of {known} or an object with "
                f"n_nodes and local(node, parents); got {score!r}"
            )
        return _SCORES[score](joint, n_samples)
    if not isinstance(score, Score):
        raise InvalidInputError(
            "a score needs n_nodes and local(node, parents); "
            f"got an object of type {type(score).__name__}"
        )
    if score.n_nodes != joint.n_latent:
        raise InvalidInputError(
            f"the score is over {score.n_nodes} nodes, P(H) over {joint.n_latent} latents"
        )
    return score
