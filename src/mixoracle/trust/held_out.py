"""The answer on rows that it was not learned from, beside simpler and continuous rivals.

The rows are split into parts; everything is learned from all parts but one and judged by the mean
log-likelihood of that one. Rivals are one latent for everything, no latent at all (each variable
keeps its own mixture), and a continuous cause (all coordinates jointly normal). Nothing is charged
for parameters: rows that were not seen do that.

Assumes what the learner assumes. A continuous rival exists for numbers without missing values only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import multivariate_normal

from mixoracle._arrays import Floats
from mixoracle.inference.densities import log_densities
from mixoracle.inference.refine import Refinement, refine
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite
from mixoracle.model.joint_states import distinct_rows
from mixoracle.settings import Settings

# A ridge for the covariance of the continuous rival, relative to a coordinate's variance.
_RIDGE = 1e-6


@dataclass(frozen=True)
class HeldOut:
    """By how many nats a row the answer is better than each rival on rows that were not seen.

    None where a rival does not exist. ``n_rows`` is how many rows were judged, and ``better`` the
    share of them that it fits better than no latent does: a few rows of joint states that were not
    learned from can outweigh all others in the mean.
    """

    than_one_latent: float | None
    than_no_latent: float
    than_continuous: float | None
    n_rows: int
    better: float

    @classmethod
    def mean(cls, parts: Sequence[HeldOut]) -> HeldOut:
        """The mean over parts of the rows, each weighted by its rows."""

        def average(name: str) -> float | None:
            held = [(getattr(part, name), part.n_rows) for part in parts]
            known = [(value, rows) for value, rows in held if value is not None]
            if not known:
                return None
            total = sum(rows for _, rows in known)
            return float(sum(value * rows for value, rows in known) / total)

        without, better = average("than_no_latent"), average("better")
        assert without is not None  # every part has it, and the next
        assert better is not None
        n_rows = sum(part.n_rows for part in parts)
        return cls(average("than_one_latent"), without, average("than_continuous"), n_rows, better)

    def sentences(self) -> tuple[str, ...]:
        """A line for each rival that exists.

        Examples
        --------
        >>> HeldOut(None, -1.25, None, 100, 0.9).sentences()[0][-45:]
        'worse than no hidden cause by 1.2 nats a case'
        """
        rivals = (
            ("one hidden cause for everything", self.than_one_latent),
            ("no hidden cause", self.than_no_latent),
            ("a continuous cause", self.than_continuous),
        )
        return tuple(
            f"on {self.n_rows:,} cases that were not learned from, the answer is "
            f"{'better' if gain >= 0 else 'worse'} than {rival} by {abs(gain):.2g} nats a case"
            for rival, gain in rivals
            if gain is not None
        )


def judge(
    train: Prepared,
    test: Prepared,
    graph: Bipartite,
    refinement: Refinement,
    settings: Settings,
) -> HeldOut:
    """Hold what was learned from ``train`` against its rivals on ``test``."""
    adjacency = np.asarray(graph.adjacency[train.variables])
    found, apart = log_densities(test, None, adjacency, refinement, settings)
    alone = np.sum(apart, axis=0)
    answer = float(found.mean())
    return HeldOut(
        than_one_latent=_than_one(train, test, graph, refinement, answer, settings),
        than_no_latent=answer - float(alone.mean()),
        than_continuous=_than_continuous(train, test, answer),
        n_rows=test.n_samples,
        better=float(np.mean(found > alone)),
    )


def _than_one(
    train: Prepared,
    test: Prepared,
    graph: Bipartite,
    refinement: Refinement,
    answer: float,
    settings: Settings,
) -> float | None:
    """Beside one latent whose states are the joint states that occur."""
    _, own, counts = distinct_rows(refinement.states)
    n_states = len(counts)
    if graph.n_latent < 2 or not 2 <= n_states <= settings.budget.compared:
        return None
    driven = np.asarray(graph.adjacency.any(axis=1, keepdims=True))[train.variables]
    single = refine(train, driven, (n_states,), own[:, None], settings.budget.em_short, settings)
    return answer - float(log_densities(test, None, driven, single, settings)[0].mean())


def _than_continuous(train: Prepared, test: Prepared, answer: float) -> float | None:
    """Beside a normal distribution over all coordinates."""
    if not all(encoder.is_shape_judged for encoder in train.encoders):
        return None
    seen, new = np.hstack(train.blocks), np.hstack(test.blocks)
    if np.isnan(seen).any() or np.isnan(new).any() or len(seen) <= seen.shape[1]:
        return None
    scatter: Floats = np.atleast_2d(np.cov(seen, rowvar=False, bias=True))
    scatter = scatter + _RIDGE * np.diag(np.diag(scatter))
    density = multivariate_normal(seen.mean(axis=0), scatter, allow_singular=True)
    return answer - float(np.mean(density.logpdf(new)))
