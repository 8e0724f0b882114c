"""What the rest of the library asks of a mixture oracle (``defn:mixoracle``).

The paper's oracle hands over weights and components of every marginal mixture. Its own remark
after the definition says how much less is needed: the counts k(S), the weights over X, and the
map L. That is :class:`MixtureOracle`, so an exact oracle and one that learns from data look alike.

An oracle that the learner can use is a :class:`CandidateOracle`, or an object with ``fit`` that
becomes one (:class:`LearningOracle`); the learner checks which before it starts to work. What a
fitted oracle can do beyond its counts has a protocol each, named here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from mixoracle._arrays import Floats, Integers
from mixoracle.model import Bipartite, Projection
from mixoracle.observations import Observations

if TYPE_CHECKING:
    from mixoracle.mixtures.preparation import Prepared
    from mixoracle.oracles.candidate import Candidate
    from mixoracle.oracles.run import Run


@runtime_checkable
class MixtureOracle(Protocol):
    """Answers questions about the mixtures that the latents induce on subsets of X.

    Examples
    --------
    >>> from mixoracle.oracles import ExactOracle
    >>> from mixoracle.datasets import independent_latents
    >>> oracle = ExactOracle(independent_latents())
    >>> isinstance(oracle, MixtureOracle), int(oracle.count([0]))
    (True, 2)
    """

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        ...

    def count(self, subset: Iterable[int], /) -> int:
        """k(S): the number of mixture components over the observed variables in ``subset``."""
        ...

    def projection(self) -> Projection:
        """The map L with the weights of the components over X."""
        ...


@runtime_checkable
class BatchMixtureOracle(MixtureOracle, Protocol):
    """An oracle that answers many counts at once, for callers that need thousands of them.

    Examples
    --------
    >>> from mixoracle.oracles import ExactOracle
    >>> from mixoracle.datasets import independent_latents
    >>> isinstance(ExactOracle(independent_latents()), BatchMixtureOracle)
    True
    """

    def log_counts(self, subsets: Integers, /) -> Floats:
        """Return log k(S) for each row of ``subsets``, an (n_subsets, size) array.

        Repeated members of a row are harmless. Logarithms, because k(S) outgrows 64 bits.
        """
        ...


@runtime_checkable
class AssigningOracle(MixtureOracle, Protocol):
    """A fitted oracle that knows which component over X each row belongs to."""

    @property
    def assignments(self) -> Integers:
        """The row of :meth:`projection` that each sample belongs to, (N,)."""
        ...


@runtime_checkable
class InformedOracle(Protocol):
    """A fitted oracle that needs Γ before it can tell the map L (the paper's step (c))."""

    def informed_by(self, bipartite: Bipartite, /) -> AssigningOracle:
        """The same oracle with Γ."""
        ...


@runtime_checkable
class TolerantOracle(Protocol):
    """A fitted oracle that estimates each count on its own, so that no graph need fit them all."""

    @property
    def count_tolerance(self) -> float:
        """How far log k(S) and what Γ predicts for it may be apart."""
        ...


@runtime_checkable
class LearningOracle(Protocol):
    """An oracle that is yet to see data; ``fit`` returns it, or another one, fitted."""

    def fit(self, observations: Observations, /) -> MixtureOracle:
        """Learn from observations."""
        ...


@runtime_checkable
class CandidateOracle(Protocol):
    """An oracle as the learner uses it."""

    def candidates(self, prepared: Prepared, run: Run, /) -> tuple[Candidate, ...]:
        """Candidates for the answer, those with most evidence first; at least one."""
        ...
