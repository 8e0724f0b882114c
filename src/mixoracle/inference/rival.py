"""A rival without causes: whether something continuous explains the dependence better.

Many states in a row are what any mixture makes of a cause that is not discrete. So the learned
model is held against ones that let measurements depend on each other without any state. If all
coordinates may be jointly normal within a state, states that are pieces of something continuous
are better joined, along a line to one, along a curve to a few, while real states stay apart. For
single columns the normal scores of their ranks are a further rival [1]_. Each is asked how much of
the dependence it explains: the mean log ratio of the joint density to the product of the
variables' own, for which each variable is taken as a mixture or as normal, whichever fits it
better. Every parameter is charged for as BIC does. A last rival lets each row go on from the one
before (:mod:`~mixoracle.inference.succession`).

References
----------
.. [1] J. S. Murray, D. B. Dunson, L. Carin, J. E. Lucas. Bayesian Gaussian copula factor models for
   mixed data. Journal of the American Statistical Association 108 (2013).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import norm, rankdata

from mixoracle._arrays import Bools, Floats, Integers, column_means, rows_with_missing
from mixoracle.assumptions import Verdict
from mixoracle.families.gaussian import GaussianFamily
from mixoracle.inference import succession
from mixoracle.inference.densities import log_densities
from mixoracle.inference.refine import Refinement
from mixoracle.inference.residuals import some_rows
from mixoracle.mixtures.merging import CutPieces, means_of, merge_pieces, stay_apart
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite
from mixoracle.model.joint_states import codes_of_parents, distinct_rows, numbered
from mixoracle.model.responsibilities import log_joint, share_out
from mixoracle.settings import Settings

LABEL = "continuous"
_NAME = "discrete causes"
# A smaller eigenvalue of the correlations: columns that are copies or sums of others explain them
# without end, and tell nothing about causes.
_DETERMINED = 1e-6
# Coordinates have a standard deviation of 1, but for those of a column that is constant up to
# rounding.
_CONSTANT = 1e-6
# Nats a row that a difference must have for some of the rows to be enough: 1 000 of them show it to
# a few tenths.
_CLEARLY = 1.0
_UNREAD = "so do not read the states as separate findings"


@dataclass(frozen=True, eq=False)
class _LookedAt:
    """Evenly spaced ones of the ``n_rows`` whole rows, by their places, in all coordinates.

    ``adjacency`` is Γ in the order of the prepared variables, ``scatter`` that of the coordinates.
    """

    prepared: Prepared
    adjacency: Bools
    places: Integers
    n_rows: int
    together: Floats

    @classmethod
    def of(
        cls, prepared: Prepared, graph: Bipartite, whole: Integers, settings: Settings
    ) -> _LookedAt:
        places = whole[some_rows(len(whole), settings.budget.mixture_rows)]
        together = np.hstack([block.take(places, axis=0) for block in prepared.blocks])
        adjacency = np.asarray(graph.adjacency[prepared.variables])
        return cls(prepared, adjacency, places, len(whole), together)

    @cached_property
    def scatter(self) -> Floats:
        return _scatter(self.together)


def check(
    prepared: Prepared, graph: Bipartite, refinement: Refinement, settings: Settings = Settings()
) -> Verdict:
    """Whether states explain more of the dependence than a continuous cause would."""
    whole = np.flatnonzero(~_has_gaps(prepared))
    looked_at = _LookedAt.of(prepared, graph, whole, settings)
    why_not = _not_judged(looked_at, graph, settings)
    if why_not:
        return Verdict(_NAME, LABEL, None, why_not)
    if _loses_a_state(refinement.states, whole, settings):
        message = "values are missing in one state and not in others, so whole rows do not show it"
        return Verdict(_NAME, LABEL, None, message)
    if _is_determined(looked_at.scatter):
        message = "some measurements are constant, or determined by others"
        return Verdict(_NAME, LABEL, None, message)
    by_states, without, alone = _explained(looked_at, refinement, settings)
    figures = [f"{gain - alone:.2f}" for gain in (by_states, without)]
    if without > by_states:
        return _failed(
            "these data look like a continuous cause: it would explain the dependence better "
            f"than the states do ({figures[1]} against {figures[0]} nats a row), {_UNREAD}"
        )
    gain = _gain_in_time(looked_at, whole, refinement, settings)
    if gain < 0.0:
        return _failed(
            "these data look like a continuous cause: each row goes on from the one before, and "
            f"given that states explain nothing more ({gain:.2f} nats a row), {_UNREAD}"
        )
    more = f"{figures[0]} against {figures[1]} nats a row"
    return Verdict(
        _NAME, LABEL, True, f"states explain more than a continuous cause would ({more})"
    )


def _gain_in_time(
    looked_at: _LookedAt, whole: Integers, refinement: Refinement, settings: Settings
) -> float:
    """What states explain beyond the row before, by the first whole rows in the order of time.

    A few of them are enough where they leave no doubt.
    """
    prepared, budget = looked_at.prepared, settings.budget
    in_time, gain = whole[np.argsort(prepared.rows[whole])], 0.0
    for at_most in sorted({min(n, len(whole)) for n in (budget.shape_rows, budget.mixture_rows)}):
        rows = in_time[:at_most]
        seen, states, _ = distinct_rows(refinement.states[rows])
        codes = codes_of_parents(seen, looked_at.adjacency, refinement.joint.domain_sizes)
        gain = succession.gain_of_states((b[rows] for b in prepared.blocks), states, codes)
        if gain > _CLEARLY:
            break
    return gain


def _explained(
    looked_at: _LookedAt, refinement: Refinement, settings: Settings
) -> tuple[float, float, float]:
    """The mean log density of rows by states, by the best rival, and by each variable alone.

    Parameters are charged for as from all whole rows, wherever their fit is looked at. Some of the
    rows are enough where they leave no doubt.
    """
    prepared, places, together = looked_at.prepared, looked_at.places, looked_at.together

    def by_model() -> Floats:
        return log_densities(prepared, places, looked_at.adjacency, refinement, settings)[0]

    states = distinct_rows(refinement.states[places])[1]
    joined = _log_joined(together, states, by_model, settings)
    joined = max(joined, _log_normal(looked_at.scatter, looked_at.n_rows))
    single = max(block.shape[1] for block in prepared.blocks) == 1
    copula = _log_copula(together) if single else -np.inf
    by_states, without, alone = 0.0, 0.0, 0.0
    for at_most in sorted({min(settings.budget.shape_rows, len(places)), len(places)}):
        rows = places[some_rows(len(places), at_most)]
        by_states, alone = _log_by_states(looked_at, rows, refinement, settings)
        without = max(joined, alone + copula)
        if abs(by_states - without) > _CLEARLY:
            break
    return by_states, without, alone


def _log_by_states(
    looked_at: _LookedAt, rows: Integers, refinement: Refinement, settings: Settings
) -> tuple[float, float]:
    """The mean log density of some rows by states, and by each variable alone.

    A variable alone is a mixture or normal with its scatter, whichever fits better.
    """
    prepared, scatter, n_rows = looked_at.prepared, looked_at.scatter, looked_at.n_rows
    joint, margins = log_densities(prepared, rows, looked_at.adjacency, refinement, settings)
    n_own = [family.n_parameters for family in prepared.families]
    sizes = [held.n_components for held in refinement.components]
    widths = [block.shape[1] for block in prepared.blocks]
    columns = np.split(np.arange(sum(widths)), np.cumsum(widths)[:-1])
    alone = sum(
        max(
            float(own.mean()) - _charge(k * (n + 1) - 1, n_rows),
            _log_normal(scatter[np.ix_(inside, inside)], n_rows),
        )
        for own, k, n, inside in zip(margins, sizes, n_own, columns, strict=True)
    )
    n_parameters = refinement.joint.n_parameters
    n_parameters += sum(k * n for k, n in zip(sizes, n_own, strict=True))
    return float(joint.mean()) - _charge(n_parameters, n_rows), alone


def _failed(message: str) -> Verdict:
    return Verdict(_NAME, LABEL, False, message, ((_NAME,),))


def _has_gaps(prepared: Prepared) -> Bools:
    """Which rows have a missing value, (N,)."""
    gaps = np.zeros(prepared.n_samples, dtype=bool)
    for block in prepared.blocks:
        gaps |= rows_with_missing(block)
    return gaps


def _not_judged(looked_at: _LookedAt, graph: Bipartite, settings: Settings) -> str:
    """Why no continuous cause can be looked for, in words; empty if it can."""
    prepared, together = looked_at.prepared, looked_at.together
    judged = all(encoder.is_shape_judged for encoder in prepared.encoders)
    if not judged or prepared.n_observed < 2 or graph.n_latent == 0:
        return "a continuous cause is not tested in data of this kind"
    if len(together) < settings.priors.rows_per_component * together.shape[1]:
        return "too few whole rows to look for a continuous cause"
    return ""


def _loses_a_state(states: Integers, whole: Integers, settings: Settings) -> bool:
    """Whether some joint state of the rows (N, m) hardly occurs among the ``whole`` ones.

    That is a tenth of the rows that would be whole if values were missing alike in all states.
    """
    _, member, counts = distinct_rows(states)
    expected = counts * (len(whole) / len(member))
    seen = np.bincount(member[whole], minlength=len(counts))
    judged = expected >= settings.priors.rows_per_component
    return bool((seen[judged] < settings.priors.left_out_share * expected[judged]).any())


def _is_determined(scatter: Floats) -> bool:
    """Whether some coordinates with this scatter are constant, or sums of others."""
    scale = np.sqrt(np.diag(scatter))
    if scale.min() <= _CONSTANT:
        return True
    return bool(np.linalg.eigvalsh(scatter / np.outer(scale, scale))[0] <= _DETERMINED)


def _log_joined(
    together: Floats, assignment: Integers, by_model: Callable[[], Floats], settings: Settings
) -> float:
    """The mean log density, charged for, if states are joined that a joint normal does better for.

    Minus infinity if many rows are in states that stay apart: then these are no pieces of something
    continuous, however dependent they are within. If only some of the rows can be looked at, what
    is gained there over ``by_model`` (N,), the log density by states, is taken for all.
    """
    n_rows, width = together.shape
    family = GaussianFamily(width, priors=settings.priors)
    budget = settings.budget
    at_most = min(n_rows, budget.mixture_rows, budget.piece_entries // (width * (width + 3)))
    if at_most < settings.priors.rows_per_component * width:
        return -np.inf
    some = np.linspace(0, n_rows - 1, at_most).astype(np.int64)
    states = numbered(assignment[some])
    n_states = int(states.max()) + 1
    if n_states > budget.components:
        return -np.inf
    rows = together[some]
    pieces, most_alone = family.pooled(rows, states, n_states), settings.priors.left_out_share
    if n_states > 1:
        apart = stay_apart(pieces, _nearest_states(rows, states, settings), family)
        if np.mean(apart[states]) > most_alone:
            return -np.inf
    joined = merge_pieces(pieces, family, CutPieces())
    members = np.bincount(joined.groups)[joined.groups]
    if np.mean(members[states] == 1) > most_alone:
        return -np.inf
    features = family.features(rows)
    shares = np.eye(joined.n_components)[joined.groups[states]]
    for _ in range(budget.em):
        components = family.components(shares.T @ features, joined.prior)
        density = family.log_density(features, components, None)
        shared = share_out(log_joint(np.log(shares.mean(axis=0)), [density]))
        shares = shared.responsibilities
    n_parameters = joined.n_components * (1 + family.n_parameters) - 1
    log_density = by_model()
    gain = float((shared.log_likelihood - log_density[some]).mean())
    return float(log_density.mean()) + gain - _charge(n_parameters, at_most)


def _nearest_states(rows: Floats, states: Integers, settings: Settings) -> Integers:
    """The state whose mean is nearest to that of each state, by the scatter within states."""
    means = means_of(rows, states, int(states.max()) + 1)
    within = _scatter(rows - means[states])
    within[np.diag_indices_from(within)] += settings.priors.variance_floor
    whitened = np.linalg.solve(np.linalg.cholesky(within), means.T).T
    distances = cdist(whitened, whitened)
    np.fill_diagonal(distances, np.inf)
    return np.asarray(distances.argmin(axis=1))


def _charge(n_parameters: int, n_rows: int) -> float:
    """What BIC charges for so many parameters, a row."""
    return 0.5 * n_parameters * float(np.log(n_rows)) / n_rows


def _log_copula(columns: Floats) -> float:
    """What normal scores of the ranks in each column explain, whatever its margin is."""
    n_rows = len(columns)
    scores = norm.ppf((rankdata(columns, axis=0) - 0.5) / n_rows)
    scatter = _scatter(scores)
    apart = sum(_log_normal(np.atleast_2d(own), n_rows) for own in np.diag(scatter))
    return _log_normal(scatter, n_rows) - apart


def _scatter(rows: Floats) -> Floats:
    """The covariance of the columns, as maximum likelihood has it."""
    centred = rows - column_means(rows)
    return np.asarray(centred.T @ centred / len(rows))


def _log_normal(scatter: Floats, n_rows: int) -> float:
    """The mean log density of rows in the normal distribution with their scatter, charged for."""
    width = len(scatter)
    log_density = -0.5 * (np.linalg.slogdet(scatter)[1] + width * (1.0 + np.log(2.0 * np.pi)))
    return float(log_density) - _charge(width * (width + 3) // 2, n_rows)
