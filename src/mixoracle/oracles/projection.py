"""The oracle for variables that alone show nothing: one mixture over all of X, then projected.

Components over X are found with the observed variables independent given the component
(:mod:`~mixoracle.mixtures.mixture`). Each is projected onto each X_i, and the evidence decides
which projections are one component there; that is the map L. k(S), the weights and the latents
follow as for the signature oracle.

Assumes that X as a whole identifies its components; a product of at least three variables does in
general. Where single variables show their components, the signature oracle is quicker and sees
finer ones.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from mixoracle._checks import check_whole, make_generator
from mixoracle.families.base import joined_families
from mixoracle.families.choice import Families
from mixoracle.labels.labelling import Labelling
from mixoracle.mixtures.mixture import Variable, fit_mixture, unit_variance
from mixoracle.mixtures.preparation import Prepared, prepare
from mixoracle.observations import Observations
from mixoracle.oracles.readings import Progress, ReadingOracle, checked_max_components

# Components over X show in this many rows.
MAX_ROWS = 6_000
# The most components over X; their pairs are compared.
_MOST_COMPONENTS = 400
DEFAULT_STARTS = 4


class ProjectionOracle(ReadingOracle):
    """Learns k(S) and L from one mixture over all observed variables.

    Parameters
    ----------
    max_components : int, optional
        The most components that one observed variable may have; 128 if the rows allow it.
    max_starts : int
        How often the mixture is fitted at most, from different starts, until two of them end at
        the best answer so far.
    families : str or mapping from name to str, optional
        As for :class:`~mixoracle.SignatureOracle`.
    random_state : int, numpy.random.Generator or None

    Attributes
    ----------
    readings_, components_seen_, confidence_
        As :class:`~mixoracle.oracles.readings.ReadingOracle` describes them.
    n_components_ : int
        Components over X that the mixture has.
    n_starts_, n_agreed_ : int
        Starts, and how many of them ended at the answer that was kept.

    Examples
    --------
    >>> from mixoracle.datasets import item_problem
    >>> problem = item_problem(2, 12, n_samples=1000, random_state=1)
    >>> oracle = ProjectionOracle(random_state=0).fit(problem.observations)
    >>> oracle.n_components_
    4
    """

    def __init__(
        self,
        max_components: int | None = None,
        *,
        max_starts: int = DEFAULT_STARTS,
        families: Families = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.max_components = max_components
        self.max_starts = max_starts
        self.families = families
        self.random_state = random_state

    def fit(self, observations: Observations, progress: Progress | None = None) -> ProjectionOracle:
        """Learn from observations; ``progress`` is told what is being done."""
        tell = progress or (lambda _stage: None)
        limit = checked_max_components(self.max_components, observations.n_samples)
        check_whole("max_starts", self.max_starts, at_least=1)
        rng = make_generator(self.random_state)
        with threadpool_limits(limits=1):
            tell("putting the data in order")
            prepared = prepare(observations, self.families)
            searched = prepared.for_search()
            seen = Labelling.draw(searched, rng, MAX_ROWS)
            tell("fitting one mixture over all variables")
            mixture = fit_mixture(_variables(seen), _MOST_COMPONENTS, self.max_starts, rng)
            seen.adopt(mixture.responsibilities, limit)
            tell("decoding the latents")
            self._decode(observations, searched, seen)
        self.n_components_ = mixture.n_components
        self.n_starts_, self.n_agreed_ = mixture.n_starts, mixture.n_agreed
        self._prepared: Prepared | None = prepared
        return self

    def __repr__(self) -> str:
        return (
            f"ProjectionOracle(max_components={self.max_components}, max_starts={self.max_starts})"
        )


def _variables(seen: Labelling) -> list[Variable]:
    """The variables as the mixture sees them; those that can be joined are one, which is quicker.

    Nothing is lost by that: within a component they are independent in any case.
    """
    embeddings = [
        unit_variance(family.embedding(block))
        for family, block in zip(seen.families, seen.blocks, strict=True)
    ]
    alone, joined = joined_families(seen.families)
    variables = [
        Variable(seen.families[i], seen.cells[i], seen.patterns[i], embeddings[i]) for i in alone
    ]
    for family, members in joined:
        features = family.features(np.hstack([seen.blocks[i] for i in members]))
        variables.append(
            Variable(family, features, None, np.hstack([embeddings[i] for i in members]))
        )
    return variables
