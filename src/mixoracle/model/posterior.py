"""From rows to states: the model read as a mixture over its joint states.

P(x) = Σ_h P(h) ∏_i P(x_i | pa(X_i) = h). Densities are evaluated once for each configuration of
the parents, in log space, and a few thousand rows at a time, so that memory does not grow with
the number of rows. Joint states of probability zero take no part. Where there are too many joint
states to list, :mod:`~mixoracle.model.row_posterior` compares a row with those that it leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers, unlikely_at_nan
from mixoracle.errors import InvalidInputError
from mixoracle.model.joint import Joint
from mixoracle.model.joint_states import codes_of_parents, n_configurations, states_of_cells
from mixoracle.model.responsibilities import Shares, log_joint, share_out
from mixoracle.model.row_posterior import RowInference
from mixoracle.settings import Budget

if TYPE_CHECKING:
    from mixoracle.model.latent_model import LatentModel

# Entries of one chunk of the rows × joint states matrix, and of all densities: about 64 MB.
_CHUNK_ENTRIES = 8_000_000
# Up to so many joint states a row is compared with all of them, as in learning.
_MOST_LISTED = Budget().listed


class Posterior(Protocol):
    """What is known of the states of some rows."""

    @property
    def best(self) -> Integers:
        """The most likely joint state of each row, (N, m)."""

    @property
    def log_likelihood(self) -> Floats:
        """The log density of each row, (N,)."""

    def probabilities(self, domain_sizes: Sequence[int]) -> list[Floats]:
        """P(H_j = state | row) for each latent, an (N, dim_j) array each."""


@dataclass(frozen=True, eq=False)
class ListedPosterior:
    """Rows shared out among the joint states ``states`` (A, m) that can occur."""

    states: Integers
    shares: Shares

    @property
    def best(self) -> Integers:
        """The most likely joint state of each row, (N, m)."""
        return np.asarray(self.states[self.shares.responsibilities.argmax(axis=1)])

    @property
    def log_likelihood(self) -> Floats:
        """The log density of each row, (N,)."""
        return self.shares.log_likelihood

    def probabilities(self, domain_sizes: Sequence[int]) -> list[Floats]:
        """P(H_j = state | row) for each latent, an (N, dim_j) array each."""
        return [
            self.shares.responsibilities @ (self.states[:, [j]] == np.arange(size))
            for j, size in enumerate(domain_sizes)
        ]


class Inference(Protocol):
    """From the log densities of rows in the components of each X_i, (N, k_i), to their states."""

    def __call__(self, densities: Sequence[Floats], start: Integers | None = None) -> Posterior:
        """``start`` (N, m) is a good joint state of each row, where one is known."""


def inference_of(adjacency: Bools, joint: Joint) -> tuple[Inference, int]:
    """How rows are shared out by Γ and P(H), and how many numbers that takes for each row.

    These are at least the densities that it starts from.
    """
    n_densities = sum(n_configurations(adjacency, joint.domain_sizes))
    if joint.n_joint > _MOST_LISTED:
        inference = RowInference(adjacency, joint.domain_sizes, joint.factors())
        return inference.posterior, n_densities
    table = joint.table.ravel()
    cells = np.flatnonzero(table > 0)
    states = states_of_cells(cells, joint.domain_sizes)
    codes = codes_of_parents(states, adjacency, joint.domain_sizes)
    log_weights = np.log(table[cells])

    def listed(densities: Sequence[Floats], start: Integers | None = None) -> Posterior:
        together = unlikely_at_nan(log_joint(log_weights, densities, codes))
        return ListedPosterior(states, share_out(together, table[cells]))

    return listed, max(len(cells), n_densities)


def posterior_chunks(
    model: LatentModel, blocks: Sequence[Floats]
) -> Iterator[tuple[slice, Posterior]]:
    """Some rows at a time, and their states; ``blocks`` are in the order of the model."""
    for rows, _, posterior in density_chunks(model, blocks):
        yield rows, posterior


def density_chunks(
    model: LatentModel, blocks: Sequence[Floats]
) -> Iterator[tuple[slice, list[Floats], Posterior]]:
    """The same with the log densities in the components of each variable."""
    if model.components is None:
        raise InvalidInputError(
            "posteriors need a model with components; this one has none: learn it from data"
        )
    for name, block, held in zip(model.observed_names, blocks, model.components, strict=True):
        if block.shape[1] != held.width:
            raise InvalidInputError(
                f"{name} should have {held.width} columns as in the model; got {block.shape[1]}"
            )
    infer, n_numbers = inference_of(model.bipartite, model.joint)
    step = max(1, _CHUNK_ENTRIES // n_numbers)
    for start in range(0, len(blocks[0]), step):
        rows = slice(start, min(start + step, len(blocks[0])))
        with np.errstate(over="ignore", invalid="ignore"):
            densities = [
                held.log_density(block[rows])
                for held, block in zip(model.components, blocks, strict=True)
            ]
            posterior = infer(densities)
        yield rows, densities, posterior


def most_likely_states(model: LatentModel, blocks: Sequence[Floats]) -> Integers:
    """The most likely joint state of each row, (N, n_latent)."""
    states = np.empty((len(blocks[0]), model.n_latent), dtype=np.int64)
    for rows, posterior in posterior_chunks(model, blocks):
        states[rows] = posterior.best
    return states


def state_probabilities(model: LatentModel, blocks: Sequence[Floats]) -> list[Floats]:
    """P(H_j = state | row) for each latent, an (N, dim_j) array each."""
    answer = [np.empty((len(blocks[0]), size)) for size in model.domain_sizes]
    for rows, posterior in posterior_chunks(model, blocks):
        for whole, own in zip(answer, posterior.probabilities(model.domain_sizes), strict=True):
            whole[rows] = own
    return answer


def mean_log_likelihood(model: LatentModel, blocks: Sequence[Floats]) -> float:
    """The mean over rows of log P(x)."""
    chunks = posterior_chunks(model, blocks)
    total = sum(float(posterior.log_likelihood.sum()) for _, posterior in chunks)
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
