"""The numbers behind pictures of states: how sure they are, how they follow each other.

Computed here for the report and for matplotlib alike. Everything counts all cases; only the cases
that are named one by one, the least sure and an even sample, are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.report.evidence import Certainty, Sample, Step, Strip, Unsure

if TYPE_CHECKING:
    from mixoracle.oracles.path import Resolution

# Points of one picture: more are not easier to read. Of all pictures together: they share a page.
MAX_POINTS = 400
_MAX_ALL_POINTS, _FEWEST_POINTS = 40_000, 100
# Bins of the probability of a state, from 0 to 1.
CERTAINTY_BINS = 20
# Below this probability a state is called unsure.
UNSURE = 0.9
MAX_LEAST_SURE = 20
# Cases whose state is at least this probable are not listed as the least sure.
SURE = 0.999
# A strip of more runs has less than a pixel for each.
MAX_RUNS = 1000
_DIGITS = 4


def sampled_rows(n_samples: int, n_observed: int) -> Integers:
    """Evenly spaced rows: the same ones for every variable and every run."""
    most = int(np.clip(_MAX_ALL_POINTS // max(n_observed, 1), _FEWEST_POINTS, MAX_POINTS))
    return np.arange(0, n_samples, max(1, -(-n_samples // most)))


def sample_of(
    rows: Integers,
    states: Integers,
    probabilities: Sequence[Floats] | None,
    names: Sequence[str] | None,
) -> Sample:
    """The sampled rows with their states."""
    held = None
    if probabilities is not None:
        each = [
            own[rows, states[rows, j]].round(_DIGITS).tolist()
            for j, own in enumerate(probabilities)
        ]
        held = tuple(zip(*each, strict=True)) if each else ((),) * len(rows)
    return Sample(
        rows=tuple(rows.tolist()),
        names=None if names is None else tuple(names[row] for row in rows),
        states=tuple(map(tuple, states[rows].tolist())),
        probabilities=held,
    )


def certainty_of(
    probabilities: Floats, states: Integers, names: Sequence[str] | None = None
) -> Certainty:
    """How sure the states of one latent are; ``probabilities`` is (N, dim), ``states`` (N,)."""
    n, dim = probabilities.shape
    own = probabilities[np.arange(n), states]
    places = np.minimum((own * CERTAINTY_BINS).astype(np.int64), CERTAINTY_BINS - 1)
    counts = np.bincount(states * CERTAINTY_BINS + places, minlength=dim * CERTAINTY_BINS)
    least = []
    doubtful = np.flatnonzero(own < SURE)
    ranked = doubtful[np.argsort(own[doubtful], kind="stable")]
    for row in ranked[:MAX_LEAST_SURE].tolist():
        others = probabilities[row].copy()
        others[states[row]] = -1.0
        second = int(others.argmax())
        least.append(
            Unsure(
                row=row,
                name=None if names is None else names[row],
                state=int(states[row]),
                probability=round(float(own[row]), _DIGITS),
                second=second,
                second_probability=round(float(max(others[second], 0.0)), _DIGITS),
            )
        )
    return Certainty(
        counts=tuple(map(tuple, counts.reshape(dim, CERTAINTY_BINS).tolist())),
        n_unsure=int((own < UNSURE).sum()),
        least=tuple(least),
    )


def strip_of(states: Integers, domain_sizes: Sequence[int]) -> Strip:
    """States in the order of the rows."""
    step = max(1, -(-len(states) // MAX_RUNS))
    run = np.arange(len(states)) // step
    counts = []
    for j, dim in enumerate(domain_sizes):
        held = np.bincount(run * dim + states[:, j], minlength=(int(run[-1]) + 1) * dim)
        counts.append(tuple(map(tuple, held.reshape(-1, dim).tolist())))
    return Strip(step, tuple(counts))


def path_of(path: Sequence[Resolution], chosen: float) -> tuple[Step, ...]:
    """The answers along the path over resolutions; ``chosen`` is that of the model."""

    def bounded(rows: float) -> float | None:
        return float(rows) if np.isfinite(rows) else None

    return tuple(
        Step(
            finest=bounded(held.finest),
            coarsest=bounded(held.coarsest),
            domain_sizes=tuple(map(int, held.domain_sizes)),
            drives=tuple(
                tuple(np.flatnonzero(column).tolist()) for column in held.graph.adjacency.T
            ),
            chosen=held.coarsest <= chosen <= held.finest,
        )
        for held in path
    )
