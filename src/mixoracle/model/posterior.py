"""From rows to states: the model read as a mixture over its joint states.

P(x) = Σ_h P(h) ∏_i P(x_i | pa(X_i) = h). Densities are evaluated once for each configuration of
the parents, in log space, and a few thousand rows at a time, so that memory does not grow with
the number of rows. Joint states of probability zero take no part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.errors import InvalidInputError
from mixoracle.model.joint_states import states_of_cells
from mixoracle.model.responsibilities import Shares, log_joint, share_out

if TYPE_CHECKING:
    from mixoracle.model.latent_model import LatentModel

# Entries of one chunk of the rows × joint states matrix: about 64 MB.
_CHUNK_ENTRIES = 8_000_000


def posterior_chunks(
    model: LatentModel, blocks: Sequence[Floats]
) -> Iterator[tuple[slice, Integers, Shares]]:
    """Some rows at a time, the joint states that can occur, and the share of the rows in each.

    ``blocks`` are in the order of the model.
    """
    if model.components is None:
        raise InvalidInputError(
            "posteriors need a model with components; this one has none: learn it from data"
        )
    for name, block, held in zip(model.observed_names, blocks, model.components, strict=True):
        if block.shape[1] != held.width:
            raise InvalidInputError(
                f"{name} should have {held.width} columns as in the model; got {block.shape[1]}"
            )
    table = model.joint.table.ravel()
    cells = np.flatnonzero(table > 0)
    codes = model.component_of_states(states_of_cells(cells, model.domain_sizes))
    step = max(1, _CHUNK_ENTRIES // len(cells))
    for start in range(0, len(blocks[0]), step):
        rows = slice(start, min(start + step, len(blocks[0])))
        with np.errstate(over="ignore", invalid="ignore"):
            densities = [
                held.log_density(block[rows])
                for held, block in zip(model.components, blocks, strict=True)
            ]
            joint = log_joint(np.log(table[cells]), densities, codes)
        yield rows, cells, share_out(np.nan_to_num(joint, nan=-np.inf), table[cells])


def most_likely_states(model: LatentModel, blocks: Sequence[Floats]) -> Integers:
    """The most likely joint state of each row, (N, n_latent)."""
    likeliest = np.empty(len(blocks[0]), dtype=np.int64)
    for rows, cells, shares in posterior_chunks(model, blocks):
        likeliest[rows] = cells[shares.responsibilities.argmax(axis=1)]
    return states_of_cells(likeliest, model.domain_sizes)


def state_probabilities(model: LatentModel, blocks: Sequence[Floats]) -> list[Floats]:
    """P(H_j = state | row) for each latent, an (N, dim_j) array each."""
    answer = [np.empty((len(blocks[0]), size)) for size in model.domain_sizes]
    for rows, cells, shares in posterior_chunks(model, blocks):
        states = states_of_cells(cells, model.domain_sizes)
        for j, size in enumerate(model.domain_sizes):
            belongs = states[:, [j]] == np.arange(size)
            answer[j][rows] = shares.responsibilities @ belongs
    return answer


def mean_log_likelihood(model: LatentModel, blocks: Sequence[Floats]) -> float:
    """The mean over rows of log P(x)."""
    chunks = posterior_chunks(model, blocks)
    total = sum(float(shares.log_likelihood.sum()) for _, _, shares in chunks)
    return total / len(blocks[0])


def draw(
    model: LatentModel, n_samples: int, rng: np.random.Generator
) -> tuple[list[Floats], Integers]:
    """Draw a block for each observed variable, and the (n_samples, n_latent) states behind them."""
    if model.components is None:
        raise InvalidInputError("sampling needs a model with components; this one has none")
    states = model.joint.draw(n_samples, rng)
    labels = model.component_of_states(states)
    return [held.sample(labels[:, i], rng) for i, held in enumerate(model.components)], states
