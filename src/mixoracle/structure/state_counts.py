"""P(H) as rows of states: what a score needs where there is no table of all joint states."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

import numpy as np

from mixoracle._arrays import Integers
from mixoracle.model import JointTable
from mixoracle.model.joint_states import flat


@dataclass(frozen=True, eq=False)
class StateCounts:
    """Rows of states (N, m); tables of few latents are counted when they are asked for.

    Examples
    --------
    >>> StateCounts(np.array([[0, 1], [0, 0], [1, 1], [1, 1]]), (2, 2)).marginal([1]).table.tolist()
    [0.25, 0.75]
    """

    states: Integers
    domain_sizes: tuple[int, ...]

    @property
    def n_latent(self) -> int:
        """How many latents there are."""
        return len(self.domain_sizes)

    @property
    def n_joint(self) -> int:
        """The number of joint states."""
        return prod(self.domain_sizes)

    def marginal(self, latents: Iterable[int]) -> JointTable:
        """P of some latents, in the order in which they are named."""
        chosen = list(latents)
        sizes = [self.domain_sizes[j] for j in chosen]
        counts = np.bincount(flat(self.states[:, chosen], sizes), minlength=prod(sizes))
        return JointTable((counts / len(self.states)).reshape(sizes))
