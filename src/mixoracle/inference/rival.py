"""A rival without causes: whether something continuous explains better what goes together.

Many states in a row are what any mixture makes of a cause that is not discrete. So the learned
model is held against one that knows of no states: one or several linear factors, which make the
coordinates of all variables jointly normal, or, of single columns, the normal scores of their ranks
[1]_. Both are asked how much of what goes together they explain: the mean log ratio
of the joint density to the product of the variables' own, for which each variable is taken as a
mixture or as normal, whichever fits it better. Every parameter is charged for as BIC does.

Sees factors that act monotonically on columns, or linearly. A continuous cause that acts in both
directions is not seen here; it leaves dependence within states.

References
----------
.. [1] J. S. Murray, D. B. Dunson, L. Carin, J. E. Lucas. Bayesian Gaussian copula factor models for
   mixed data. Journal of the American Statistical Association 108 (2013).
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm, rankdata

from mixoracle._arrays import Floats, Integers
from mixoracle.assumptions import Verdict
from mixoracle.inference.refine import Refinement
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite
from mixoracle.model.joint_states import configurations
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


def check(
    prepared: Prepared, graph: Bipartite, refinement: Refinement, settings: Settings = Settings()
) -> Verdict:
    """Whether states explain more of what goes together than a continuous cause would."""
    whole = ~np.any([np.isnan(block).any(axis=1) for block in prepared.blocks], axis=0)
    judged = all(encoder.is_shape_judged for encoder in prepared.encoders)
    if not judged or prepared.n_observed < 2 or graph.n_latent == 0:
        return Verdict(_NAME, LABEL, None, "no continuous cause was looked for in such data")
    width = sum(block.shape[1] for block in prepared.blocks)
    if whole.sum() < settings.priors.rows_per_component * width:
        return Verdict(_NAME, LABEL, None, "too few whole rows to look for a continuous cause")
    n_rows = int(whole.sum())
    blocks = [block[whole] for block in prepared.blocks]
    together = np.hstack(blocks)
    scatter = np.atleast_2d(np.cov(together, rowvar=False, bias=True))
    scale = np.sqrt(np.diag(scatter))
    scaled = scatter / np.outer(scale, scale) if scale.min() > _CONSTANT else np.zeros((1, 1))
    if np.linalg.eigvalsh(scaled)[0] <= _DETERMINED:
        return Verdict(
            _NAME, LABEL, None, "some measurements are constant, or determined by others"
        )
    codes = configurations(graph.adjacency[prepared.variables], graph.domain_sizes)
    joint, margins = _densities(prepared, refinement, codes, settings)
    n_own = [family.n_parameters for family in prepared.families]
    alone = sum(
        max(
            float(own[whole].mean()) - _charge(int(code.max()) * (n + 1) + n, n_rows),
            _log_normal(block),
        )
        for own, code, n, block in zip(margins, codes.T, n_own, blocks, strict=True)
    )
    n_parameters = (
        len(codes)
        - 1
        + sum((int(code.max()) + 1) * n for code, n in zip(codes.T, n_own, strict=True))
    )
    by_states = float(joint[whole].mean()) - _charge(n_parameters, n_rows) - alone
    straight = _log_normal(together) - alone
    without = max(straight, _log_copula(blocks)) if width == len(blocks) else straight
    figures = f"{without:.2f} against {by_states:.2f} nats a row"
    if without <= by_states:
        return Verdict(
            _NAME, LABEL, True, f"states explain more than a continuous cause would ({figures})"
        )
    return Verdict(
        _NAME,
        LABEL,
        False,
        "these data look like a continuous cause: it would explain more of what goes together "
        f"than the states do ({figures}), so do not read the states as separate findings",
        ((_NAME,),),
    )


def _charge(n_parameters: int, n_rows: int) -> float:
    """What BIC charges for so many parameters, a row."""
    return 0.5 * n_parameters * float(np.log(n_rows)) / n_rows


def _densities(
    prepared: Prepared, refinement: Refinement, codes: Integers, settings: Settings
) -> tuple[Floats, list[Floats]]:
    """The log density (N,) of each row in the model, and of each variable of it on its own."""
    weights = [refinement.weights, *(np.bincount(code, refinement.weights) for code in codes.T)]
    logs = [np.log(np.maximum(held, np.finfo(float).tiny)) for held in weights]
    joint = np.empty(prepared.n_samples)
    margins = [np.empty(prepared.n_samples) for _ in codes.T]
    for rows in prepared.chunks(len(codes), settings.budget.chunk_entries):
        densities = prepared.log_densities(refinement.components, rows)
        joint[rows] = share_out(log_joint(logs[0], densities, codes)).log_likelihood
        for margin, own, density in zip(margins, logs[1:], densities, strict=True):
            margin[rows] = share_out(log_joint(own, [density])).log_likelihood
    return joint, margins


def _log_copula(columns: list[Floats]) -> float:
    """What the normal scores of ranks explain by their correlations, whatever the margins are."""
    scores = [norm.ppf((rankdata(column, axis=0) - 0.5) / len(column)) for column in columns]
    return _log_normal(np.hstack(scores)) - sum(map(_log_normal, scores))


def _log_normal(block: Floats) -> float:
    """The mean log density of rows in the normal distribution that fits them best, charged for."""
    n_rows, width = block.shape
    scatter = np.atleast_2d(np.cov(block, rowvar=False, bias=True))
    log_density = -0.5 * (np.linalg.slogdet(scatter)[1] + width * (1.0 + np.log(2.0 * np.pi)))
    return float(log_density) - _charge(width * (width + 3) // 2, n_rows)
