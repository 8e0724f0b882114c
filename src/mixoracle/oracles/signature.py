"""Our default oracle: every latent leaves its signature in the labels of single variables.

Under nondegeneracy the component of X_i *is* the configuration of pa(X_i), so one mixture for
each observed variable is enough: its labels, put together, are the map L. What one variable
alone cannot tell apart, the others can: the components over all of X are found first as label
tuples, each variable is then cut along them and its pieces are merged by evidence, and all labels
together are decoded to one consistent answer. What was repaired for that is reported.

Assumes that most variables show their components on their own. Where some do not, the candidates
of :class:`~mixoracle.oracles.projection.ProjectionOracle` stand beside its own. ``docs/method.md``
has the whole method.
"""

from __future__ import annotations

import logging
from copy import deepcopy
from dataclasses import replace

from threadpoolctl import threadpool_limits

from mixoracle.labels.labelling import Labelling
from mixoracle.labels.single import label_each
from mixoracle.labels.together import settle
from mixoracle.mixtures.dependence import depends_on_another
from mixoracle.mixtures.preparation import Prepared
from mixoracle.oracles.candidate import Candidate
from mixoracle.oracles.decoded import DecodingOracle, Labelled, decoded_candidates
from mixoracle.oracles.projection import ProjectionOracle
from mixoracle.oracles.run import Run, Stage

logger = logging.getLogger(__name__)


class SignatureOracle(DecodingOracle):
    """Learns k(S) and L from one mixture for each observed variable.

    Parameters and attributes are those of :class:`~mixoracle.oracles.decoded.DecodingOracle`.

    Examples
    --------
    >>> from mixoracle.datasets import paper_problem
    >>> problem = paper_problem(1, 3, 4, n_samples=500, random_state=1, covariance="code")
    >>> oracle = SignatureOracle(random_state=0).fit(problem.observations)
    >>> oracle.count([0, 1, 2]) == problem.model.domain_sizes[0]
    True
    """

    def candidates(self, prepared: Prepared, run: Run, /) -> tuple[Candidate, ...]:
        run = run.with_own(self.max_components, self.n_jobs, self.random_state)
        # The other oracle draws the same numbers, so that it answers as it would alone.
        other_run = replace(run, rng=deepcopy(run.rng))
        # Sums over threads depend on their number; one thread keeps every n_jobs at one answer.
        with threadpool_limits(limits=1):
            labelled = _labelled(prepared.for_search(), run)
            run.report(Stage.DECODING)
            found = decoded_candidates("signature", labelled, run)
            unseen = not_identifiable(prepared, labelled, bool(found[0].repairs), run)
        if not unseen:
            return found
        logger.info("on their own these show no components: %s", ", ".join(unseen))
        return (*found, *ProjectionOracle().candidates(prepared, other_run))


def _labelled(prepared: Prepared, run: Run) -> Labelled:
    """Label each variable on its own, then all of them together."""
    limit = run.components_of_one_variable(prepared.n_samples)
    rows = prepared.searched_rows(prepared.draw(run.settings.budget.search_rows, run.rng))
    run.report(Stage.SEGMENTING)
    single = label_each(rows, limit, run.n_jobs, run.rng, run.settings)
    run.report(Stage.JOINING)
    return Labelled(prepared, rows, settle(rows, single, limit, run.settings))


def not_identifiable(
    prepared: Prepared, labelled: Labelled, was_repaired: bool, run: Run
) -> tuple[str, ...]:
    """The variables that do not show their components on their own, though they have some.

    A variable that depends on no other has no latent that any oracle could see, and one that was
    seen through others is fine if all labels fitted together.
    """
    labelling = labelled.labelling
    suspects = _without_components_alone(prepared, labelling)
    # So that all of them together raise a false alarm no more often than one may.
    chance = run.settings.priors.false_alarm / max(1, len(suspects))
    whitened = [variable.whitened for variable in labelled.rows] if suspects else []
    return tuple(
        prepared.observations.names[prepared.variables[place]]
        for place in suspects
        if (
            was_repaired
            if labelling.labels[:, place].max() > 0
            else depends_on_another(whitened, place, chance)
        )
    )


def _without_components_alone(prepared: Prepared, labelling: Labelling) -> list[int]:
    """Places of variables with one component of their own, or whose kind cannot show any more.

    Numbers of a shape that the family does not fit would be cut up by any mixture, so they do
    not count.
    """
    return [
        place
        for place, (encoder, n_alone) in enumerate(
            zip(prepared.encoders, labelling.n_alone, strict=True)
        )
        if (n_alone == 1 or not encoder.is_identifiable)
        and (labelling.fit.is_trusted or not encoder.is_shape_judged)
    ]
