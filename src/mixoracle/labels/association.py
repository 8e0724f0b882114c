"""How well an answer explains the dependence among variables, whatever the shape of its components.

A family that does not fit needs several of its components for one of the data's. Which of them a
row is in then says nothing about the other variables: given the hidden state they are independent.
A hidden state, on the other hand, shows in several variables at once. So each variable keeps the
finest labels that it shows on its own, as a variable of so many levels, and an answer is judged by
how likely it makes the label tuples of the rows: P(h) times P(label of X_i | configuration of
pa(X_i)), integrated over Dirichlet priors [1]_. What a row's density is within its label is the
same for all answers. It is the evidence of any other variable with levels, so that the decoder
improves answers by it as it does by that of the families.

Assumes that a variable's labels are not coarser than its components. States of a latent that only
one variable shows, and that nothing else depends on, are a shape of that variable here.

References
----------
.. [1] G. F. Cooper, E. Herskovits. A Bayesian method for the induction of probabilistic networks
   from data. Machine Learning 9 (1992).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.families.categorical import CategoricalFamily
from mixoracle.families.gaussian import GaussianFamily
from mixoracle.families.submixture import Subcomponents
from mixoracle.labels.labelling import Rows
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.segmentation import pieces_of
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.joint_states import numbered
from mixoracle.settings import Settings


@dataclass(frozen=True)
class Association:
    """The finest labels of rows, by which answers are compared.

    ``levels[i]`` is the family of a variable with the labels of X_i as its levels, ``features[i]``
    which of them each row has. ``most`` are the most components that each variable may have, unless
    labels are pieces of components of another shape: a state for whatever fits nowhere would need
    one more.
    """

    levels: tuple[CategoricalFamily, ...]
    features: tuple[Floats, ...]
    most: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls, rows: Rows, alone: Integers, settings: Settings, most: tuple[int, ...] | None = None
    ) -> Association:
        """The labels of variables each on its own; pieces where these show one component only."""
        columns = [
            column if column.max() > 0 else pieces_of(variable, settings)
            for variable, column in zip(rows, alone.T, strict=True)
        ]
        return cls.of_labels(np.stack(columns, axis=1), settings, most)

    @classmethod
    def of_labels(
        cls,
        labels: Integers,
        settings: Settings = Settings(),
        most: tuple[int, ...] | None = None,
    ) -> Association:
        """Labels (N, n) as they are.

        A state may have many pieces, and its prior is worth a row for each. Of components it has
        one, but for rows out of place: the prior is worth one row in all.
        """
        n_labels = labels.max(axis=0).astype(int) + 1
        worth = [settings.priors.rows_per_level / (n if most else 1) for n in n_labels]
        levels = tuple(
            CategoricalFamily([n], priors=replace(settings.priors, rows_per_level=rows))
            for n, rows in zip(n_labels, worth, strict=True)
        )
        features = tuple(
            family.features(column[:, None].astype(np.float64))
            for family, column in zip(levels, labels.T, strict=True)
        )
        return cls(levels, features, most)

    def subcomponents(self, rows: Rows) -> tuple[Subcomponents | None, ...]:
        """The normal component behind each label of numbers; components are mixtures of them."""
        found: list[Subcomponents | None] = []
        for variable, marks in zip(rows, self.features, strict=True):
            family = variable.family
            if not isinstance(family, GaussianFamily):
                found.append(None)
                continue
            # A label may have lost all its rows to others: there is no component behind it.
            labels = numbered(marks[:, 1:].argmax(axis=1))
            counts = np.bincount(labels).astype(np.float64)
            statistics = pool(variable.completed(labels), labels, len(counts))
            inner = family.components(statistics, family.prior(statistics))
            found.append(Subcomponents(inner, counts))
        return tuple(found)

    def table(self, labels: Integers, members: Integers) -> ComponentTable:
        """Components over X with these labels (T, n) and with how often each level is in them.

        ``members`` (N,) says in which of them each row is.
        """
        statistics = tuple(pool(held, members, len(labels)) for held in self.features)
        priors = tuple(
            family.prior(held) for family, held in zip(self.levels, statistics, strict=True)
        )
        counts = np.bincount(members, minlength=len(labels)).astype(np.float64)
        return ComponentTable(labels, statistics, self.levels, priors, counts, self.most)
