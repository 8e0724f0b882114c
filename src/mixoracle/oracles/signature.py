"""Our default oracle: every latent leaves its signature in the labels of single variables.

Under nondegeneracy the component of X_i *is* the configuration of pa(X_i), so one mixture for
each observed variable is enough: its labels, put together, are the map L. What one variable
alone cannot tell apart, the others can: the components over all of X are found first as label
tuples, each variable is then cut along them and its pieces are merged by evidence, and all labels
together are decoded to one consistent answer. What was repaired for that is reported.

Assumes that most variables show their components on their own. Which ones do not is told: for
them there is :class:`~mixoracle.oracles.projection.ProjectionOracle`.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from mixoracle._checks import make_generator
from mixoracle.families.choice import Families
from mixoracle.labels.labelling import Labelling
from mixoracle.mixtures.preparation import Prepared, prepare
from mixoracle.observations import Observations
from mixoracle.oracles.readings import (
    Progress,
    ReadingOracle,
    check_n_jobs,
    checked_max_components,
)


class SignatureOracle(ReadingOracle):
    """Learns k(S) and L from one mixture for each observed variable.

    Parameters
    ----------
    max_components : int, optional
        The most components that one observed variable may have; 128 if the rows allow it.
    families : str or mapping from name to str, optional
        The family of the components, of all or of some variables, where the kind of a column
        does not tell it: gaussian, diagonal, student, gamma or counts.
    n_jobs : int
        Variables that are worked on at the same time. The answer does not depend on it.
    random_state : int, numpy.random.Generator or None

    Attributes
    ----------
    readings_, components_seen_, confidence_
        As :class:`~mixoracle.oracles.readings.ReadingOracle` describes them.
    blind_ : tuple of str
        Observed variables that have components, but show none on their own, or cannot by their
        kind.
    tail_ratio_ : float or None
        How heavy the tails of a typical component are, relative to the family's.
    is_family_trusted_ : bool
        False where tails were so heavy that components were told by gaps in density.
    """

    def __init__(
        self,
        max_components: int | None = None,
        *,
        families: Families = None,
        n_jobs: int = 1,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.max_components = max_components
        self.families = families
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, observations: Observations, progress: Progress | None = None) -> SignatureOracle:
        """Learn from observations; ``progress`` is told what is being done."""
        tell = progress or (lambda _stage: None)
        limit = checked_max_components(self.max_components, observations.n_samples)
        check_n_jobs(self.n_jobs)
        rng = make_generator(self.random_state)
        # Sums over threads depend on their number; one thread keeps every n_jobs at one answer.
        with threadpool_limits(limits=1):
            tell("putting the data in order")
            prepared = prepare(observations, self.families)
            searched = prepared.for_search()
            seen = Labelling.draw(searched, rng)
            tell("finding the components of each variable")
            seen.segment_all(limit, self.n_jobs, rng)
            tell("finding the components over all variables")
            seen.settle(limit)
            tell("decoding the latents")
            self._decode(observations, searched, seen)
        self.tail_ratio_ = seen.tail_ratio
        self.is_family_trusted_ = seen.is_family_trusted
        self.blind_ = _blind(observations.names, prepared, seen, bool(self.readings_[0].repairs))
        self._prepared = prepared
        return self

    def __repr__(self) -> str:
        return f"SignatureOracle(max_components={self.max_components})"


def _blind(
    names: tuple[str, ...], prepared: Prepared, seen: Labelling, was_repaired: bool
) -> tuple[str, ...]:
    """The variables that alone say nothing about their components, though they have some.

    A variable that nothing goes with has no hidden cause that could be seen by any oracle, and one
    that was seen through others is not blind if all labels fitted together.
    """
    suspects = [
        place
        for place, (encoder, n_alone) in enumerate(
            zip(prepared.encoders, seen.n_alone, strict=True)
        )
        # Numbers of a shape that the family does not fit would be cut up by any mixture.
        if (n_alone == 1 or not encoder.is_identifiable)
        and (seen.is_family_trusted or encoder.numbers is None)
    ]
    seen_through_others = seen.labels.max(axis=0) > 0
    return tuple(
        names[prepared.variables[place]]
        for place in suspects
        if (was_repaired if seen_through_others[place] else seen.goes_with_another(place))
    )
