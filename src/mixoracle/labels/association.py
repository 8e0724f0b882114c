"""How well an answer explains what goes together, whatever the shape of its components.

A family that does not fit needs several of its components for one of the data's. Which of them a
row is in then says nothing about the other variables: given the hidden state they are independent.
A hidden state, on the other hand, shows in several variables at once. So each variable keeps the
finest labels that it shows on its own, and an answer is judged by how likely it makes the label
tuples of the rows: P(h) times P(label of X_i | configuration of pa(X_i)), integrated over
Dirichlet priors [1]_. What a row's density is within its label is the same for all answers.

Assumes that a variable's labels are not coarser than its components. States of a latent that only
one variable shows, and that nothing else depends on, are a shape of that variable here.

References
----------
.. [1] G. F. Cooper, E. Herskovits. A Bayesian method for the induction of probabilistic networks
   from data. Machine Learning 9 (1992).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.labels.labelling import Labelling, Rows
from mixoracle.mixtures.merging import log_dirichlet_multinomial
from mixoracle.mixtures.moments import chance_of_normal
from mixoracle.mixtures.segmentation import pieces_of
from mixoracle.model.joint import emptiness
from mixoracle.model.joint_states import configurations
from mixoracle.settings import Settings


@dataclass(frozen=True)
class Association:
    """The finest ``labels`` (N, n) of rows, by which answers are compared."""

    labels: Integers

    @classmethod
    def of(cls, rows: Rows, alone: Integers, settings: Settings) -> Association:
        """The labels of variables each on its own; pieces where these show one component only."""
        columns = [
            column if column.max() > 0 else pieces_of(variable, settings)
            for variable, column in zip(rows, alone.T, strict=True)
        ]
        return cls(np.stack(columns, axis=1))

    def log_evidence(
        self, adjacency: Bools, domain_sizes: tuple[int, ...], assignment: Integers
    ) -> float:
        """The log evidence of an answer that puts row r into joint state ``assignment[r]``."""
        codes = configurations(adjacency, domain_sizes)
        rows = np.bincount(assignment, minlength=len(codes)).astype(np.float64)
        total = log_dirichlet_multinomial(rows)
        total -= emptiness(rows.reshape(domain_sizes))
        for column, code in zip(self.labels.T, codes.T, strict=True):
            shape = int(code.max()) + 1, int(column.max()) + 1
            table = np.bincount(code[assignment] * shape[1] + column, minlength=shape[0] * shape[1])
            counts = table.reshape(shape).astype(np.float64)
            total += sum(log_dirichlet_multinomial(held) for held in counts)
        return total


def is_family_wrong(rows: Rows, labelling: Labelling, settings: Settings) -> bool:
    """Whether the components of some variable of numbers have another shape than their family."""
    priors = settings.priors
    for i, variable in enumerate(rows):
        if not variable.shows_shape:
            continue
        whole = ~np.isnan(variable.block).any(axis=1)
        shares = _shares(labelling, i)[whole]
        chance = chance_of_normal(variable.block[whole], shares, priors.rows_to_judge)
        if chance < priors.false_alarm / len(rows):
            return True
    return False


def _shares(labelling: Labelling, variable: int) -> Floats:
    """The share (N, k) of each row in each component of one variable."""
    if labelling.joint is None:
        labels = labelling.labels[:, variable]
        return np.eye(int(labels.max()) + 1)[labels]
    labels = labelling.joint.labels[:, variable]
    return np.asarray(labelling.joint.responsibilities @ np.eye(int(labels.max()) + 1)[labels])
