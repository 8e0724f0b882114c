"""From the solution on a random sample to the one on all rows of a table too large for memory.

The structure, the verdicts and the alternatives stay those of the sample. P(H) and the components
become those of all rows (:mod:`~mixoracle.inference.passes`), and with P(H) the graph among the
latents, which is searched in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from mixoracle._arrays import Integers
from mixoracle.inference.passes import ChunkReader, over_all_rows, spread_over
from mixoracle.model import LatentModel
from mixoracle.model.exposure import Exposure
from mixoracle.observations.chunked import ChunkedObservations
from mixoracle.observations.source import Source
from mixoracle.readable import readable
from mixoracle.solving import Solution, Solver
from mixoracle.trust.starts import Started

if TYPE_CHECKING:
    import numpy as np

    from mixoracle.observations import Observations
    from mixoracle.settings import Settings


def sample_of(
    chunked: ChunkedObservations, settings: Settings, rng: np.random.Generator, n_jobs: int
) -> Observations:
    """The rows from which structure is learned."""
    if chunked.drawn is not None:
        return chunked.drawn
    return chunked.sample(settings.sample_of(chunked.n_columns), rng, spread_over(n_jobs))


def learned_from_all(
    chunked: ChunkedObservations,
    found: Started,
    built: Callable[[Solution], tuple[LatentModel, Integers]],
    solver: Solver,
    source: Source,
    exposure: Exposure | None,
) -> Started:
    """What was found on the sample, the best solution with parameters from all rows."""
    run, best = solver.run, found.solutions[0]
    prepared = best.prepared
    if prepared.observations.n_samples >= chunked.n_rows:  # the sample is the table
        return found
    held = readable(built(best)[0], best, source, exposure, run.settings)
    refinement, passes = over_all_rows(
        chunked,
        ChunkReader.of(held, prepared, chunked.choices.spelling),
        best.refinement,
        best.graph.adjacency[prepared.variables],
        best.graph.domain_sizes,
        run.settings,
        run.report,
        spread_over(run.n_jobs),
    )
    best = replace(best, refinement=refinement, passes=passes)
    return replace(found, solutions=[best, *found.solutions[1:]])
