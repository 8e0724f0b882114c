"""The evidence of a fitted learner, taken once, right after learning.

Only a sample of points is kept for each variable; everything else is a summary. Values may be
missing: sums and densities go over the values that are there, and a case is pictured where enough
of it is known.

Assumes a fitted learner and the observations that it learned from.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from mixoracle._arrays import Floats
from mixoracle.assumptions.verdict import state_names
from mixoracle.model import LatentModel
from mixoracle.model.emptiness import independent
from mixoracle.observations import Observations
from mixoracle.report.evidence import Alternative, Count, Evidence
from mixoracle.report.measurements import (
    as_learned,
    effects_of,
    measured,
    scatter_of,
    separation_of,
    shapes_of,
)
from mixoracle.report.notes import notes_of
from mixoracle.report.plain_words import plain_overall, plain_verdict, plain_words
from mixoracle.report.states import certainty_of, path_of, sample_of, sampled_rows, strip_of
from mixoracle.settings import Priors
from mixoracle.trust.checks import FALSE_ALARM
from mixoracle.trust.edges import pair_supports

if TYPE_CHECKING:
    from mixoracle import solving
    from mixoracle.learner import LatentGraphLearner

# Pairs grow with the square of the variables; beyond this the least certain cannot be read anyway.
MAX_PAIRS = 2000
# A joint state that expects less than one case cannot be distinguished from an empty one.
_FEWEST_CASES = 1.0
# One that has more cases than a component needs to be seen, and more than this share, is not empty.
_NEARLY_NONE = 0.001


def gather(
    fitted: LatentGraphLearner,
    observations: Observations,
    failure: str = "",
    notes: Sequence[str] = (),
    probabilities: Sequence[Floats] | None = None,
) -> Evidence:
    """Take from a fitted learner, and from the data it saw, all that a report needs.

    ``probabilities`` are those of the states of each row, as ``predict_proba`` returns them;
    without them the report cannot say how sure the states are.
    """
    model = fitted.model_
    n = model.n_observed
    named = [column.title for column in fitted.columns_]
    say = plain_words([*named, *model.observed_names, *model.latent_names])
    learned = as_learned(fitted, observations)
    numeric = measured(fitted, learned)
    chosen = sampled_rows(observations.n_samples, n)
    pairs = islice(combinations(range(n), 2), MAX_PAIRS)
    return Evidence(
        n_samples=observations.n_samples,
        observed_names=model.observed_names,
        columns=fitted.columns_,
        state_sizes=tuple(
            tuple(np.bincount(fitted.states_[:, j], minlength=size).tolist())
            for j, size in enumerate(model.domain_sizes)
        ),
        singles=tuple(_count(fitted, (i,)) for i in range(n)),
        pairs=tuple(_count(fitted, pair) for pair in pairs),
        verdicts=tuple(plain_verdict(verdict, say) for verdict in fitted.assumptions_),
        repairs=tuple(map(say, fitted.repairs_)),
        alternatives=tuple(
            _alternative(other, observations.n_samples) for other in fitted.alternatives_
        ),
        scatters=tuple(
            scatter_of(numeric[i], chosen, separation_of(model, learned, fitted.states_, i))
            for i in range(n)
        ),
        effects=effects_of(model, numeric, fitted.states_),
        shapes=shapes_of(model, numeric, fitted.states_),
        sample=sample_of(chosen, fitted.states_, probabilities, observations.ids),
        strip=strip_of(fitted.states_, model.domain_sizes),
        certainty=tuple(
            certainty_of(own, fitted.states_[:, j], observations.ids)
            for j, own in enumerate(probabilities or ())
        ),
        path=path_of(fitted.resolutions_, fitted.resolution_),
        residual=float(fitted.bipartite_.residual),
        method=str(fitted.bipartite_.method),
        bic=float(fitted.bic_),
        log_likelihood=float(fitted.log_likelihood_),
        converged=bool(fitted.converged_),
        n_iter=int(fitted.n_iter_),
        failure=say(failure),
        verdict=plain_overall(fitted.verdict_, say),
        n_starts=fitted.n_starts_,
        n_starts_agreed=fitted.n_starts_agreed_,
        edges=pair_supports(
            model, observations.n_samples, fitted.edge_posterior_, fitted.known_arrows_
        ),
        drives=tuple(tuple(own) for own in fitted.drive_posterior_.tolist()),
        notes=notes_of(fitted, observations.ids, notes),
    )


def _count(fitted: LatentGraphLearner, members: tuple[int, ...]) -> Count:
    answer = fitted.counts_[frozenset(members)]
    return Count(members, int(answer), answer.seen, answer.confidence)


def rare_states(model: LatentModel, n_samples: int) -> tuple[str, ...]:
    """The joint states that are empty or nearly so, rarest first; a single latent has none.

    Each with the number of cases that P(H) expects in it. Of a network, those of each latent with
    its parents.
    """
    families = [latents for latents in model.joint.families() if len(latents) > 1]
    tables = [model.joint.marginal(latents) for latents in families]
    n_states = sum(held.n_joint for held in tables)
    rare = []
    for latents, held in zip(families, tables, strict=True):
        cases = n_samples * held.table
        is_rare = np.zeros(cases.shape, dtype=bool)
        is_rare[tuple(held.nearly_empty().T)] = True
        is_rare &= cases < max(Priors.rows_per_component, _NEARLY_NONE * n_samples)
        is_rare |= cases < _FEWEST_CASES
        # Where few cases were to be expected anyway, that there are none says nothing.
        is_rare &= n_samples * independent(held.table) > np.log(n_states / FALSE_ALARM)
        for state in np.argwhere(is_rare):
            named = ", ".join(state_names(model, latents, state))
            rare.append((float(cases[tuple(state)]), named))
    rare.sort(key=lambda entry: entry[0])
    return tuple(f"{named} ({expected:.1f} cases)" for expected, named in rare)


def _alternative(other: solving.Alternative, n_samples: int) -> Alternative:
    model = other.model
    return Alternative(
        bic_gap=float(other.bic_gap),
        domain_sizes=model.domain_sizes,
        drives=tuple(model.children(j) for j in range(model.n_latent)),
        latent_names=model.latent_names,
        directed=tuple(sorted(model.latent_graph.directed)),
        undirected=model.latent_graph.links,
        rare=rare_states(model, n_samples),
        rejected=other.rejected,
        change=other.change,
    )
